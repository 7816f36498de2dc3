//! Files in every format, and what is wrong with bad ones.

use super::*;
use crate::eval::grade::{Amount, Check, Contained, Key, Test, Tolerance};

/// Reads a file and returns its questions.
#[track_caller]
fn good(name: &str, text: &str) -> Vec<Question> {
    match read(name, text.as_bytes(), BadRecords::Refuse) {
        Ok(found) => found.questions,
        Err(mistakes) => panic!("{name}: {mistakes:?}"),
    }
}

/// The mistakes of a file, as lines.
#[track_caller]
fn bad(name: &str, text: &[u8]) -> Vec<String> {
    let mistakes = read(name, text, BadRecords::Refuse).expect_err("a bad file");
    mistakes.iter().map(ToString::to_string).collect()
}

fn choice(id: &str, line: usize, text: &str, options: &[&str], right: usize) -> Question {
    Question {
        id: id.to_owned(),
        line,
        text: text.to_owned(),
        context: None,
        options: options.iter().map(|it| (*it).to_owned()).collect(),
        key: Key::Choice(right),
    }
}

fn open(id: &str, line: usize, text: &str, test: Test) -> Question {
    let key = Key::Checks(vec![Check::that(test)]);
    Question { id: id.to_owned(), line, text: text.to_owned(), context: None, options: Vec::new(), key }
}

fn exact(answers: &[&str]) -> Test {
    Test::Exact(answers.iter().map(|it| (*it).to_owned()).collect())
}

fn number(value: f64) -> Test {
    let amount = Amount { value, is_percent: false, unit: String::new() };
    Test::Number(amount, Tolerance::EXACT)
}

#[test]
fn our_own_format_in_lines_lists_and_documents() {
    let lines = "{\"id\":\"a\",\"question\":\"Capital?\",\"options\":[\"Rome\",\"Paris\"],\"answer\":\"Paris\"}\n\n\
                 {\"id\":\"b\",\"question\":\"6 · 7?\",\"answer\":42}\n";
    let expected = [choice("a", 1, "Capital?", &["Rome", "Paris"], 1), open("b", 3, "6 · 7?", number(42.0))];
    assert_eq!(good("q.jsonl", lines), expected);
    let list = "[\n {\"id\":\"a\",\"question\":\"Capital?\",\"options\":[\"Rome\",\"Paris\"],\"answer\":\"B\"},\n \
                {\"id\":\"b\",\"question\":\"6 · 7?\",\"answer\":42}\n]";
    assert_eq!(
        good("q.json", list),
        [choice("a", 2, "Capital?", &["Rome", "Paris"], 1), open("b", 3, "6 · 7?", number(42.0))]
    );
    let document = "{\"questions\": [\n{\"question\":\"Who?\",\"answer\":[\"Ann\",\"Anna\"]}]}";
    assert_eq!(good("q.json", document), [open("q1", 2, "Who?", exact(&["Ann", "Anna"]))]);
    let yaml = "questions:\n  - question: Who?\n    answer: Ann\n";
    assert_eq!(good("q.yaml", yaml), [open("q1", 2, "Who?", exact(&["Ann"]))]);
}

#[test]
fn mmlu_by_index_letter_and_text() {
    let line = |answer: &str| {
        format!("{{\"question\":\"Q?\",\"choices\":[\"w\",\"x\",\"y\",\"z\"],\"answer\":{answer}}}")
    };
    for answer in ["2", "\"C\"", "\"y\"", "\"(c)\""] {
        assert_eq!(
            good("mmlu.jsonl", &line(answer)),
            [choice("q1", 1, "Q?", &["w", "x", "y", "z"], 2)],
            "{answer}"
        );
    }
    // Where options are numbers, a text is the option and a number the index.
    let numbers = |answer: &str| {
        format!("{{\"question\":\"Q?\",\"choices\":[\"0\",\"1\",\"2\",\"3\"],\"answer\":{answer}}}")
    };
    assert_eq!(good("m.jsonl", &numbers("\"3\""))[0].key, Key::Choice(3));
    assert_eq!(good("m.jsonl", &numbers("0"))[0].key, Key::Choice(0));
    let pro = "{\"question_id\":70,\"question\":\"Q?\",\"options\":[\"w\",\"x\",\"y\"],\"answer\":\"B\",\"answer_index\":1}";
    assert_eq!(good("pro.jsonl", pro), [choice("70", 1, "Q?", &["w", "x", "y"], 1)]);
    let arc = "{\"id\":\"M_1\",\"question\":\"Q?\",\"choices\":{\"text\":[\"w\",\"x\"],\"label\":[\"1\",\"2\"]},\"answerKey\":\"2\"}";
    assert_eq!(good("arc.jsonl", arc), [choice("M_1", 1, "Q?", &["w", "x"], 1)]);
}

