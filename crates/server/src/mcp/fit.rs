//! Shortens an answer until a client takes it whole: clients cut longer ones where it hurts.

use serde_json::{Value, json};

/// The longest compact answer, in characters of JSON.
pub(crate) const LONGEST: usize = 24_000;

/// The longest whole result document, in tokens by our estimate.
pub(crate) const MOST_TOKENS: u64 = 20_000;

/// The lengths to which texts beside the synthesis are cut, one after the other.
const LESSER_LENGTHS: &[usize] = &[2_000, 500, 120];

/// How many entries of a list stay when even short ones don't fit.
const FEWEST_ENTRIES: usize = 10;

/// The field that may have any form: the output of a workflow's run.
const OUTPUT: &str = "output";

/// The tokens that `leftOut` may take in a whole document.
const NOTE_TOKENS: u64 = 100;

/// The lengths to which texts of a whole document are cut where leaving out rounds is not enough.
const WHOLE_LENGTHS: &[usize] = &[8_000, 2_000, 500];

/// The lengths of texts in a list of discussions, from what is wanted to what fits.
const LIST_LENGTHS: &[usize] = &[200, 100, 50];

/// A text that is cut keeps at least this many characters.
const SHORTEST_CUT: usize = 200;

/// The answer in at most [`LONGEST`] characters. The synthesis is cut last.
pub(crate) fn compact(mut answer: Value, uri: &str) -> Value {
    for longest in LESSER_LENGTHS {
        if length(&answer) <= LONGEST {
            return answer;
        }
        cut_lesser_texts(&mut answer, *longest, uri);
    }
    if length(&answer) > LONGEST {
        shorten_lists(&mut answer);
    }
    if length(&answer) > LONGEST
        && let Some(output) = answer.get_mut(OUTPUT)
    {
        *output = json!(cut(&output.to_string(), LESSER_LENGTHS[0], uri));
    }
    cut_main_text(&mut answer, uri);
    answer
}

/// A part with rounds in at most [`LONGEST`] characters: the newest stay, and `leftOut` says how
/// many don't.
pub(crate) fn rounds(mut part: Value, uri: &str) -> Value {
    if length(&part) > LONGEST {
        cut_lesser_texts(&mut part, LESSER_LENGTHS[0], uri);
    }
    let total = part["rounds"].as_array().map_or(0, Vec::len);
    while length(&part) > LONGEST
        && let Some(rounds) = part.get_mut("rounds").and_then(Value::as_array_mut).filter(|it| it.len() > 1)
    {
        rounds.remove(0);
        let left_out = total - rounds.len();
        part["leftOut"] = json!(format!("the first {left_out} of {total} rounds; all are in {uri}"));
    }
    compact(part, uri)
}

/// A list in at most [`LONGEST`] characters: its texts are shortened to the length that `entries`
/// is given, and only if that is not enough, the last entries are left out, which `leftOut` says.
pub(crate) fn list(name: &str, entries: impl Fn(usize) -> Vec<Value>) -> Value {
    let mut listed = json!({ name: [] });
    for longest in LIST_LENGTHS {
        listed = json!({ name: entries(*longest) });
        if length(&listed) <= LONGEST {
            return listed;
        }
    }
    let total = listed[name].as_array().map_or(0, Vec::len);
    while length(&listed) > LONGEST
        && let Some(entries) = listed[name].as_array_mut().filter(|it| !it.is_empty())
    {
        entries.pop();
        let left_out = total - entries.len();
        listed["leftOut"] = json!(format!("the last {left_out} of {total}; ask for fewer"));
    }
    listed
}

/// The number of characters of its JSON.
pub(crate) fn length(answer: &Value) -> usize {
    answer.to_string().chars().count()
}

/// The text in at most this many characters, with a mark that says where all of it is.
pub(crate) fn cut(text: &str, longest: usize, uri: &str) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mark = format!("… [cut; all of it is in {uri}]");
    let kept = longest.saturating_sub(mark.chars().count());
    text.chars().take(kept).collect::<String>() + &mark
}

