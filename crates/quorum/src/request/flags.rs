//! The flags of `ax discuss` as one table: each flag's name, the request field it fills, and the
//! form of its value. The command's messages and the `[defaults]` of the configuration both use it.

use std::{borrow::Cow, collections::BTreeMap};

use quorum_core::{
    registry::Registry,
    vocabulary::option::{Declared, Kind},
};
use serde_json::{Value, json};

use crate::request::Simulate;

/// A flag, by its long name without dashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// `min-providers`
    pub long: Cow<'static, str>,
    /// `minProviders`
    pub field: Cow<'static, str>,
    /// The form of its value.
    pub form: Form,
}

/// The form of a flag's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The value itself: a text, a number, yes or no.
    Plain,
    /// The negation of its field: `--stop-on-failure`.
    Opposite,
    /// `a,b,c`
    List,
    /// `a,b,"c, d"`
    QuotedList,
    /// `180s`, `3m`
    Duration,
    /// `claude=proponent,gemini=opponent`
    Roles,
    /// `claude=END|Speaker:,gemini=[`
    Stops,
    /// `claude=Be brief.`
    Prompt,
    /// `latency=200ms,dead=glm`
    Simulate,
}

const fn flag(long: &'static str, field: &'static str, form: Form) -> Flag {
    Flag { long: Cow::Borrowed(long), field: Cow::Borrowed(field), form }
}

/// The flags of every discussion.
const BUILT_IN: &[Flag] = &[
    flag("pattern", "pattern", Form::Plain),
    flag("providers", "providers", Form::List),
    flag("participants", "participants", Form::List),
    flag("task", "task", Form::Plain),
    flag("agent-weight", "agentWeight", Form::Plain),
    flag("rounds", "rounds", Form::Plain),
    flag("consensus", "consensus", Form::Plain),
    flag("no-dissent", "includeDissent", Form::Opposite),
    flag("options", "votingOptions", Form::QuotedList),
    flag("context", "context", Form::Plain),
    flag("provider-prompts", "providerPrompts", Form::Prompt),
    flag("roles", "roles", Form::Roles),
    flag("timeout", "providerTimeout", Form::Plain),
    flag("stop-on-failure", "continueOnProviderFailure", Form::Opposite),
    flag("min-providers", "minProviders", Form::Plain),
    flag("temperature", "temperature", Form::Plain),
    flag("max-tokens-per-turn", "maxTokensPerTurn", Form::Plain),
    flag("session", "sessionId", Form::Plain),
    flag("budget", "budgetMs", Form::Duration),
    flag("min-synthesis", "minSynthesisMs", Form::Duration),
    flag("max-calls", "maxCalls", Form::Plain),
    flag("max-tokens", "maxTokens", Form::Plain),
    flag("max-cost", "maxCost", Form::Plain),
    flag("allow-unpriced", "allowUnpriced", Form::Plain),
    flag("recursive", "recursive", Form::Plain),
    flag("max-depth", "maxDepth", Form::Plain),
    flag("timeout-strategy", "timeoutStrategy", Form::Plain),
    flag("early-exit", "earlyExit", Form::Plain),
    flag("confidence-threshold", "confidenceThreshold", Form::Plain),
    flag("window-strategy", "windowStrategy", Form::Plain),
    flag("window-overflow", "windowOverflow", Form::Plain),
    flag("show-names", "showNames", Form::Plain),
    flag("recall", "recall", Form::Plain),
    flag("offline", "offline", Form::Plain),
    flag("seed", "seed", Form::Plain),
    flag("simulate", "simulate", Form::Simulate),
];

/// A flag that is about output, and no part of a request.
#[derive(Debug, Clone, Copy)]
pub struct Showing {
    /// `output-format`
    pub long: &'static str,
    /// Its values.
    pub kind: ShowingKind,
}

/// The values of an output flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowingKind {
    /// Yes or no.
    YesNo,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// A number from 0 to 1.
    Share,
}

