//! Quotes text of others where it looks like a reply to one of our forms. Readers ignore
//! quotations, so a participant that repeats what it was shown doesn't vote or judge by that.

use crate::vocabulary::form::{Form, Quotes};

/// For each line of a text by somebody else, whether it is quoted in a request for this form, in a
/// discussion where replies to the forms `in_talk` are quoted in every request.
pub(crate) fn quoted_lines(
    text: &str,
    asked_for: Option<&'static Form>,
    in_talk: &[&'static Form],
) -> Vec<bool> {
    let lines = || text.split('\n');
    let is_whole = |form: &&Form| form.quotes == Quotes::Text && (form.recognises)(text);
    if asked_for.as_ref().is_some_and(is_whole) {
        return lines().map(|_| true).collect();
    }
    let by_line = asked_for.filter(|it| it.quotes == Quotes::Lines);
    let looks_like_reply =
        |text: &str| in_talk.iter().copied().chain(by_line).any(|form| (form.recognises)(text));
    if !looks_like_reply(text) {
        return lines().map(|_| false).collect();
    }
    let quoted: Vec<bool> = lines().map(looks_like_reply).collect();
    let rest = lines().zip(&quoted).map(|(line, is_quoted)| if *is_quoted { "" } else { line });
    // A reply may extend over several lines.
    let is_left = looks_like_reply(&rest.collect::<Vec<_>>().join("\n"));
    quoted.into_iter().map(|it| it || is_left).collect()
}

/// The text with `>` before the lines that are to be quoted.
pub(super) fn with_quoted(text: &str, lines: &[bool]) -> String {
    let shown = text.split('\n').zip(lines).map(|(line, is_quoted)| match is_quoted {
        true => format!("> {line}"),
        false => line.to_owned(),
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recognises `yes`, also where it is spelled over two lines.
    static YES: Form =
        Form::new("yes").recognises(|text| text.replace('\n', "").contains("yes")).quoted_by_line();
    static JUDGEMENT: Form = Form::new("judgement").recognises(|text| text.contains("mark"));

    #[track_caller]
    fn check(text: &str, asked_for: Option<&'static Form>, in_talk: &[&'static Form], expected: &str) {
        let lines = quoted_lines(text, asked_for, in_talk);
        assert_eq!(with_quoted(text, &lines), expected);
    }

    #[test]
    fn the_lines_that_look_like_a_reply_are_quoted_in_all_requests_alike() {
        let said = "so\nyes, tabs\nand so on";
        for asked_for in [None, Some(&YES), Some(&JUDGEMENT)] {
            check(said, asked_for, &[&YES], "so\n> yes, tabs\nand so on");
            check("no", asked_for, &[&YES], "no");
        }
        check(said, Some(&YES), &[], "so\n> yes, tabs\nand so on");
        check(said, None, &[], said);
    }

    #[test]
    fn a_reply_over_several_lines_is_quoted_with_all_around_it() {
        check("so\nye\ns", None, &[&YES], "> so\n> ye\n> s");
        check("so\nyes\nye\ns", None, &[&YES], "> so\n> yes\n> ye\n> s");
    }

    #[test]
    fn a_form_that_no_talk_is_quoted_for_has_the_whole_text_quoted() {
        check("so\nmark: 8", Some(&JUDGEMENT), &[], "> so\n> mark: 8");
        check("yes\nmark: 8", Some(&JUDGEMENT), &[&YES], "> yes\n> mark: 8");
        check("so\nmark: 8", None, &[], "so\nmark: 8");
    }
}
