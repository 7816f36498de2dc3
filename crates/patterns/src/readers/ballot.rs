//! Ballots: votes for one of several options, which options are valid, and how a ballot is read.

use quorum_core::{
    call::Effort,
    floor::reading::{Misread, Reader, Reminder},
    model::{
        error::{Code, Refusal},
        reading::Stance,
    },
    vocabulary::{
        form::Form,
        view::{Cell, Column, View},
    },
};
use serde_json::{Value, json};

use crate::readers::{
    Ballot, Confidence, confidence,
    json::{last_object_with, may_hold, text, value},
    lines, spoken_vote,
    unquoted::unwrapped,
};

const MOST_OPTIONS: usize = 10;

/// The kind of a ballot in the record.
pub(crate) const BALLOT: &str = "ballot";

/// A vote for one of several options.
pub(crate) static FORM: Form = Form::new(BALLOT)
    .effort(Effort::Low)
    .tell(|value| {
        let Ballot { choice, confidence, .. } = serde_json::from_value(value.clone()).ok()?;
        Some(format!("voted for {choice} (confidence {:.2})", confidence.get()))
    })
    .reason_at("/reasoning")
    .stance(|value| {
        let Ballot { choice, confidence, .. } = serde_json::from_value(value.clone()).ok()?;
        Some(Stance { position: choice, confidence: confidence.get(), chooses: true, joins: true })
    })
    .view(View::Table {
        columns: &[
            Column::text("choice", "/choice"),
            Column::of("confidence", "/confidence", Cell::Share),
            Column::text("why", "/reasoning"),
        ],
    })
    .sample(crate::samples::ballot::sample)
    .recognises(may_hold_ballot)
    .quoted_by_line();

fn may_hold_ballot(text: &str) -> bool {
    let states_confidence = |line: &str| confidence::in_last_line(line).is_some();
    may_hold(text, "choice") || spoken_vote::may_hold(text) || text.lines().any(states_confidence)
}

const REMINDERS: &[Reminder] = &[
    Reminder {
        purpose: "remind1",
        words: "Send the same answer again as one JSON object and nothing else, with the keys reasoning, choice and \
                confidence, in this order.",
    },
    Reminder {
        purpose: "remind2",
        words: "Without it your vote is not counted. Copy this line and fill it in: \
                {\"reasoning\": \"…\", \"choice\": \"…\", \"confidence\": …}",
    },
];

/// What is wrong with a vote for this. It comes last, for it may be long.
fn no_option(written: &str) -> Misread {
    Misread::new(format!("none of the options is {written:?}"))
}

/// Reads ballots on these options.
pub(crate) struct Ballots {
    options: Vec<String>,
}

impl Ballots {
    pub(crate) fn on(options: &[String]) -> Self {
        Ballots { options: options.to_vec() }
    }

    /// The option that a form names: quoted or not, alone or with a reason after it.
    fn named(&self, choice: &str) -> Option<&String> {
        let bare = choice.trim_matches(|it| it == ' ' || it == '*' || QUOTES.contains(&it));
        self.option(choice).or_else(|| self.option(bare)).or_else(|| {
            // An option may have a comma and begin like another one, so only the longest counts.
            let begins = self.options.iter().filter_map(|it| {
                let rest = spoken_vote::after_option(bare, it.trim())?;
                Some((it, rest.trim_start()))
            });
            let (longest, rest) = begins.max_by_key(|it| it.0.trim().len())?;
            let is_reasoned =
                rest.starts_with([',', ';', ':', '(', '–', '—', '-']) || rest.starts_with("because");
            self.option(longest).filter(|_| is_reasoned)
        })
    }

    /// A vote in a plain sentence.
    fn spoken(&self, reply: &str) -> Option<Ballot> {
        let reply = unwrapped(reply);
        let (choice, stated) = spoken_vote::read(reply, &self.options)?;
        let confidence = stated.unwrap_or(Confidence::UNSTATED);
        // A ballot in lines states its reason apart. Others are shown reasons and no confidences.
        let is_reason =
            |line: &&str| !spoken_vote::is_labelled(line) && confidence::in_last_line(line).is_none();
        let reasons = reply.lines().filter(is_reason).collect::<Vec<_>>().join("\n");
        Some(Ballot { choice: choice.clone(), confidence, reasoning: reasons.trim().to_owned() })
    }