/// The output flags that may be set in the configuration.
pub const SHOWING: &[Showing] = &[
    Showing { long: "verbose", kind: ShowingKind::YesNo },
    Showing { long: "quiet", kind: ShowingKind::YesNo },
    Showing { long: "usage", kind: ShowingKind::YesNo },
    Showing { long: "sources", kind: ShowingKind::YesNo },
    Showing { long: "require-consensus", kind: ShowingKind::YesNo },
    Showing { long: "require-support", kind: ShowingKind::Share },
    Showing { long: "output-format", kind: ShowingKind::OneOf(&["text", "md", "json", "jsonl"]) },
];

impl Showing {
    /// Reads the value as written in the configuration.
    pub fn read(&self, written: &toml::Value) -> Result<Value, String> {
        let share = written.as_float().or_else(|| written.as_integer().map(|it| it as f64));
        match (self.kind, written) {
            (ShowingKind::YesNo, toml::Value::Boolean(yes)) => Ok(Value::Bool(*yes)),
            (ShowingKind::YesNo, other) => Err(format!("must be true or false, not {other}")),
            (ShowingKind::OneOf(values), toml::Value::String(text)) if values.contains(&text.as_str()) => {
                Ok(json!(text))
            }
            (ShowingKind::OneOf(values), other) => {
                Err(format!("must be one of {}, not {other}", values.join(", ")))
            }
            (ShowingKind::Share, other) => match share.filter(|it| (0.0..=1.0).contains(it)) {
                Some(share) => Ok(json!(share)),
                None => Err(format!("must be a number from 0 to 1, not {other}")),
            },
        }
    }
}

/// Fields of a request that have no flag.
const WITHOUT_FLAG: &[&str] = &["topic", "preset", "follows"];

/// Every flag: those of every discussion, then one for each declared option.
#[must_use]
pub fn all(registry: &Registry) -> Vec<Flag> {
    let declared = registry.options().into_iter().filter(|it| it.on_surfaces).map(Flag::of);
    BUILT_IN.iter().cloned().chain(declared).collect()
}

/// The flag that fills this field.
#[must_use]
pub fn filling(registry: &Registry, field: &str) -> Option<Flag> {
    all(registry).into_iter().find(|flag| flag.field == field)
}

/// Every field of a request.
pub(crate) fn fields(registry: &Registry) -> Vec<String> {
    let built_in = BUILT_IN.iter().map(|it| it.field.to_string());
    let declared = registry.options().into_iter().map(|it| it.name.to_owned());
    WITHOUT_FLAG.iter().map(|it| (*it).to_owned()).chain(built_in).chain(declared).collect()
}

/// The names that no option may have.
#[must_use]
pub fn reserved() -> Vec<&'static str> {
    let fields = BUILT_IN.iter().filter_map(|it| match &it.field {
        Cow::Borrowed(field) => Some(*field),
        Cow::Owned(_) => None,
    });
    WITHOUT_FLAG.iter().copied().chain(fields).chain(SHOWING.iter().map(|it| it.long)).collect()
}

impl Flag {
    /// The flag of this option. An option that is on by default is switched off by its flag.
    #[must_use]
    pub fn of(declared: &Declared) -> Flag {
        let (long, form) = match declared.kind {
            Kind::Flag { default: true } => (format!("no-{}", declared.flag()), Form::Opposite),
            Kind::Detectors | Kind::Seats { .. } => (declared.flag(), Form::List),
            Kind::TextsBySeat { .. } => (declared.flag(), Form::Stops),
            Kind::Flag { default: false }
            | Kind::Whole { .. }
            | Kind::Number { .. }
            | Kind::Text { .. }
            | Kind::Choice { .. }
            | Kind::Seat { .. }
            | Kind::Texts { .. }
            | Kind::Embedder
            | Kind::Rows { .. } => (declared.flag(), Form::Plain),
        };
        Flag { long: long.into(), field: declared.name.into(), form }
    }
}