#[test]
fn tables_with_and_without_a_header() {
    let headless = "\"Find it, please\",w,x,y,z,C\nNext?,1,2,3,4,A\n";
    assert_eq!(
        good("abstract_algebra_test.csv", headless),
        [
            choice("q1", 1, "Find it, please", &["w", "x", "y", "z"], 2),
            choice("q2", 2, "Next?", &["1", "2", "3", "4"], 0)
        ]
    );
    let columns = "id\tquestion\tA\tB\tanswer\n7\tQ?\tyes\tno\tB\n";
    assert_eq!(good("q.tsv", columns), [choice("7", 2, "Q?", &["yes", "no"], 1)]);
    let gpqa = "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n\
                rec1,\"Q\nmore?\",right,w1,w2,w3\n";
    assert_eq!(good("gpqa.csv", gpqa), [choice("rec1", 2, "Q\nmore?", &["right", "w1", "w2", "w3"], 0)]);
    let plain = "question,answer\nWho?,Ann\n";
    assert_eq!(good("q.csv", plain), [open("q1", 2, "Who?", exact(&["Ann"]))]);
}

#[test]
fn e10_samples_of_lm_evaluation_harness() {
    let mmlu = r#"{"doc_id": 0, "doc": {"question": "Q?", "subject": "x", "choices": ["w", "x", "y", "z"], "answer": 1}, "target": 1, "arguments": {}, "resps": [], "filtered_resps": [], "doc_hash": "ab", "acc": 1.0}"#;
    assert_eq!(good("samples_mmlu.jsonl", mmlu), [choice("0", 1, "Q?", &["w", "x", "y", "z"], 1)]);
    let gsm = r#"{"doc_id": 3, "doc": {"question": "How many?", "answer": "5+13=18\n#### 18"}, "target": "5+13=18\n#### 18", "resps": [["x"]]}"#;
    assert_eq!(good("samples_gsm8k.jsonl", gsm), [open("3", 1, "How many?", number(18.0))]);
    let arc = r#"{"doc_id": 1, "doc": {"id": "M", "question": "Q?", "choices": {"text": ["w", "x"], "label": ["A", "B"]}, "answerKey": "B"}, "target": "1"}"#;
    assert_eq!(good("samples_arc.jsonl", arc), [choice("1", 1, "Q?", &["w", "x"], 1)]);
    let hellaswag = r#"{"doc_id": 2, "doc": {"ctx": "He goes", "endings": ["a", "b", "c", "d"], "label": "3"}, "target": "3"}"#;
    assert_eq!(
        good("samples_hellaswag.jsonl", hellaswag),
        [choice("2", 1, "He goes", &["a", "b", "c", "d"], 3)]
    );
    let winogrande = r#"{"doc_id": 4, "doc": {"sentence": "The _ fits.", "option1": "box", "option2": "bag", "answer": "2"}, "target": "2"}"#;
    assert_eq!(
        good("samples_winogrande.jsonl", winogrande),
        [choice("4", 1, "The _ fits.", &["box", "bag"], 1)]
    );
    let triviaqa = r#"{"doc_id": 5, "doc": {"question": "Who?"}, "target": ["Ann", "Anna"]}"#;
    assert_eq!(good("samples_triviaqa.jsonl", triviaqa), [open("5", 1, "Who?", exact(&["Ann", "Anna"]))]);
}

#[test]
fn e10_tests_of_promptfoo() {
    let contains = |texts: &[&str], any: bool, cased: bool| {
        Test::Contains(Contained { texts: texts.iter().map(|it| (*it).to_owned()).collect(), any, cased })
    };
    let yaml = "\
description: Capitals
prompts:
  - '{{question}}'
providers: [openai:gpt-4o]
tests:
  - description: France
    vars:
      question: Capital of France?
    assert:
      - type: icontains
        value: paris
      - type: latency
        threshold: 5000
  - vars:
      question: Capital of Italy?
    assert:
      - type: equals
        value: Rome
      - type: not-contains
        value: Milan
";
    let found = good("promptfooconfig.yaml", yaml);
    assert_eq!(found[0], open("q1", 6, "Capital of France?", contains(&["paris"], false, false)));
    let not_milan = Check { is_negated: true, test: contains(&["Milan"], false, true) };
    let both = Key::Checks(vec![Check::that(Test::Equal("Rome".into())), not_milan]);
    assert_eq!(found[1].key, both);
    let list = "- vars: {input: 'Hi?'}\n  assert:\n    - {type: contains-any, value: [a, b]}\n    - {type: llm-rubric, value: is polite}\n";
    let found = good("tests.yaml", list);
    let polite = Check::that(Test::Rubric("is polite".into()));
    assert_eq!(found[0].key, Key::Checks(vec![Check::that(contains(&["a", "b"], true, true)), polite]));
    assert!(found[0].needs_model());
    let csv = "question,__expected\nCapital?,icontains: Paris\nSum?,42\n\"Time: now?\",\"12:30\"\n";
    let found = good("tests.csv", csv);
    assert_eq!(found[0], open("q1", 2, "Capital?", contains(&["Paris"], false, false)));
    assert_eq!(found[1], open("q2", 3, "Sum?", Test::Equal("42".into())));
    assert_eq!(found[2], open("q3", 4, "Time: now?", Test::Equal("12:30".into())));
    let json = r#"{"tests": [{"vars": {"question": "Q?"}, "assert": [{"type": "regex", "value": "^4+$"}]}]}"#;
    assert_eq!(good("tests.json", json).len(), 1);
}