    /// The option that is meant. Case and quotes are ignored only if that is unambiguous.
    pub(crate) fn option(&self, choice: &str) -> Option<&String> {
        let choice = choice.trim();
        let exact = self.options.iter().find(|it| it.trim() == choice);
        exact.or_else(|| {
            let wanted = plain(choice);
            let mut alike = self.options.iter().filter(|it| !wanted.is_empty() && plain(it) == wanted);
            let only = alike.next();
            only.filter(|_| alike.next().is_none())
        })
    }
}

impl Reader for Ballots {
    type Value = Ballot;

    fn form(&self) -> &'static Form {
        &FORM
    }

    fn schema(&self) -> Option<Value> {
        Some(json!({
            "type": "object",
            "properties": {
                "reasoning": {
                    "type": "string", "description": "The reasons, and the best argument for another option",
                },
                "choice": { "type": "string", "enum": self.options, "description": "The option voted for" },
                "confidence": {
                    "type": "number", "minimum": 0, "maximum": 1,
                    "description": "The chance that the choice is right",
                },
            },
            "required": ["reasoning", "choice", "confidence"],
            "additionalProperties": false,
        }))
    }

    fn read(&self, reply: &str) -> Result<Ballot, Misread> {
        let Some(object) = last_object_with(reply, "choice") else {
            return self.spoken(reply).ok_or(Misread::new("there is no JSON object with a choice in it"));
        };
        let number = || value(&object, "choice").and_then(Value::as_u64).map(|it| it.to_string());
        let written = text(&object, "choice").or_else(number);
        let written = written.ok_or_else(|| Misread::new("the choice is no text"))?;
        let choice = self.named(&written).or_else(|| at_place(&written, &self.options));
        let choice = choice.ok_or_else(|| no_option(&written))?.clone();
        let confidence =
            value(&object, "confidence").and_then(confidence::from_value).unwrap_or(Confidence::UNSTATED);
        Ok(Ballot { choice, confidence, reasoning: text(&object, "reasoning").unwrap_or_default() })
    }

    /// The option alone, or on the first line with the reasons below it. Without a stated
    /// confidence, a person counts as sure.
    fn read_from_person(&self, reply: &str) -> Result<Ballot, Misread> {
        let reply = reply.trim();
        let (first, rest) = reply.split_once('\n').unwrap_or((reply, ""));
        let (choice, rest) = match self.option(reply) {
            Some(choice) => (choice, ""),
            None => (self.option(first).ok_or_else(|| no_option(first))?, rest),
        };
        let stated = rest.lines().find_map(confidence::in_last_line);
        let reasons = rest.lines().filter(|line| confidence::in_last_line(line).is_none());
        Ok(Ballot {
            choice: choice.clone(),
            confidence: stated.unwrap_or(Confidence::clamped(1.0)),
            reasoning: reasons.collect::<Vec<_>>().join("\n").trim().to_owned(),
        })
    }

    fn wrong_in_lines(&self, reply: &str, wrong: Misread) -> Misread {
        let lines = lines::lines(reply);
        let named = || lines::only(&lines, "choice").map_or(wrong, no_option);
        lines::missing(reply, &["Choice"]).unwrap_or_else(named)
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }
}

/// The option that is named by its place in the list: `2`, `Option 2`, `2. spaces` or `2 (spaces)`.
/// Where an option has a digit, the number could be meant as a part of it.
pub(super) fn at_place<'o>(choice: &str, options: &'o [String]) -> Option<&'o String> {
    let written = plain(choice);
    let bare = written.trim_start_matches(BEFORE_NUMBERS);
    let bare = bare.strip_prefix("option").unwrap_or(bare).trim_start_matches(BEFORE_NUMBERS);
    let end = bare.find(|it: char| !it.is_ascii_digit()).unwrap_or(bare.len());
    let place: usize = bare[..end].parse().ok()?;
    let option = options.get(place.checked_sub(1)?)?;
    let (name, named) = (bare[end..].trim_matches(AROUND_NAMES), plain(option));
    let is_clear = !options.iter().any(|it| it.contains(char::is_numeric));
    (is_clear && (name.is_empty() || name == named.trim_matches(AROUND_NAMES))).then_some(option)
}

/// What may stand before the number of an option.
const BEFORE_NUMBERS: &[char] = &['#', '(', '*', '_', ' '];

