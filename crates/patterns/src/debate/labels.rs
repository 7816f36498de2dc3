//! The debaters that a judge means by a label, however it is written.

use quorum_core::model::mask::Mask;

/// Words that a judge may put before a label.
const TITLES: [&str; 4] = ["debater", "participant", "speaker", "label"];

/// The name behind a label: `@KX`, `kx`, `Debater KX`, `**@KX**`, `KX (for it)`; or the name
/// itself, because labels in replies are turned back early. Two labels, or none, are nobody's.
pub(super) fn meant<'m>(mask: &'m Mask, written: &str) -> Option<&'m str> {
    let (label, explanation) = match written.find(['(', ':', ',', ';']) {
        Some(at) => written.split_at(at),
        None => (written, ""),
    };
    if mask.reveal(explanation) != explanation || mask.cover(explanation) != explanation {
        return None;
    }
    let whole = label.trim().trim_matches(['*', '`', '"', '\'', '#', '_']).trim_start_matches('@');
    let named = |label: &str| mask.name(label).or_else(|| mask.named(label));
    named(whole).or_else(|| {
        let spaced = whole.replace(['_', '-', '*', '`', '"', '\'', '@', '#', '.'], " ");
        let mut words: Vec<&str> = spaced.split_whitespace().collect();
        words.retain(|word| !TITLES.iter().any(|it| it.eq_ignore_ascii_case(word)));
        named(&words.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use quorum_core::model::participant::Participant;

    use super::*;

    #[test]
    fn a_label_is_known_however_it_is_written() {
        let table = ["ann", "bob", "gpt-4.1"].map(Participant::of);
        let mask = Mask::new(&table.iter().zip(["@QV", "@KX", "@ZJ"]).collect::<Vec<_>>());
        for written in [
            "@KX",
            "KX",
            " kx ",
            "@kx.",
            "Debater KX",
            "debater_kx",
            "**Debater-KX**",
            "`@KX`",
            "KX (against)",
            "Debater KX: no",
            "bob",
            "@Bob",
            "@bob (against)",
        ] {
            assert_eq!(meant(&mask, written), Some("bob"), "{written}");
        }
        assert_eq!(meant(&mask, "@gpt-4.1"), Some("gpt-4.1"));
        for written in [
            "",
            "XX",
            "KXQ",
            "Debater KXQ",
            "KX and QV",
            "@KX, @QV",
            "KX (not @QV)",
            "@bob (not ann)",
            "Debater",
        ] {
            assert_eq!(meant(&mask, written), None, "{written}");
        }
    }
}
