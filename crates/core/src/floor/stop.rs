//! Cuts an answer at its stop sequences, while it arrives and at its end.

/// The text up to the first stop sequence that isn't at its beginning: a provider may not support
/// stop sequences, or may include them in the text.
pub(crate) fn until_stop<'t>(text: &'t str, stop: &[String]) -> &'t str {
    let begins = text.len() - text.trim_start().len();
    let Some(first) = text[begins..].chars().next() else { return text };
    let from = begins + first.len_utf8();
    let sequences = stop.iter().filter(|it| !it.is_empty());
    let end = sequences.filter_map(|it| text[from..].find(it.as_str())).min();
    end.map_or(text, |at| &text[..from + at])
}

/// The text that people may see of a speech that is still arriving: nothing after a stop sequence,
/// and not yet an end that may become one.
pub(crate) fn before_stop<'t>(text: &'t str, stop: &[String]) -> &'t str {
    let spoken = until_stop(text, stop);
    if spoken.len() < text.len() {
        return spoken;
    }
    let begun = |it: &String| {
        let mut lengths = (1..it.len()).rev().filter(|length| it.is_char_boundary(*length));
        lengths.find(|length| text.ends_with(&it[..*length]))
    };
    let held = stop.iter().filter_map(begun).max().unwrap_or_default();
    &text[..text.len() - held]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c03_a_speech_ends_at_the_first_stop_sequence() {
        let stop = ["[", "\n\n", "Speaker:"].map(str::to_owned);
        let check = |text: &str, expected: &str| assert_eq!(until_stop(text, &stop), expected);
        check("One thing.\n\nAnother.", "One thing.");
        check("One. Speaker: two [3]", "One. ");
        check("\n\nOne.", "\n\nOne.");
        check("[aside] One.", "[aside] One.");
        check("", "");
        check(" \n\n ", " \n\n ");
    }

    #[test]
    fn c03_what_may_become_a_stop_sequence_is_not_shown_yet() {
        let stop = ["[", "\n\n", "Sprecherin Ä:"].map(str::to_owned);
        let check = |text: &str, expected: &str| assert_eq!(before_stop(text, &stop), expected);
        check("One.\n", "One.");
        check("One.\nTwo. Sprecherin Ä", "One.\nTwo. ");
        check("One. Sprecher", "One. ");
        check("One. Sprecherinnen", "One. Sprecherinnen");
        check("One.\n\nTwo.\n", "One.");
        check("[aside\n", "[aside");
        check("", "");
    }

    #[test]
    fn c03_a_speech_that_begins_with_a_stop_sequence_went_on_past_all_others() {
        let stop = ["[", "\n\n", "Speaker:"].map(str::to_owned);
        let check = |text: &str, expected: &str| assert_eq!(until_stop(text, &stop), expected);
        check("[aside] One.\n\nAnother.", "[aside] One.");
        check("[aside] One. [3] Two.", "[aside] One. ");
        check("Ä\n\n[", "Ä");
        check("One.", "One.");
    }
}
