//! Joins a reply that was cut off with the answer to the request to finish it.

/// How many characters must agree for the second text to repeat a part of the first.
const REPEATED: usize = 24;

/// The whole reply. The second text may begin again at the beginning of the reply, repeat the
/// sentence that was cut off, or go on in the middle of it.
pub(crate) fn joined(cut: &str, more: &str) -> String {
    let (cut, more) = (cut.trim_end(), more.trim_start_matches(['…', '.', ' ', '\n']));
    let sentence = last_sentence(cut);
    if repeats(cut, more) {
        return more.to_owned();
    }
    if repeats(&cut[sentence..], more) {
        return format!("{}{more}", &cut[..sentence]);
    }
    let gap = if more.starts_with(|it: char| it.is_alphanumeric()) { " " } else { "" };
    let gap = if more.starts_with(['[', '{', '#', '-', '*', '`']) { "\n\n" } else { gap };
    format!("{cut}{gap}{more}")
}

/// Whether the second text begins as the first does.
fn repeats(text: &str, more: &str) -> bool {
    let text = text.trim_start();
    let beginning: String = text.chars().take(REPEATED).collect();
    !beginning.is_empty() && more.starts_with(&beginning)
}

/// Where the last sentence begins.
fn last_sentence(text: &str) -> usize {
    let ends = |it: char| matches!(it, '.' | '!' | '?' | '\n' | '。' | '！' | '？');
    let mut begins = 0;
    for (at, it) in text.char_indices().filter(|(_, it)| ends(*it)) {
        let after = &text[at + it.len_utf8()..];
        let is_end = !it.is_ascii() || it == '\n' || after.starts_with(char::is_whitespace);
        if is_end && !after.trim().is_empty() {
            begins = text.len() - after.trim_start().len();
        }
    }
    begins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_reply_is_joined_with_its_end() {
        let check = |cut: &str, more: &str, whole: &str| assert_eq!(joined(cut, more), whole);
        check("Tabs win. Spaces are", "Spaces are fixed.", "Tabs win. Spaces are fixed.");
        check("Tabs win. Spaces are", "fixed.", "Tabs win. Spaces are fixed.");
        check("Tabs win. Spaces are", "… fixed.", "Tabs win. Spaces are fixed.");
        check("Tabs win. Spaces", ", too.", "Tabs win. Spaces, too.");
        check("Tabs win.\n\nSpaces are", "Tabs win.\n\nSpaces are fixed.", "Tabs win.\n\nSpaces are fixed.");
        check("Tabs win. All of it was said.", "[MARK]\n{}", "Tabs win. All of it was said.\n\n[MARK]\n{}");
        check("是的。因为", "因为宽度。", "是的。因为宽度。");
        check("Version 1.5 is", "enough.", "Version 1.5 is enough.");
    }
}