#[test]
fn bad_files_are_refused_with_line_and_field() {
    let check = |name: &str, text: &str, expected: &[&str]| {
        assert_eq!(bad(name, text.as_bytes()), expected, "{text}");
    };
    check("q.jsonl", "", &["line 1: there is no question in this file"]);
    check("q.json", " \n", &["line 1: there is no question in this file"]);
    check("q.jsonl", "{\"question\":\"Q?\"}", &["line 1, answer: is missing"]);
    let options = |options: &str, answer: &str| {
        format!("{{\"question\":\"Q?\",\"options\":{options},\"answer\":\"{answer}\"}}")
    };
    check("q.jsonl", &options("[\"a\",\"b\"]", "x"), &["line 1, answer: `x` is none of the 2 options"]);
    check("q.jsonl", &options("[\"x\"]", "x"), &["line 1, options: there must be 2 to 10 options, not 1"]);
    let eleven: Vec<String> = (0..11).map(|it| format!("\"o{it}\"")).collect();
    let eleven = format!("[{}]", eleven.join(","));
    check("q.jsonl", &options(&eleven, "o1"), &["line 1, options: there must be 2 to 10 options, not 11"]);
    check("q.jsonl", &options("[\"a\",\"a \"]", "a"), &["line 1, options: the option `a` is given twice"]);
    let twice =
        "{\"id\":\"x\",\"question\":\"Q?\",\"answer\":1}\n{\"id\":\"x\",\"question\":\"R?\",\"answer\":1}";
    check("q.jsonl", twice, &["line 2, id: `x` is also the id of the question in line 1"]);
    let mixed = "{\"question\":\"Q?\",\"answer\":1}\n{\"vars\":{\"question\":\"Q?\"},\"assert\":[]}";
    check(
        "q.jsonl",
        mixed,
        &["line 2: this is tests of promptfoo, while the file began with questions with answers"],
    );
    check(
        "q.jsonl",
        "{\"question\":\"Q?\",\"answer\":1}\n{\"question\":",
        &["line 2: is not JSON: EOF while parsing a value"],
    );
    check(
        "q.jsonl",
        "{\"prompt_text\":\"Q?\"}",
        &["line 1, question: the format is not known: a record has question and answer, or the fields \
           of MMLU, GPQA, lm-evaluation-harness or promptfoo; this has prompt_text"],
    );
    check(
        "q.jsonl",
        "{}",
        &["line 1, question: the format is not known: a record has question and answer, or the fields \
           of MMLU, GPQA, lm-evaluation-harness or promptfoo; this has no field"],
    );
    check(
        "t.yaml",
        "tests: file://tests.csv\n",
        &["line 1, tests: the tests are in file://tests.csv; give that file instead"],
    );
    let script = "- vars: {question: Q?}\n  assert: [{type: javascript, value: 'output == 1'}]\n";
    check("t.yaml", script, &["line 1, assert[0].value: asserts of the type `javascript` are not supported"]);
    check(
        "q.jsonl",
        "{\"question\":\"Q?\",\"answer\":\"x\",\"grade\":\"number\"}",
        &["line 1, answer: `x` is not a number"],
    );
    check(
        "q.jsonl",
        "{\"question\":\"Q?\",\"answer\":\"(x\",\"grade\":\"regex\"}",
        &["line 1, answer: unclosed group"],
    );
    let long = format!("{{\"question\":\"{}\",\"answer\":1}}", "x".repeat(6_000));
    check("q.jsonl", &long, &["line 1, question: with its options it has 6072 characters; 5000 are allowed"]);
}

/// The ids of the questions that are left, and the mistakes of those that are not.
#[track_caller]
fn skipping(name: &str, bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let found = read(name, bytes, BadRecords::Skip).unwrap();
    let ids = found.questions.into_iter().map(|it| it.text).collect();
    (ids, found.skipped.iter().map(ToString::to_string).collect())
}