/// What may stand between the number of an option and its name, and after both.
const AROUND_NAMES: &[char] = &['.', '(', ')', ':', '*', '_', '-', '–', '—', ' '];

/// What is wrong with these options, if anything.
pub(crate) fn check(options: &[String]) -> Vec<Refusal> {
    let refuse = |message: String| Refusal::new("votingOptions", Code::InvalidRequest, message);
    let mut refusals = Vec::new();
    if options.len() < 2 {
        refusals.push(refuse(format!("a vote needs at least 2 options, not {}", options.len())));
    }
    if MOST_OPTIONS < options.len() {
        refusals.push(refuse(format!("a vote has at most {MOST_OPTIONS} options, not {}", options.len())));
    }
    if options.iter().any(|it| it.trim().is_empty()) {
        refusals.push(refuse("an option is empty; give every option a name".to_owned()));
    }
    let named: Vec<&str> = options.iter().map(|it| it.trim()).filter(|it| !it.is_empty()).collect();
    for (place, option) in named.iter().enumerate() {
        let alike = named[..place].iter().find(|it| plain(it) == plain(option));
        refusals.extend(alike.map(|first| refuse(repeated(first, option))));
    }
    refusals
}

fn repeated(first: &str, again: &str) -> String {
    if first == again {
        return format!("the option `{first}` is given twice; give each option once");
    }
    format!("the options `{first}` and `{again}` differ only in case or quotes; give each option once")
}

/// The option without what no voter can be relied on to repeat: its case, its quotes, and spaces
/// around it.
fn plain(option: &str) -> String {
    let kept = option.chars().filter(|it| !QUOTES.contains(it));
    // Upper case first: `ß` and `SS` are the same letters, and only the lower case of `SS` is `ss`.
    kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect::<String>().trim().to_owned()
}

