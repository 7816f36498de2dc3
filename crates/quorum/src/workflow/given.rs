//! What is known of a run before its first step, and questions as far as it answers them.

use quorum_patterns::workflow::template::{LONGEST_FILLED, Piece, Scope, at, in_text, pieces};
use serde_json::{Map, Value};

/// The question of a step that has no prompt.
pub(crate) const INPUT: &str = "{{input}}";

/// What is known before the first step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(crate) input: Value,
    pub(crate) variables: Map<String, Value>,
}

impl Scope for Given {
    fn value(&self, path: &[String]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "input" => at(&self.input, rest),
            "variables" => at(self.variables.get(rest.first()?)?, &rest[1..]),
            name => self.variables.get(name).and_then(|it| at(it, rest)).or_else(|| at(&self.input, path)),
        }
    }
}

impl Given {
    /// The question of a step with this prompt, without the expressions that are not known yet, and
    /// up to a little more than the longest that can be asked.
    pub(crate) fn question(&self, prompt: Option<&str>) -> String {
        let mut known = String::new();
        for piece in pieces(prompt.unwrap_or(INPUT)) {
            match piece {
                Piece::Text(text) => known.push_str(text),
                Piece::Expression(expression, _) => {
                    known.extend(expression.value(self).as_ref().map(in_text));
                }
            }
            if LONGEST_FILLED < known.len() {
                break;
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_is_known_without_the_outputs_of_steps() {
        let variables = json!({ "team": "billing" });
        let given = Given {
            input: json!({ "what": "code review" }),
            variables: variables.as_object().cloned().unwrap(),
        };
        let check =
            |prompt: &str, expected: &str| assert_eq!(given.question(Some(prompt)), expected, "{prompt}");
        check(
            "A {{what}} of {{team}} and {{variables.team}}: {{input.what}}",
            "A code review of billing and billing: code review",
        );
        check("See {{steps.one.output}}{{item}}.", "See .");
        let asked = Given { input: json!("Tabs?"), ..Given::default() };
        assert_eq!(asked.question(None), "Tabs?");
        let long = Given { input: json!("x".repeat(LONGEST_FILLED + 1)), ..Given::default() };
        assert_eq!(long.question(Some(&INPUT.repeat(1_000))).len(), LONGEST_FILLED + 1);
    }
}