impl Flag {
    /// Converts a value written for this flag to that of its field.
    pub fn read(&self, written: Value) -> Result<Value, String> {
        match (self.form, written) {
            (Form::Opposite, Value::Bool(yes)) => Ok(Value::Bool(!yes)),
            (Form::Opposite, other) => Err(format!("must be true or false, not {other}")),
            (Form::List, Value::String(text)) => Ok(json!(list(&text))),
            (Form::QuotedList, Value::String(text)) => quoted_list(&text).map(|list| json!(list)),
            (Form::Duration, Value::String(text)) => duration(&text).map(Value::from),
            (Form::Duration, other) => Err(format!("must be a time like \"180s\" or \"3m\", not {other}")),
            (Form::Roles, Value::String(text)) => roles(&text).map(|roles| json!(roles)),
            (Form::Stops, Value::String(text)) => stops(&text).map(|stops| json!(stops)),
            (Form::Prompt, Value::String(text)) => prompt(&text).map(|(who, text)| json!({ who: text })),
            (Form::Simulate, Value::String(text)) => simulate(&text).map(|it| json!(it)),
            (
                Form::Plain
                | Form::List
                | Form::QuotedList
                | Form::Roles
                | Form::Stops
                | Form::Prompt
                | Form::Simulate,
                other,
            ) => Ok(other),
        }
    }
}

/// Parses `a, b` as a list.
#[must_use]
pub fn list(text: &str) -> Vec<String> {
    text.split(',').map(|item| item.trim().to_owned()).collect()
}

/// Parses `a, b, "c, d"` as a list. What stands in double quotes is one item, whatever it contains;
/// two double quotes in it are one.
pub fn quoted_list(text: &str) -> Result<Vec<String>, String> {
    let mut items = Vec::new();
    let mut rest = text.trim();
    loop {
        let (item, tail) = match rest.strip_prefix('"') {
            Some(quoted) => in_quotes(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim().to_owned(), &rest[end..])
            }
        };
        items.push(item);
        let Some(tail) = tail.strip_prefix(',') else { return Ok(items) };
        rest = tail.trim_start();
    }
}

/// The options of a vote from the values of a flag. A single value is a list; of several, each is
/// one option, commas and all, and may stand in double quotes.
pub fn options(given: &[String]) -> Result<Vec<String>, String> {
    let single = |value: &String| match quoted_list(value) {
        Ok(items) if items.len() == 1 => items.into_iter().next().unwrap_or_default(),
        _ => value.trim().to_owned(),
    };
    match given {
        [list] => quoted_list(list),
        several => Ok(several.iter().map(single).collect()),
    }
}

/// The text up to the closing quote, and what comes after it: nothing, or a comma.
fn in_quotes(text: &str) -> Result<(String, &str), String> {
    let mut item = String::new();
    let mut rest = text;
    loop {
        let (before, after) =
            rest.split_once('"').ok_or_else(|| format!("has a quote that is not closed: \"{text}"))?;
        item.push_str(before);
        match after.strip_prefix('"') {
            Some(tail) => {
                item.push('"');
                rest = tail;
            }
            None if after.trim_start().is_empty() || after.trim_start().starts_with(',') => {
                return Ok((item.trim().to_owned(), after.trim_start()));
            }
            None => return Err(format!("needs a comma after the quotes around \"{item}\"")),
        }
    }
}

/// Parses `3m`, `180s`, `1m30s` or `500ms`; the result is in milliseconds.
pub fn duration(text: &str) -> Result<u64, String> {
    let wrong = || format!("must be a time like 180s, 3m, 1m30s or 500ms, not {text:?}");
    let mut total: u64 = 0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|it: char| it.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let part = number.checked_mul(milliseconds(unit).ok_or_else(wrong)?);
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        rest = tail;
    }
    Ok(total)
}

