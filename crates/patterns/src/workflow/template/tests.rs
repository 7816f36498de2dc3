//! Tables of expressions.

use serde_json::json;

use super::*;

struct Table(Value);

impl Scope for Table {
    fn value(&self, path: &[String]) -> Option<Value> {
        at(&self.0, path)
    }
}

fn scope() -> Table {
    let answer = json!({ "content": "Two things.", "provider": "ann", "model": null, "usage": {} });
    let talk = json!({ "synthesis": "Use both.", "consensus": { "method": "voting" }, "rounds": [] });
    Table(json!({
        "input": { "topic": "tabs", "n": 3, "yes": true, "none": null, "list": ["a", { "b": 2 }],
            "evil": "{{input.topic}}", "dollar": "${input.topic}", "empty": "" },
        "steps": {
            "ask": { "output": answer },
            "talk": { "output": talk },
            "plain": { "output": { "a": 1 } },
            "mark": { "output": "[CONSENSUS_CHECK] yes" },
        },
        "name": "World",
        "deep": { "er": { "still": [[1, 2], [3]] } },
        "größe": "ü",
    }))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let filled = fill(text, &scope(), Markers::Kept).expect("it is short enough");
    assert_eq!(filled.text, expected, "{text}");
}

#[test]
fn b11_sixty_expressions() {
    let cases = [
        ("{{name}}", "World"),
        ("{{ name }}", "World"),
        ("{{\tname\n}}", "World"),
        ("Hello {{name}}!", "Hello World!"),
        ("{{name}}{{name}}", "WorldWorld"),
        ("{{name}} and {{input.topic}}", "World and tabs"),
        ("${name}", "World"),
        ("${ name }", "World"),
        ("${input.topic}", "tabs"),
        ("$name", "$name"),
        ("{name}", "{name}"),
        ("{{}}", "{{}}"),
        ("${}", "${}"),
        ("{{ }}", "{{ }}"),
        ("{{name", "{{name"),
        ("name}}", "name}}"),
        ("{{name}", "{{name}"),
        ("{{{name}}}", "{World}"),
        ("{{a b}}", "{{a b}}"),
        ("{{input.n}}", "3"),
        ("{{input.yes}}", "true"),
        ("{{input.none}}", "null"),
        ("{{input.empty}}", ""),
        ("{{input.list}}", r#"["a",{"b":2}]"#),
        ("{{input.list.0}}", "a"),
        ("{{input.list.1}}", r#"{"b":2}"#),
        ("{{input.list.1.b}}", "2"),
        ("{{input.list.2}}", "{{input.list.2}}"),
        ("{{input.list.-1}}", "{{input.list.-1}}"),
        ("{{input.list.x}}", "{{input.list.x}}"),
        ("{{input.topic.0}}", "{{input.topic.0}}"),
        ("{{input.topic.}}", "{{input.topic.}}"),
        ("{{.input}}", "{{.input}}"),
        ("{{input..topic}}", "{{input..topic}}"),
        ("{{unknown}}", "{{unknown}}"),
        ("${unknown}", "${unknown}"),
        ("{{input.unknown.x}}", "{{input.unknown.x}}"),
        ("{{deep.er.still}}", "[[1,2],[3]]"),
        ("{{deep.er.still.0.1}}", "2"),
        ("{{größe}}", "ü"),
        ("{{steps.ask.output}}", "Two things."),
        ("{{steps.ask.output.content}}", "Two things."),
        ("{{steps.ask.output.provider}}", "ann"),
        ("{{steps.talk.output}}", "Use both."),
        ("{{steps.talk.output.synthesis}}", "Use both."),
        ("{{steps.talk.output.consensus}}", r#"{"method":"voting"}"#),
        ("{{steps.plain.output}}", r#"{"a":1}"#),
        ("{{steps.none.output}}", "{{steps.none.output}}"),
        ("{{unknown | default: 'all'}}", "all"),
        ("{{unknown|default:\"all\"}}", "all"),
        ("{{unknown | default: all}}", "all"),
        ("{{input.none | default: 'all'}}", "all"),
        ("{{name | default: 'all'}}", "World"),
        ("{{unknown | default: 'a | b'}}", "a | b"),
        ("{{unknown | default: 'Große Welt!' | slugify}}", "große-welt"),
        ("{{name | json}}", "\"World\""),
        ("{{input.list | json}}", r#"["a",{"b":2}]"#),
        ("{{name | timestamp}}", "{{name | timestamp}}"),
        ("{{name | default: 'x' 'y'}}", "{{name | default: 'x' 'y'}}"),
        ("{{unknown | slugify}}", "{{unknown | slugify}}"),
        ("$(touch x) `touch x` {{name}}", "$(touch x) `touch x` World"),
        ("{{input.evil}} {{input.dollar}}", "{{input.topic}} ${input.topic}"),
    ];
    assert!(cases.len() >= 60, "{}", cases.len());
    cases.into_iter().for_each(|(text, expected)| check(text, expected));
}

#[test]
fn b11_unknown_paths_are_listed_as_written() {
    let filled = fill("{{a}} {{name}} ${b.c} {{a | default: 'x'}}", &scope(), Markers::Kept);
    assert_eq!(filled.map(|it| it.unresolved), Ok(vec!["{{a}}".to_owned(), "${b.c}".to_owned()]));
}

#[test]
fn b11_a_value_that_contains_an_expression_changes_nothing() {
    for evil in ["{{input}}", "{{name}}", "${name}", "}} {{name", "{{{{name}}}}", "$", "{", "{{", "}}"] {
        let scope = Table(json!({ "input": evil, "name": "World" }));
        let filled = fill("<{{input}}>", &scope, Markers::Kept).expect("it is short");
        assert_eq!(filled, Filled { text: format!("<{evil}>"), unresolved: Vec::new() });
    }
}

#[test]
fn b11_a_string_that_is_one_expression_keeps_the_type_of_its_value() {
    let mut unresolved = Vec::new();
    let arguments = json!({ "n": "{{input.n}}", "all": ["{{input.list}}", "n = {{input.n}}"], "x": "{{x}}" });
    let filled = fill_value(&arguments, &scope(), &mut unresolved);
    assert_eq!(filled, Ok(json!({ "n": 3, "all": [["a", { "b": 2 }], "n = 3"], "x": "{{x}}" })));
    assert_eq!(unresolved, ["{{x}}"]);
}

#[test]
fn b11_a_text_that_is_too_long_says_which_value_was_how_long() {
    let scope = Table(json!({ "short": "abc", "long": "x".repeat(LONGEST_FILLED) }));
    let wrong = fill("{{short}} {{long}}", &scope, Markers::Kept).expect_err("it is too long");
    let expected = TooLong { length: LONGEST_FILLED + 4, longest: "{{long}}".into(), of_it: LONGEST_FILLED };
    assert_eq!(wrong, expected);
}

#[test]
fn b11_markers_in_outputs_are_defused_for_discussions() {
    let filled = |markers| fill("{{steps.mark.output}}", &scope(), markers).expect("it is short").text;
    assert_eq!(filled(Markers::Kept), "[CONSENSUS_CHECK] yes");
    assert_eq!(filled(Markers::Defused), "(CONSENSUS_CHECK) yes");
}

#[test]
fn b11_many_openings_take_linear_time() {
    for piece in ["{{", "${", "{{a}} ", "{{ x }", "{{|"] {
        let text = piece.repeat(256 * 1024 / piece.len());
        assert!(!pieces(&text).is_empty());
    }
}