/// Quotation marks, straight and typographic.
pub(super) const QUOTES: &[char] = &[
    '"', '\'', '`', '´', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', '「', '」', '『', '』',
    '＂', '＇',
];

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(options: &[&str]) -> Vec<String> {
        options.iter().map(|it| (*it).to_owned()).collect()
    }

    #[track_caller]
    fn reads(reply: &str, expected: Option<(&str, f64)>) {
        let reader = Ballots::on(&owned(&["Java", "JavaScript", "go", "Go", " C "]));
        let read = reader.read(reply).ok();
        let read = read.as_ref().map(|it| (it.choice.as_str(), it.confidence.get()));
        assert_eq!(read, expected, "{reply}");
    }

    #[track_caller]
    fn reads_from_person(reply: &str, expected: Option<(&str, f64, &str)>) {
        let reader = Ballots::on(&owned(&["Java", "JavaScript", "go", "Go", " C "]));
        let read = reader.read_from_person(reply).ok();
        let read = read.as_ref().map(|it| (it.choice.as_str(), it.confidence.get(), it.reasoning.as_str()));
        assert_eq!(read, expected, "{reply}");
    }

    #[test]
    fn a_person_votes_in_plain_words() {
        reads_from_person("Java", Some(("Java", 1.0, "")));
        reads_from_person(" javascript \n", Some(("JavaScript", 1.0, "")));
        reads_from_person("c", Some((" C ", 1.0, "")));
        reads_from_person(
            "Go\n\nIt is small.\nI like that.",
            Some(("Go", 1.0, "It is small.\nI like that.")),
        );
        reads_from_person("Java\r\nConfidence: 60 %\r\nIt is old.", Some(("Java", 0.6, "It is old.")));
    }

    #[test]
    fn a_person_whose_vote_is_ambiguous_is_asked_again() {
        reads_from_person("GO", None);
        reads_from_person("Java, I think", None);
        reads_from_person("I vote for\nJava", None);
        reads_from_person("", None);
    }

    #[test]
    fn a_ballot_is_read_alone_fenced_or_in_prose() {
        reads(r#"{"choice": "Java", "confidence": 0.8, "reasoning": "old"}"#, Some(("Java", 0.8)));
        reads("```json\n{\"choice\": \"JavaScript\", \"confidence\": 1}\n```", Some(("JavaScript", 1.0)));
        reads(r#"I think {"choice": "Java"}. No: {"choice": "go", "confidence": 0.6}."#, Some(("go", 0.6)));
    }

    #[test]
    fn an_option_must_match_exactly_or_unambiguously() {
        reads(r#"{"choice": " javascript ", "confidence": 0.8}"#, Some(("JavaScript", 0.8)));
        reads(r#"{"choice": "JAVA", "confidence": 0.8}"#, Some(("Java", 0.8)));
        reads(r#"{"choice": "C", "confidence": 0.8}"#, Some((" C ", 0.8)));
        reads(r#"{"choice": "Go", "confidence": 0.8}"#, Some(("Go", 0.8)));
        reads(r#"{"choice": "GO", "confidence": 0.8}"#, None);
        reads(r#"{"choice": "Jav", "confidence": 0.8}"#, None);
        reads(r#"{"choice": "Java 21", "confidence": 0.8}"#, None);
        reads(r#"{"choice": "Rust", "confidence": 0.8}"#, None);
        reads(r#"{"choice": "Java, because it is old", "confidence": 0.8}"#, Some(("Java", 0.8)));
        reads(r#"{"choice": "`Java`", "confidence": "0,8"}"#, Some(("Java", 0.8)));
        reads(r#"{"choice": ["Java"]}"#, Some(("Java", 0.5)));
        reads(r#"{"choice": ["Java", "go"]}"#, None);
        // Until the readers became lenient, this was asked for again.
        reads("I vote for Java, confidence 0.8", Some(("Java", 0.8)));
    }

    #[test]
    fn an_option_may_be_named_by_its_place() {
        let check = |options: &[&str], choice: &str, expected: Option<&str>| {
            let reply = format!(r#"{{"reasoning": "x", "choice": {choice}, "confidence": 0.8}}"#);
            let read = Ballots::on(&owned(options)).read(&reply).ok().map(|it| it.choice);
            assert_eq!(read.as_deref(), expected, "{options:?} {choice}");
        };
        let plain = ["tabs", "spaces"];
        for second in ["2", r#""2""#, r##""#2""##, r#""2.""#, r#""Option 2""#, r#""(2)""#, r#""2) Spaces""#] {
            check(&plain, second, Some("spaces"));
        }
        for second in [r#""2 (spaces)""#, r#""**2**""#, r#""2 - spaces.""#] {
            check(&plain, second, Some("spaces"));
        }
        for none in ["0", "3", "2.5", "-1", r#""12""#, r#""1. spaces""#, r#""2 of them""#, r#""1 or 2""#] {
            check(&plain, none, None);
        }
        check(&plain, r#""2-1""#, None);
        // The number could be the option.
        check(&["2 weeks", "1 week"], "2", None);
        check(&["2", "1"], r#""2""#, Some("2"));
        check(&["2", "1"], "2", Some("2"));
        check(&["第2案", "第1案"], "2", None);
    }

    #[test]
    fn confidence_is_a_fraction_or_a_percentage_and_stays_in_range() {
        let cases = [
            ("0.25", 0.25),
            ("80", 0.8),
            ("250", 1.0),
            ("-3", 0.0),
            ("\"85%\"", 0.85),
            ("\"0.4\"", 0.4),
            ("null", 0.5),
            ("\"very\"", 0.5),
        ];
        for (confidence, expected) in cases {
            let reply = format!(r#"{{"choice": "Java", "confidence": {confidence}}}"#);
            reads(&reply, Some(("Java", expected)));
        }
        reads(r#"{"choice": "Java"}"#, Some(("Java", 0.5)));
    }

    #[test]
    fn the_schema_offers_exactly_the_options() {
        let schema = Ballots::on(&owned(&["tabs", "spaces"])).schema().unwrap();
        assert_eq!(schema.pointer("/properties/choice/enum"), Some(&json!(["tabs", "spaces"])));
    }

    #[test]
    fn a_voter_is_told_what_was_wrong_with_its_ballot() {
        let reader = Ballots::on(&owned(&["tabs", "spaces"]));
        let check = |reply: &str, wrong: &'static str| {
            assert_eq!(reader.read(reply), Err(Misread::new(wrong)), "{reply}");
        };
        check("Tabs, I think.", "there is no JSON object with a choice in it");
        check(r#"{"choice": true}"#, "the choice is no text");
        check(r#"{"choice": 7}"#, r#"none of the options is "7""#);
        check(r#"{"choice": "both"}"#, r#"none of the options is "both""#);
    }

    #[test]
    fn a_voter_that_was_asked_for_lines_is_told_what_was_wrong_with_them() {
        let reader = Ballots::on(&owned(&["tabs", "spaces"]));
        let check = |reply: &str, wrong: &'static str| {
            let usual = reader.read(reply).unwrap_err();
            assert_eq!(reader.wrong_in_lines(reply, usual), Misread::new(wrong), "{reply}");
        };
        check("Tabs, I think.", "there is no line `Choice: …`");
        check("They adapt.\nChoice: both\nConfidence: 1", r#"none of the options is "both""#);
        check("Choice: tabs\nChoice: spaces", "the lines `Choice: …` contradict each other");
    }

    #[test]
    fn a_vote_that_is_never_readable_is_not_counted() {
        let reader = Ballots::on(&owned(&["a", "b"]));
        assert_eq!(
            reader.reminders().iter().map(|it| it.purpose).collect::<Vec<_>>(),
            ["remind1", "remind2"]
        );
        assert_eq!(reader.infer("I am for a"), None);
        assert_eq!(reader.give_up(), None);
    }

    #[track_caller]
    fn refuses(options: &[&str], expected: &[&str]) {
        let refusals = check(&owned(options));
        let messages: Vec<&str> = refusals.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expected);
        assert!(refusals.iter().all(|it| it.field == "votingOptions" && it.code == Code::InvalidRequest));
    }

    #[test]
    fn options_that_differ_only_in_case_or_quotes_are_refused() {
        let alike = |first: &str, again: &str| {
            let told = format!(
                "the options `{first}` and `{}` differ only in case or quotes; give each option once",
                again.trim()
            );
            refuses(&["other", first, again], &[&told]);
        };
        alike("go", "Go");
        alike("tabs", "\"tabs\"");
        alike("tabs", " 'TABS' ");
        alike("tabs", "„tabs“");
        alike("tabs", "“Tabs”");
        alike("tabs", "« tabs »");
        alike("can't", "can’t");
        alike("Straße", "STRAßE");
        alike("Straße", "STRASSE");
        alike("οδός", "ΟΔΌΣ");
        refuses(&["C", "C++", "C#", "c sharp"], &[]);
        refuses(&["a,b", "a, b"], &[]);
    }

    #[test]
    fn an_option_with_a_comma_or_quotes_is_read() {
        let options = owned(&["Postgres", "Postgres, managed", "the \"big\" one", "“SQLite”"]);
        let reader = Ballots::on(&options);
        let check = |choice: &str, expected: Option<&str>| {
            let reply = json!({ "choice": choice, "confidence": 0.8 }).to_string();
            assert_eq!(reader.read(&reply).ok().map(|it| it.choice).as_deref(), expected, "{choice}");
        };
        check("Postgres, managed", Some("Postgres, managed"));
        check("\"Postgres, managed\"", Some("Postgres, managed"));
        check("postgres", Some("Postgres"));
        check("Postgres, because it is known", Some("Postgres"));
        check("Postgres, managed: less work", Some("Postgres, managed"));
        check("Postgres, managed by us", None);
        check("the “big” one", Some("the \"big\" one"));
        check("SQLite", Some("“SQLite”"));
        let spoken = |reply: &str, expected: Option<&str>| {
            assert_eq!(reader.read(reply).ok().map(|it| it.choice).as_deref(), expected, "{reply}");
        };
        spoken("I vote for Postgres, managed.", Some("Postgres, managed"));
        spoken("I vote for \"Postgres, managed\", 80 % sure.", Some("Postgres, managed"));
        spoken("I vote for SQLite.", Some("“SQLite”"));
        let from_person = reader.read_from_person("postgres, managed\nless work").unwrap();
        assert_eq!(
            (from_person.choice.as_str(), from_person.reasoning.as_str()),
            ("Postgres, managed", "less work")
        );
    }

    #[test]
    fn b05_options_are_two_to_ten_named_and_different() {
        refuses(&["a", "b"], &[]);
        refuses(&[], &["a vote needs at least 2 options, not 0"]);
        refuses(&["a"], &["a vote needs at least 2 options, not 1"]);
        refuses(&["a", " "], &["an option is empty; give every option a name"]);
        refuses(&["a", "b", "a "], &["the option `a` is given twice; give each option once"]);
        let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
        refuses(&many, &["a vote has at most 10 options, not 11"]);
        refuses(&many[..10], &[]);
    }
}
