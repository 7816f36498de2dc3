//! Tables of conditions.

use serde_json::json;

use super::*;
use crate::workflow::template::at;

struct Table(Value);

impl Scope for Table {
    fn value(&self, path: &[String]) -> Option<Value> {
        at(&self.0, path)
    }
}

fn holds(written: &str) -> Result<bool, String> {
    let scope = Table(json!({
        "action": "PROMOTE", "n": 3, "text": "10", "yes": true, "none": null, "list": ["a", 2],
        "answer": { "content": "go", "usage": {} }, "empty": "", "no": [],
    }));
    let condition = Condition::parse(written).map_err(|it| it.to_string())?;
    condition.holds(&scope).map_err(|it| it.to_string())
}

#[test]
fn b11_forty_conditions() {
    let cases = [
        ("true", true),
        ("false", false),
        ("null", false),
        ("1", true),
        ("0", false),
        ("''", false),
        ("'x'", true),
        ("{{yes}}", true),
        ("{{none}}", false),
        ("{{unknown}}", false),
        ("{{empty}}", false),
        ("{{no}}", false),
        ("{{list}}", true),
        ("not {{unknown}}", true),
        ("!{{yes}}", false),
        ("not not true", true),
        ("{{action}} == 'PROMOTE'", true),
        ("{{action}} === \"PROMOTE\"", true),
        ("{{action}} != 'NO_ACTION'", true),
        ("{{action}} !== 'PROMOTE'", false),
        ("${action} == 'PROMOTE'", true),
        ("{{n}} == 3", true),
        ("{{n}} == '3'", true),
        ("{{text}} == 10", true),
        ("{{text}} < 9", false),
        ("{{text}} > 9.5", true),
        ("{{action}} == 3", false),
        ("{{n}} <= 3 and {{n}} >= 3", true),
        ("{{n}} < 3 or {{n}} > 2", true),
        ("true or false and false", true),
        ("(true or false) and false", false),
        ("{{yes}} && {{n}} > -1", true),
        ("false || {{answer}} == 'go'", true),
        ("'a' in {{list}}", true),
        ("2 in {{list}}", true),
        ("'b' in {{list}}", false),
        ("'MOT' in {{action}}", true),
        ("'x' in {{unknown}}", false),
        ("{{unknown}} == null", true),
        ("'a' < 'b'", true),
        ("({{n}} > 1) == true", true),
        ("{{unknown | default: 'x'}} == 'x'", true),
        ("1e2 == 100", true),
    ];
    assert!(cases.len() >= 40, "{}", cases.len());
    for (written, expected) in cases {
        assert_eq!(holds(written), Ok(expected), "{written}");
    }
}

#[test]
fn b11_an_invalid_condition_says_why() {
    let cases = [
        ("", "the condition is empty"),
        ("(true", "a parenthesis is not closed"),
        ("true)", "a closing parenthesis has no opening one"),
        ("true false", "two values stand side by side; join them with and, or, == …"),
        ("== 1", "== has nothing before it"),
        ("1 ==", "a value is missing at the end"),
        ("1 < 2 < 3", "< follows another comparison; join them with and"),
        ("action == 'x'", "write {{action}} for a value, or 'action' for a text"),
        ("{{a", "{{ has no }}"),
        ("{{a b}} == 1", "{{a b}} is no path"),
        ("'open", "' is not closed"),
        ("1 + 2", "+ has no meaning in a condition"),
        ("f(1)", "write {{f}} for a value, or 'f' for a text"),
        ("{{action}} < 3", "\"PROMOTE\" and 3 can't be ordered"),
        ("{{none}} < 3", "null and 3 can't be ordered"),
        ("1 in 2", "nothing can be in 2"),
    ];
    for (written, expected) in cases {
        assert_eq!(holds(written), Err(expected.to_owned()), "{written}");
    }
    let deep = format!("{}true{}", "(".repeat(40), ")".repeat(40));
    assert_eq!(holds(&deep), Err("it is nested deeper than 32 levels".to_owned()));
    assert!(holds(&"!".repeat(9_000)).is_err());
}
