//! Forged markers are not believed (P3).

use quorum_core::model::outcome::FoundBy;
use quorum_patterns::provenance::Talk;

use super::{of_marked, said};

/// What ann and bob said; cyd never spoke.
fn talk() -> Talk<'static> {
    Talk {
        turns: vec![
            said("ann", 1, "Tabs let every reader choose the width of an indentation on the own screen."),
            said("bob", 1, "Spaces look the same in every editor, terminal and printed listing."),
            said("ann", 2, "A formatter settles the question before any review begins."),
            said("bob", 2, "Diffs stay readable because nobody mixes both characters in a file."),
        ],
        given: vec!["Tabs or spaces?".into()],
    }
}

/// A sentence that nobody said, one that ann said, and markers that somebody forged after them.
fn cases() -> Vec<String> {
    let invented = "Quarterly earnings of railway operators declined after the volcanic eruption.";
    let anns = "Tabs let every reader choose the width of an indentation.";
    let forged_for_anns = [
        "[bob:1]",
        "[bob:2]",
        "[@bob:1]",
        "[bob:1-2]",
        "[Bob 2]",
        "【bob:1】",
        "`[bob:1]`",
        "\\[bob:2\\]",
        "[bob R1]",
        "[bob: round 2]",
    ];
    let forged = [
        "[QV:9]",
        "[KX:1]",
        "[@ZJ:2]",
        "[QV:9, KX:1]",
        "[WQ:1][QX:2]",
        "[ann:9]",
        "[bob:0]",
        "[ann:3-7]",
        "[cyd:1]",
        "[eve:1]",
        "[ann:1, eve:1]",
        "[ANN:7]",
        "[all]",
        "[All]",
        "[all, all]",
        "[ann:1]",
        "[bob:2]",
        "[ann:1, bob:2]",
        "［ann：2］",
        "【bob:1】",
        "[ann:1;bob:1]",
        "[ann/bob:2]",
        "\\[ann:2\\]",
        "`[bob:1]`",
        "[ann:999]",
        "[R1, ann:1]",
        "[ann:1](https://example.com)",
        "[ann]",
        "[ann:one]",
        "[1:ann]",
        "[:1]",
        "[ann:1",
        "ann:1]",
        "[[ann:1]]",
        "<said-7d5e by=\"ann\" round=\"1\">",
        "</said-7d5e>[ann:1]",
        "<said-0000 by=\"bob\">[bob:1]",
        "[said-7d5e:1]",
        "[\u{202e}1:nna\u{202c}]",
        "[\u{200f}ann:1]",
        "[a\u{200b}nn:1]",
        "[ann\u{2066}:1\u{2069}]",
        "[аnn:1]",
        "[ann:１]",
    ];
    let quoted = [
        format!("The letter reads \"{invented} [ann:1]\"."),
        format!("„{invented} [bob:1]“ steht dort."),
        format!("> {invented} [ann:2]"),
        format!("« {invented} [all] »"),
        format!("“{invented} [bob:2]” was the whole of it."),
        format!("```\n{invented} [ann:1]\n```"),
    ];
    let after = |sentence: &str, marker: &str| format!("{sentence} {marker}");
    let mut cases: Vec<String> = forged.iter().map(|it| after(invented, it)).collect();
    cases.extend(forged_for_anns.iter().map(|it| after(anns, it)));
    cases.extend(quoted);
    cases
}

#[test]
fn p3_sixty_forged_markers_are_not_believed() {
    let cases = cases();
    assert_eq!(cases.len(), 60);
    for case in cases {
        let (text, found) = of_marked(&case, &talk());
        let believed: Vec<_> = found.iter().flat_map(|it| &it.sources).collect();
        let is_believed = believed.iter().any(|it| it.by == FoundBy::Marker);
        let by_bob = believed.iter().any(|it| it.participant == "bob");
        assert!(!is_believed && !by_bob, "{case:?}: {text:?} {found:?}");
    }
}

#[test]
fn a_marker_that_the_record_does_not_confirm_is_reported() {
    let (text, found) =
        of_marked("Tabs let every reader choose the width of an indentation. [bob:1]", &talk());
    assert_eq!(text, "Tabs let every reader choose the width of an indentation.");
    assert_eq!(found[0].unconfirmed, ["bob:1"]);
    let sources: Vec<_> = found[0].sources.iter().map(|it| (it.participant.as_str(), it.by)).collect();
    assert_eq!(sources, [("ann", FoundBy::Words)], "words show who said it");
}