const GOOD: &str = "{\"question\":\"Q?\",\"answer\":1}\n";
const MARKED: &str = "line 1, byte-order mark: save the file as UTF-8 without one";

#[test]
fn bytes_that_are_no_utf_8_are_refused_with_line_and_field_and_can_be_skipped() {
    let broken = [GOOD.as_bytes(), b"{\"question\":\"\xff?\",\"answer\":1}\n", GOOD.as_bytes()].concat();
    assert_eq!(bad("q.jsonl", &broken), ["line 2, question: is not UTF-8"]);
    let twice = ["Q?".to_owned(), "Q?".to_owned()];
    assert_eq!(
        skipping("q.jsonl", &broken),
        (twice.to_vec(), vec!["line 2, question: is not UTF-8".to_owned()])
    );
    let in_option = b"question,A,B,answer\nQ?,x,y,A\nR?,x\xc3,z,A\n";
    assert_eq!(bad("q.csv", in_option), ["line 3, A: is not UTF-8"]);
    assert_eq!(skipping("q.csv", in_option).1.len(), 1);
    let list = b"[{\"question\":\"Q?\",\"answer\":1},\n{\"question\":\"R?\",\"answer\":\"\xe9\"}]";
    assert_eq!(bad("q.json", list), ["line 2, answer: is not UTF-8"]);
    assert_eq!(skipping("q.json", list).0, ["Q?"]);
    // A replacement character that was written as such is a character like others.
    assert_eq!(good("q.jsonl", "{\"question\":\"\u{fffd}?\",\"answer\":1}").len(), 1);
}

#[test]
fn a_byte_order_mark_is_refused_and_its_record_can_be_skipped() {
    let marked = format!("\u{feff}{GOOD}{GOOD}");
    assert_eq!(bad("q.jsonl", marked.as_bytes()), [MARKED]);
    assert_eq!(skipping("q.jsonl", marked.as_bytes()), (vec!["Q?".to_owned()], vec![MARKED.to_owned()]));
    // The header of a table is not a record: its mark is counted and nothing is lost.
    let table = "\u{feff}question,answer\nQ?,1\n";
    assert_eq!(bad("q.csv", table.as_bytes()), [MARKED]);
    assert_eq!(skipping("q.csv", table.as_bytes()), (vec!["Q?".to_owned()], vec![MARKED.to_owned()]));
}

#[test]
fn windows_line_ends_are_refused_and_their_records_can_be_skipped() {
    let told =
        |line: usize| format!("line {line}, line end: is that of Windows (CR LF); save the file with LF");
    let one = format!("{GOOD}{{\"question\":\"R?\",\"answer\":2}}\r\n{GOOD}");
    assert_eq!(bad("q.jsonl", one.as_bytes()), [told(2)]);
    assert_eq!(skipping("q.jsonl", one.as_bytes()), (vec!["Q?".to_owned(); 2], vec![told(2)]));
    let whole = "question,answer\r\nQ?,1\r\n";
    assert_eq!(bad("q.csv", whole.as_bytes()), [told(1), told(2)]);
    let nothing_left = read("q.csv", whole.as_bytes(), BadRecords::Skip).expect_err("a bad file");
    assert_eq!(nothing_left.len(), 2);
    let yaml = "- question: Q?\n  answer: 1\n- question: R?\n  answer: 2\r\n";
    assert_eq!(bad("q.yaml", yaml.as_bytes()), [told(4)]);
    assert_eq!(skipping("q.yaml", yaml.as_bytes()).0, ["Q?"]);
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let large = vec![b' '; 100_000_000];
    assert_eq!(bad("q.jsonl", &large), ["line 1: the file has 100 MB; at most 67 MB are read"]);
}

#[test]
fn bad_records_can_be_skipped_and_are_counted() {
    let text = "{\"question\":\"Q?\",\"answer\":1}\n{\"question\":\"R?\"}\nnonsense\n{\"question\":\"S?\",\"answer\":2}";
    let found = read("q.jsonl", text.as_bytes(), BadRecords::Skip).unwrap();
    assert_eq!((found.questions.len(), found.skipped.len(), found.format), (2, 2, "questions with answers"));
    assert!(read("q.jsonl", b"nonsense", BadRecords::Skip).is_err());
}

#[test]
fn many_mistakes_are_shortened() {
    let text = "{\"question\":\"Q?\"}\n".repeat(50);
    let mistakes = bad("q.jsonl", text.as_bytes());
    assert_eq!(mistakes.len(), 21);
    assert_eq!(mistakes[20], "line 20: … and 30 more mistakes after this line");
}
