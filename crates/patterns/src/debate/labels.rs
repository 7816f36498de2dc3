//! The debaters that a judge means by a label, however it is written.

use quorum_core::model::mask::Mask;

/// The name behind a label: `Debater A`, `debater_a`, `A`, `**Debater A**`, `Debater A (for it)`.
/// Two labels, or none, are nobody's.
pub(super) fn meant<'m>(mask: &'m Mask, written: &str) -> Option<&'m str> {
    let plain = |text: &str| {
        let spaced = text.replace(['_', '-', '*', '`', '"', '\'', '@', '#', '.'], " ");
        spaced.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (label, explanation) = match written.find(['(', ':', ',', ';']) {
        Some(at) => written.split_at(at),
        None => (written, ""),
    };
    let label = plain(label);
    if mask.reveal(explanation) != explanation {
        return None;
    }
    let lettered = || mask.name(&format!("Debater {label}")).filter(|_| label.chars().count() == 1);
    mask.name(&label).or_else(lettered)
}

#[cfg(test)]
mod tests {
    use quorum_core::model::participant::Participant;

    use super::*;

    #[test]
    fn a_label_is_known_however_it_is_written() {
        let table = ["ann", "bob"].map(Participant::of);
        let mask = Mask::new(&table.iter().zip(["Debater B", "Debater A"]).collect::<Vec<_>>());
        for written in [
            "Debater A",
            " debater a ",
            "A",
            "a.",
            "debater_a",
            "**Debater-A**",
            "@A",
            "A (against)",
            "Debater A: no",
        ] {
            assert_eq!(meant(&mask, written), Some("bob"), "{written}");
        }
        for written in
            ["", "C", "AB", "Debater AB", "bob", "A and B", "Debater A, Debater B", "A (not Debater B)"]
        {
            assert_eq!(meant(&mask, written), None, "{written}");
        }
    }
}
