//! Separates the speaker's own words from quotations. Readers use only the own words, so that
//! nobody's vote can be cast by quoting it.
//!
//! Everything else is blanked byte by byte, so positions in the result are positions in the reply.

/// The reply with quotations blanked: lines that begin with `>`, and echoes of the fences around
/// others' text.
pub(crate) fn own_words(reply: &str) -> String {
    let mut echoing = false;
    blanked(reply, |line| {
        let line = line.trim_start();
        let opens = ["<said-", "<found-"].iter().any(|fence| line.starts_with(fence));
        let echoed = echoing || opens;
        echoing = echoed && !["</said-", "</found-"].iter().any(|fence| line.contains(fence));
        echoed || line.starts_with('>')
    })
}

/// The text with code blocks blanked, because they may contain examples or others' text.
pub(crate) fn without_code(text: &str) -> String {
    let mut in_code = false;
    blanked(text, |line| {
        let fence = is_code_fence(line);
        in_code ^= fence;
        fence || in_code
    })
}

/// The content, if the whole text is one code block; some models wrap every form in one.
pub(crate) fn unwrapped(text: &str) -> &str {
    let trimmed = text.trim();
    let fences = trimmed.lines().filter(|line| is_code_fence(line)).count();
    let inside = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inside.and_then(|inside| inside.split_once('\n')) {
        Some((_, body)) if fences == 2 => body,
        _ => text,
    }
}

fn blanked(text: &str, mut goes: impl FnMut(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if goes(line) {
            let end = line.strip_suffix('\n').unwrap_or(line).len();
            out.extend(std::iter::repeat_n(' ', end));
            out.push_str(&line[end..]);
        } else {
            out.push_str(line);
        }
    }
    out
}

fn is_code_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(blank: fn(&str) -> String, reply: &str, expected: &str) {
        let blanked = blank(reply);
        assert_eq!(blanked.len(), reply.len(), "positions don't change");
        let left: Vec<&str> = blanked.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
        assert_eq!(left.join("|"), expected);
    }

    #[test]
    fn quotations_are_not_own_words() {
        check(own_words, "I say\n> YÄS\n  > YES\nso\n", "I say|so");
        check(own_words, "a\r\n<said-1f by=\"bob\" round=\"1\">\r\nYES\r\n</said-1f>\r\nb", "a|b");
        check(own_words, "a\n<said-1f by=\"bob\">YES</said-1f>\nb", "a|b");
        check(own_words, "a\n<found-1f>\nnever closed\nYES", "a");
        check(own_words, "1 > 0 and 2 < 3", "1 > 0 and 2 < 3");
    }

    #[test]
    fn code_is_blanked_unless_it_is_the_whole_text() {
        check(without_code, "a\n```text\nb\n```\nc", "a|c");
        check(without_code, "a\n```\nnever closed", "a");
        assert_eq!(unwrapped("\n```json\nb\nc\n```\n"), "b\nc\n");
        assert_eq!(unwrapped("```\na\n```\nb\n```\nc\n```"), "```\na\n```\nb\n```\nc\n```");
        assert_eq!(unwrapped("see\n```\na\n```"), "see\n```\na\n```");
        assert_eq!(unwrapped("```"), "```");
    }
}