fn milliseconds(unit: &str) -> Option<u64> {
    match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" | "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    }
}

/// Parses `claude=proponent,gemini=opponent`; the result is by participant.
pub fn roles(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut roles = BTreeMap::new();
    for pair in list(text) {
        let (who, role) = pair
            .split_once('=')
            .ok_or_else(|| format!("has the form PARTICIPANT=ROLE,PARTICIPANT=ROLE; {pair:?} lacks the ="))?;
        if roles.insert(who.trim().to_owned(), role.trim().to_owned()).is_some() {
            return Err(format!("gives {} two roles; give one", who.trim()));
        }
    }
    Ok(roles)
}

/// Parses `claude=Be brief.`: a participant and its instructions.
pub fn prompt(text: &str) -> Result<(String, String), String> {
    let (who, prompt) =
        text.split_once('=').ok_or_else(|| format!("has the form PARTICIPANT=TEXT; {text:?} lacks the ="))?;
    Ok((who.trim().to_owned(), prompt.trim().to_owned()))
}

/// Parses `claude=END|Speaker:,gemini=[`; the result is by participant. `\\n` is a line break.
pub fn stops(text: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut stops = BTreeMap::new();
    for pair in list(text) {
        let (who, sequences) = pair
            .split_once('=')
            .ok_or_else(|| format!("has the form claude=END|Speaker:,gemini=[; {pair:?} lacks the ="))?;
        let sequences = sequences.split('|').map(|it| it.replace("\\n", "\n")).collect();
        if stops.insert(who.trim().to_owned(), sequences).is_some() {
            return Err(format!("names {} twice; put | between its sequences", who.trim()));
        }
    }
    Ok(stops)
}

