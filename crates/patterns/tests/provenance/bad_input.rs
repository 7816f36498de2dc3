//! Bad input: nothing to trace, nothing but code, endless sentences, markers without a sentence.

use quorum_core::model::outcome::{FoundBy, Support};
use quorum_patterns::provenance::{Answer, Talk, sources};

use super::{of_marked, said};

fn talk() -> Talk<'static> {
    Talk {
        turns: vec![
            said("ann", 1, "Tabs let every reader choose the width of an indentation on the own screen."),
            said("bob", 1, "Spaces look the same in every editor, terminal and printed listing."),
        ],
        given: vec!["Tabs or spaces?".into()],
    }
}

#[test]
fn an_empty_answer_has_no_sentences() {
    for text in ["", " \n", "[ann:1]", "[ann:1] [bob:1]\n[all]", "---\n***"] {
        assert_eq!(of_marked(text, &talk()).1, [], "{text:?}");
    }
}

#[test]
fn an_answer_without_a_talk_rests_on_nothing() {
    let text = "Tabs let every reader choose the width of an indentation.";
    let found = sources(Answer { text, markers: &[] }, &Talk::default());
    assert_eq!((found.len(), found[0].level, &found[0].sources[..]), (1, Support::Unsupported, &[][..]));
}

#[test]
fn a_code_block_and_a_table_are_one_sentence_each() {
    let code =
        "```rust\nfn main() { println!(\"width. Choose. Reader.\"); }\n\nlet indentation = screen;\n```";
    let table = "| reader | width |\n|---|---|\n| tabs | choose |\n| indentation | screen |";
    let (_, found) = of_marked(&format!("{code}\n\n{table}"), &talk());
    assert_eq!(found.len(), 2);
    assert_eq!((found[1].level, found[1].sources[0].participant.as_str()), (Support::Supported, "ann"));
}

#[test]
fn a_sentence_of_10_000_words_is_one_sentence() {
    let long: String = (0..10_000).map(|it| format!("word{} ", it % 4_000)).collect();
    let (text, found) = of_marked(&format!("{} [ann:1].", long.trim()), &talk());
    assert_eq!((found.len(), found[0].end), (1, text.chars().count()));
    assert_eq!(
        (found[0].level, &found[0].unconfirmed[..]),
        (Support::Unsupported, &["ann:1".to_owned()][..])
    );
}

#[test]
fn a_marker_belongs_to_the_sentence_that_it_ends_or_begins() {
    let (anns, bobs) = (
        "Every reader may choose the width of an indentation.",
        "Spaces look the same in each editor and listing.",
    );
    for text in [
        format!("{anns} [ann:1] {bobs} [bob:1]"),
        format!("{anns}[ann:1]\n{bobs}\n[bob:1]"),
        format!("[ann:1] {anns}\n[bob:1] {bobs}"),
        format!("- [ann:1] {anns}\n- {bobs} [bob:1]"),
        format!("{} [ann:1]. {} [bob:1].", anns.trim_end_matches('.'), bobs.trim_end_matches('.')),
    ] {
        let (_, found) = of_marked(&text, &talk());
        let by: Vec<_> =
            found.iter().flat_map(|it| &it.sources).map(|it| (it.participant.as_str(), it.by)).collect();
        assert_eq!(by, [("ann", FoundBy::Marker), ("bob", FoundBy::Marker)], "{text}");
    }
}

#[test]
fn a_participant_of_another_name_is_not_cited_by_the_old_one() {
    let renamed = Talk {
        turns: talk()
            .turns
            .into_iter()
            .map(|it| quorum_patterns::provenance::Said { participant: "dora".into(), ..it })
            .collect(),
        ..talk()
    };
    let markers = quorum_core::vocabulary::prose::Unmarked::of(
        "Every reader of tabs may choose the width of an indentation. [ann:1]",
        &["ann".to_owned()],
    );
    let found = sources(Answer { text: &markers.text, markers: &markers.markers }, &renamed);
    assert_eq!(found[0].unconfirmed, ["ann:1"]);
    assert_eq!((found[0].sources[0].participant.as_str(), found[0].sources[0].by), ("dora", FoundBy::Words));
}
