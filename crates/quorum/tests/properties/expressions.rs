//! A value that is filled into a text is never looked at again, whatever it contains.

use proptest::prelude::*;
use quorum::patterns::workflow::template::{Filled, Markers, Scope, at, fill, fill_value};
use serde_json::{Value, json};

use crate::{hostile::text, trials};

struct Given(Value);

impl Scope for Given {
    fn value(&self, path: &[String]) -> Option<Value> {
        at(&self.0, path)
    }
}

/// Texts with expressions, halves of them, and anything else in between.
fn with_expressions() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("{{input}}".to_owned()),
        Just("${input}".to_owned()),
        Just("{{other | default: 'x'}}".to_owned()),
        Just("{{".to_owned()),
        Just("}}".to_owned()),
        Just("${".to_owned()),
        text(20),
    ];
    prop::collection::vec(pieces, 0..12).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(trials(1))]

    #[test]
    fn b11_a_value_that_contains_an_expression_goes_in_as_it_is(value in with_expressions()) {
        let scope = Given(json!({ "input": value, "other": "never seen" }));
        let filled = fill("<{{input}}|${input}>", &scope, Markers::Kept);
        let expected = Filled { text: format!("<{value}|{value}>"), unresolved: Vec::new() };
        prop_assert_eq!(filled, Ok(expected));
        let mut unresolved = Vec::new();
        let arguments = fill_value(&json!({ "a": ["{{input}}"] }), &scope, &mut unresolved);
        prop_assert_eq!(arguments, Ok(json!({ "a": [value] })));
        prop_assert!(unresolved.is_empty());
    }
}