fn cut_lesser_texts(answer: &mut Value, longest: usize, uri: &str) {
    for (name, value) in answer.as_object_mut().into_iter().flatten() {
        if name != "synthesis" && name != "discussionId" && name != "uri" && name != "next" {
            cut_texts(value, longest, uri);
        }
    }
}

fn cut_texts(value: &mut Value, longest: usize, uri: &str) {
    match value {
        Value::String(text) => *text = cut(text, longest, uri),
        Value::Array(values) => values.iter_mut().for_each(|it| cut_texts(it, longest, uri)),
        Value::Object(fields) => fields.values_mut().for_each(|it| cut_texts(it, longest, uri)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shorten_lists(value: &mut Value) {
    match value {
        Value::Array(values) => {
            values.truncate(FEWEST_ENTRIES);
            values.iter_mut().for_each(shorten_lists);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten_lists),
        _ => {}
    }
}

/// Cuts the synthesis to what the rest leaves. An escaped character takes several in JSON, so the
/// longest beginning that fits is searched for.
fn cut_main_text(answer: &mut Value, uri: &str) {
    let Some(text) = answer["synthesis"].as_str().map(str::to_owned) else { return };
    if length(answer) <= LONGEST {
        return;
    }
    let (mut fitting, mut too_long) = (SHORTEST_CUT, text.chars().count());
    while fitting + 1 < too_long {
        let middle = fitting.midpoint(too_long);
        answer["synthesis"] = json!(cut(&text, middle, uri));
        if length(answer) <= LONGEST { fitting = middle } else { too_long = middle }
    }
    answer["synthesis"] = json!(cut(&text, fitting, uri));
}

/// The document in at most [`MOST_TOKENS`]: without its oldest rounds, and where that is not
/// enough, with its texts cut, the synthesis last. `leftOut` says so.
pub(crate) fn whole(document: Value, uri: &str) -> Value {
    if tokens(&document) <= MOST_TOKENS {
        return document;
    }
    let (mut document, left_out) = newest_rounds(document, MOST_TOKENS - NOTE_TOKENS);
    let left_out = match left_out {
        Some(rounds) => format!("{rounds}; all are in {uri}"),
        None => format!("all of it is in {uri}"),
    };
    document["leftOut"] = json!(left_out);
    for longest in WHOLE_LENGTHS {
        if tokens(&document) <= MOST_TOKENS {
            return document;
        }
        document["leftOut"] = json!(format!("{left_out}; texts are cut"));
        cut_lesser_texts(&mut document, *longest, uri);
        if tokens(&document) > MOST_TOKENS
            && let Some(text) = document["synthesis"].as_str()
        {
            document["synthesis"] = json!(cut(text, *longest, uri));
        }
    }
    if tokens(&document) > MOST_TOKENS
        && let Some(output) = document.get_mut(OUTPUT)
    {
        *output = json!(cut(&output.to_string(), WHOLE_LENGTHS[0], uri));
    }
    if tokens(&document) > MOST_TOKENS {
        document["leftOut"] = json!(format!("{left_out}; texts and lists are cut"));
        shorten_lists(&mut document);
    }
    document
}

fn tokens(document: &Value) -> u64 {
    quorum::call::tokens::estimate(&document.to_string())
}

/// The document with as many of its newest rounds as fit, at least one, and what was left out.
fn newest_rounds(mut document: Value, most_tokens: u64) -> (Value, Option<String>) {
    let rounds = document["rounds"].take();
    let rounds: Vec<Value> = rounds.as_array().cloned().unwrap_or_default();
    let mut left = most_tokens.saturating_sub(tokens(&document));
    let fits = |round: &&Value| {
        let size = tokens(round);
        let is_room = size <= left;
        left = left.saturating_sub(size);
        is_room
    };
    let fitting = rounds.iter().rev().take_while(fits).count();
    let left_out = rounds.len() - fitting.max(1).min(rounds.len());
    document["rounds"] = Value::Array(rounds[left_out..].to_vec());
    (document, (left_out > 0).then(|| format!("the first {left_out} of {} rounds", rounds.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URI: &str = "discussion://1/result";

    #[test]
    fn b10_the_synthesis_is_cut_last_and_says_where_all_of_it_is() {
        let long = |length: usize| "\"a\n".repeat(length / 3);
        let answer = json!({
            "synthesis": long(12_000), "discussionId": "1",
            "dissent": [{ "provider": "ann", "position": long(30_000) }],
        });
        let compacted = compact(answer.clone(), URI);
        assert!(length(&compacted) <= LONGEST, "{}", length(&compacted));
        assert_eq!(compacted["synthesis"].as_str().unwrap().len(), 12_000, "it fits beside a short dissent");
        let dissent = compacted["dissent"][0]["position"].as_str().unwrap();
        assert!(dissent.ends_with("… [cut; all of it is in discussion://1/result]"), "{dissent}");
        assert!(dissent.chars().count() <= 2_000);
        let answer = json!({ "synthesis": long(90_000), "discussionId": "1", "next": "done" });
        let compacted = compact(answer, URI);
        assert!((LONGEST - 2_000..=LONGEST).contains(&length(&compacted)), "{}", length(&compacted));
        assert!(compacted["synthesis"].as_str().unwrap().ends_with("result]"));
        assert_eq!(compacted["next"], "done");
    }

    #[test]
    fn b10_many_entries_don_t_exceed_the_limit_either() {
        let dissent: Vec<Value> =
            (0..2_000).map(|at| json!({ "provider": at.to_string(), "position": "no".repeat(60) })).collect();
        let compacted = compact(json!({ "synthesis": "yes", "dissent": dissent }), URI);
        assert!(length(&compacted) <= LONGEST, "{}", length(&compacted));
        assert_eq!(compacted["synthesis"], "yes");
    }

    #[test]
    fn b10_rounds_of_a_section_are_left_out_before_their_texts_are_cut_to_nothing() {
        let response = |at: usize| json!({ "provider": at.to_string(), "content": "word ".repeat(1_000) });
        let round = |number: usize| json!({ "roundNumber": number, "responses": (0..6).map(response).collect::<Vec<_>>() });
        let part = |count: usize| json!({ "section": "rounds", "rounds": (1..=count).map(round).collect::<Vec<_>>() });
        let short = rounds(part(10), URI);
        assert!(length(&short) <= LONGEST, "{}", length(&short));
        let kept: Vec<u64> =
            short["rounds"].as_array().unwrap().iter().filter_map(|it| it["roundNumber"].as_u64()).collect();
        assert_eq!(kept, [10], "a text of 2,000 characters for each of six");
        assert_eq!(short["leftOut"], "the first 9 of 10 rounds; all are in discussion://1/result");
        let small = json!({ "section": "rounds", "rounds": [{ "roundNumber": 1 }] });
        assert_eq!(rounds(small.clone(), URI), small);
    }

    #[test]
    fn b10_a_list_keeps_its_entries_and_shortens_their_texts() {
        let entries = |count: usize, fixed: usize| {
            move |longest: usize| {
                let entry =
                    |at: usize| json!({ "topic": "t".repeat(longest), "id": format!("{at:0fixed$}") });
                (0..count).map(entry).collect::<Vec<_>>()
            }
        };
        let listed = list("discussions", entries(50, 300));
        assert_eq!(listed, json!({ "discussions": entries(50, 300)(100) }), "all are listed");
        let listed = list("discussions", entries(50, 600));
        let kept = listed["discussions"].as_array().unwrap().len();
        assert!((30..50).contains(&kept) && length(&listed) <= LONGEST, "{kept}");
        assert_eq!(listed["discussions"], json!(entries(50, 600)(50)[..kept]), "the first ones stay");
        assert_eq!(listed["leftOut"], format!("the last {} of 50; ask for fewer", 50 - kept));
    }

    #[test]
    fn b10_an_output_of_any_form_fits() {
        let output: serde_json::Map<String, Value> =
            (0..5_000).map(|at| (format!("key {at}"), json!({ "deep": [at, [at]] }))).collect();
        let answer = json!({ "synthesis": "yes", "output": output, "rounds": [] });
        let compacted = compact(answer.clone(), URI);
        assert!(length(&compacted) <= LONGEST, "{}", length(&compacted));
        assert_eq!(compacted["synthesis"], "yes");
        let whole = whole(answer, URI);
        assert!(tokens(&whole) <= MOST_TOKENS, "{}", tokens(&whole));
    }

    #[test]
    fn b10_a_whole_document_fits_even_if_its_synthesis_alone_does_not() {
        let document = json!({
            "synthesis": "word ".repeat(90_000), "rounds": [{ "text": "word ".repeat(90_000) }],
        });
        let whole = whole(document, URI);
        assert!(tokens(&whole) <= MOST_TOKENS, "{}", tokens(&whole));
        assert!(whole["synthesis"].as_str().unwrap().ends_with("result]"), "{whole}");
        assert!(whole["leftOut"].as_str().unwrap().ends_with("texts are cut"), "{}", whole["leftOut"]);
        let short = json!({ "synthesis": "yes", "rounds": [] });
        assert_eq!(super::whole(short.clone(), URI), short);
    }

    #[test]
    fn b10_the_newest_round_is_kept_with_its_texts_cut_if_it_alone_is_too_long() {
        let round =
            |number: u32| json!({ "roundNumber": number, "responses": vec!["word ".repeat(6_000); 6] });
        let whole = whole(json!({ "synthesis": "yes ".repeat(3_000), "rounds": [round(1), round(2)] }), URI);
        assert!(tokens(&whole) <= MOST_TOKENS, "{}", tokens(&whole));
        let responses = whole["rounds"][0]["responses"].as_array().unwrap();
        assert_eq!([&whole["rounds"][0]["roundNumber"], &json!(responses.len())], [&json!(2), &json!(6)]);
        let expected = format!("the first 1 of 2 rounds; all are in {URI}; texts are cut");
        assert_eq!(whole["leftOut"], expected);
        assert_eq!(whole["synthesis"].as_str().unwrap().len(), 12_000, "the synthesis is cut last");
    }

    #[test]
    fn b10_texts_are_not_cut_if_leaving_out_rounds_is_enough() {
        for length in (2_100..2_400).step_by(11) {
            let round = |number: u32| json!({ "roundNumber": number, "text": "word ".repeat(length / 5) });
            let document = json!({ "synthesis": "yes", "rounds": (1..=60).map(round).collect::<Vec<_>>() });
            let whole = whole(document, URI);
            assert!(tokens(&whole) <= MOST_TOKENS, "{length}: {}", tokens(&whole));
            let left_out = whole["leftOut"].as_str().unwrap();
            assert!(left_out.ends_with(&format!("of 60 rounds; all are in {URI}")), "{length}: {left_out}");
        }
    }

    #[test]
    fn b10_a_whole_document_with_long_lists_fits() {
        let sentences: Vec<Value> = (0..5_000).map(|at| json!({ "from": at, "to": at + 1 })).collect();
        let whole = whole(json!({ "synthesis": "yes", "provenance": sentences, "rounds": [] }), URI);
        assert!(tokens(&whole) <= MOST_TOKENS, "{}", tokens(&whole));
        assert_eq!(whole["leftOut"], format!("all of it is in {URI}; texts and lists are cut"));
    }

    #[test]
    fn b10_the_newest_rounds_are_kept() {
        let round = |number: u32| json!({ "roundNumber": number, "text": "word ".repeat(400) });
        let document = json!({ "synthesis": "yes", "rounds": (1..=9).map(round).collect::<Vec<_>>() });
        let (short, left_out) = newest_rounds(document.clone(), 1_500);
        let numbers: Vec<u64> =
            short["rounds"].as_array().unwrap().iter().filter_map(|it| it["roundNumber"].as_u64()).collect();
        assert!(!numbers.is_empty() && numbers.len() < 9, "{numbers:?}");
        assert_eq!(numbers.last(), Some(&9));
        assert_eq!(left_out, Some(format!("the first {} of 9 rounds", 9 - numbers.len())));
        assert_eq!(newest_rounds(document.clone(), u64::MAX), (document, None));
    }
}