/// Parses `latency=200ms,failure=0.1,stubbornness=0.5,dead=glm`.
pub fn simulate(text: &str) -> Result<Simulate, String> {
    let mut simulate = Simulate::default();
    for pair in list(text) {
        let number = |value: &str| value.parse::<f64>().map_err(|_| format!("{pair}: not a number"));
        match pair.split_once('=') {
            Some(("latency", value)) => simulate.latency_ms = Some(duration(value)?),
            Some(("failure", value)) => simulate.failure = Some(number(value)?),
            Some(("stubbornness", value)) => simulate.stubbornness = Some(number(value)?),
            Some(("dead", value)) => simulate.dead.push(value.to_owned()),
            _ => {
                return Err(format!(
                    "takes latency=200ms, failure=0.1, stubbornness=0.5 and dead=NAME, separated by commas, not {pair:?}"
                ));
            }
        }
    }
    Ok(simulate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    #[test]
    fn times_are_written_with_their_unit() {
        for (text, expected) in [("180s", 180_000), ("3m", 180_000), ("1m30s", 90_000), ("500ms", 500)] {
            assert_eq!(duration(text), Ok(expected), "{text}");
        }
        for text in ["", "180", "s", "3 minutes", "-3s", "1.5m", "99999999999999999999s", "9999999999999999h"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn roles_are_pairs() {
        let expected = [("claude", "proponent"), ("gemini", "judge")];
        let expected = expected.map(|(who, role)| (who.to_owned(), role.to_owned())).into();
        assert_eq!(roles("claude=proponent, gemini = judge"), Ok(expected));
        assert!(roles("claude").unwrap_err().contains("lacks the ="));
        assert!(roles("claude=judge,claude=opponent").unwrap_err().contains("two roles"));
    }

    #[test]
    fn an_item_in_quotes_may_contain_a_comma() {
        let check = |text: &str, expected: &[&str]| {
            let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(quoted_list(text), Ok(expected), "{text}");
        };
        check("a, b", &["a", "b"]);
        check(r#"a,b,"c, d""#, &["a", "b", "c, d"]);
        check(r#" "c, d" , a"#, &["c, d", "a"]);
        check(r#""say ""yes"", twice",no"#, &[r#"say "yes", twice"#, "no"]);
        check(r#"3" disk,5" disk"#, &[r#"3" disk"#, r#"5" disk"#]);
        check("a,,b,", &["a", "", "b", ""]);
        check("", &[""]);
        let refuses = |text: &str, wrong: &str| assert_eq!(quoted_list(text), Err(wrong.to_owned()));
        refuses(r#"a,"b, c"#, r#"has a quote that is not closed: "b, c"#);
        refuses(r#""a" b,c"#, r#"needs a comma after the quotes around "a""#);
    }

    #[test]
    fn an_option_may_contain_a_comma() {
        let check = |given: &[&str], expected: &[&str]| {
            let owned = |them: &[&str]| them.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
            assert_eq!(options(&owned(given)), Ok(owned(expected)), "{given:?}");
        };
        check(&["Postgres, managed", "SQLite"], &["Postgres, managed", "SQLite"]);
        check(&[r#""Postgres, managed""#, "SQLite"], &["Postgres, managed", "SQLite"]);
        check(&[r#"a,b,"c, d""#], &["a", "b", "c, d"]);
        check(&["Postgres, managed"], &["Postgres", "managed"]);
        check(&["a,b", "c"], &["a,b", "c"]);
        check(&[r#"3" disk"#, r#""unclosed"#], &[r#"3" disk"#, r#""unclosed"#]);
    }

    #[test]
    fn configured_options_are_a_list_or_an_array_taken_as_it_is() {
        let options = flag("options", "votingOptions", Form::QuotedList);
        assert_eq!(options.read(json!("a, \"b, c\"")), Ok(json!(["a", "b, c"])));
        assert_eq!(options.read(json!(["a, b", "\"c\""])), Ok(json!(["a, b", "\"c\""])));
        assert!(options.read(json!("a, \"b")).is_err());
    }

    #[test]
    fn c03_stop_sequences_are_pairs() {
        let expected = [("claude", vec!["END", "\n\n"]), ("gemini", vec!["["])];
        let owned = |it: Vec<&str>| it.into_iter().map(str::to_owned).collect();
        let expected = expected.map(|(who, stops)| (who.to_owned(), owned(stops))).into();
        assert_eq!(stops(r"claude=END|\n\n, gemini=["), Ok(expected));
        assert!(stops("END").unwrap_err().contains("lacks the ="));
        assert!(stops("claude=a,claude=b").unwrap_err().contains("claude twice"));
    }

    #[test]
    fn simulated_voices_are_described_in_pairs() {
        let expected = Simulate {
            latency_ms: Some(200),
            failure: Some(0.1),
            stubbornness: Some(0.5),
            dead: vec!["glm".to_owned(), "qwen".to_owned()],
        };
        assert_eq!(simulate("latency=200ms,failure=0.1,stubbornness=0.5,dead=glm,dead=qwen"), Ok(expected));
        assert!(simulate("speed=3").unwrap_err().contains("latency=200ms"));
    }

    #[test]
    fn every_flag_fills_a_field_there_is() {
        let registry = quorum_patterns::registry();
        for flag in BUILT_IN {
            let request = serde_json::from_value::<Request>(json!({ "topic": "", (&*flag.field): {} }));
            let settings = request.map(|it| it.settings).unwrap_or_default();
            assert!(settings.is_empty(), "{} is not a field of a request", flag.field);
        }
        let declared = registry.options();
        assert_eq!(all(&registry).len(), BUILT_IN.len() + declared.len());
    }

    #[test]
    fn an_option_that_is_on_by_default_is_switched_off_by_its_flag() {
        let registry = quorum_patterns::registry();
        let flag = filling(&registry, "requireBothConsensus").unwrap();
        assert_eq!((&*flag.long, flag.form), ("no-require-both-consensus", Form::Opposite));
    }
}
