//! `[providers.NAME]`: the user's provider settings, checked before any call is made.

use std::collections::BTreeMap;

use quorum_core::model::money::Price;
use quorum_providers::{
    catalog,
    command::DIALECTS,
    prices::Dollars,
    setup::{
        ModelOverrides, Overrides, QuirkOverrides,
        address::{Plain, checked},
    },
    wire::WIRES,
};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{Config, EffectiveValue, Mistake, Mistakes, Origin, unknown};
use crate::Remedy;

const KEYS: [&str; 19] = [
    "wire",
    "base_url",
    "insecure",
    "model",
    "key_env",
    "window",
    "price",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "strengths",
    "first_token_ms",
    "idle_ms",
    "quirks",
    "command",
    "dialect",
    "environment",
    "models",
    "key",
];

/// Reads all provider tables.
pub(super) fn read(config: &mut Config, table: &Table) -> Result<(), Mistakes> {
    for (name, value) in table {
        let row =
            value.as_table().ok_or_else(|| format!("providers.{name} is a section: [providers.{name}]"))?;
        let in_row = |it: Mistake| Mistake { message: format!("providers.{name}{}", it.message), ..it };
        let own = overrides(name, row).map_err(|wrong| Mistakes(wrong.into_iter().map(in_row).collect()))?;
        if config.providers.iter().any(|it| it.name == own.name) {
            let message = format!("providers.{name} is configured twice: it is an alias of {}", own.name);
            return Err(message.into());
        }
        config.providers.push(own);
        config.rows.insert(name.clone(), value.clone());
    }
    Ok(())
}

impl Config {
    /// The provider settings for display. Of a command only the program is shown: its arguments may
    /// contain anything.
    pub(super) fn written_of_providers(&self) -> impl Iterator<Item = EffectiveValue> {
        let rows =
            self.rows.iter().filter_map(|(name, row)| Some((format!("providers.{name}"), row.as_table()?)));
        rows.flat_map(|(section, row)| {
            row.iter().map(move |(key, value)| EffectiveValue {
                section: section.clone(),
                key: key.clone(),
                value: if key == "command" { program_alone(value) } else { value.clone() },
                origin: Origin::File(section.clone()),
            })
        })
    }
}

fn program_alone(command: &Value) -> Value {
    let all = command.as_array().map(Vec::as_slice).unwrap_or_default();
    let hidden = (all.len() > 1).then(|| Value::from("…"));
    Value::Array(all.iter().take(1).cloned().chain(hidden).collect())
}

/// Reads one provider's table, or returns all mistakes in it.
fn overrides(written: &str, row: &Table) -> Result<Overrides, Vec<Mistake>> {
    let known = catalog::row(written);
    let name = known.map_or_else(|| written.to_owned(), |row| row.name.clone());
    is_name(&name).map_err(|wrong| vec![wrong.into()])?;
    let wrong: Vec<Mistake> =
        row.keys().filter_map(|key| fields(written, &name, &alone(row, key)).err()).collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let own = fields(written, &name, row).map_err(|wrong| vec![wrong])?;
    if known.is_none() { whole(own).map_err(|wrong| vec![wrong.into()]) } else { Ok(own) }
}

/// A table with only this key and the key that the others are interpreted by.
fn alone(row: &Table, key: &str) -> Table {
    let read_by = |it: &str| it == key || (key == "base_url" && it == "insecure");
    row.iter().filter(|(it, _)| read_by(it)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn fields(written: &str, name: &str, row: &Table) -> Result<Overrides, Mistake> {
    if let Some(key) = row.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let known = KEYS.into_iter().filter(|it| *it != "key");
        return Err(format!(": {}", unknown(&format!("key in [providers.{written}]"), key, known)).into());
    }
    if row.contains_key("key") {
        let message = ".key: keys don't belong in this file; name a variable with key_env".to_owned();
        return Err(Mistake { message, remedy: Some(Remedy::KeepKey { provider: name.to_owned() }) });
    }
    let plain = if field(row, "insecure", FLAG)? == Some(true) { Plain::Allowed } else { Plain::Refused };
    let base_url: Option<String> = field(row, "base_url", TEXT)?;
    let base_url = base_url.map(|it| checked(&it, plain).map_err(|wrong| format!(".base_url {wrong}")));
    Ok(Overrides {
        name: name.to_owned(),
        wire: one_of(row, "wire", "wire", &WIRES.iter().map(|it| it.name).collect::<Vec<_>>())?,
        base_url: base_url.transpose()?,
        insecure: plain == Plain::Allowed,
        model: word(row, "model")?,
        key_env: variables(row, "key_env")?,
        window: at_least_one(row, "window")?,
        price: price(row, ".price")?,
        concurrency: at_least_one(row, "concurrency")?,
        requests_per_minute: at_least_one(row, "requests_per_minute")?,
        tokens_per_minute: at_least_one(row, "tokens_per_minute")?,
        strengths: field(row, "strengths", "a list of texts, like [\"code\"]")?,
        first_token_ms: at_least_one(row, "first_token_ms")?,
        idle_ms: at_least_one(row, "idle_ms")?,
        quirks: quirks(row)?,
        command: command(row)?,
        dialect: one_of(row, "dialect", "dialect", &DIALECTS.iter().map(|it| it.name).collect::<Vec<_>>())?,
        environment: variables(row, "environment")?.unwrap_or_default(),
        models: models(row)?,
    })
}

/// Refuses an incomplete entry for a provider that is not built in.
fn whole(own: Overrides) -> Result<Overrides, String> {
    let lacks =
        [("wire", own.wire.is_none()), ("base_url", own.base_url.is_none()), ("model", own.model.is_none())];
    let lacks: Vec<&str> = lacks.into_iter().filter(|(_, it)| *it).map(|(key, _)| key).collect();
    if own.command.is_some() || lacks.is_empty() {
        return Ok(own);
    }
    let known = catalog::rows().iter().map(|row| row.name.as_str());
    let nearest =
        super::nearest(&own.name, known).map(|it| format!(" Did you mean {it}?")).unwrap_or_default();
    let (are, lacks) = (if lacks.len() == 1 { "is" } else { "are" }, lacks.join(" and "));
    Err(format!(
        ": a new provider needs wire, base_url and model, or a command; {lacks} {are} missing.{nearest}"
    ))
}

fn is_name(name: &str) -> Result<(), String> {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let begins = name.chars().next().is_some_and(|it| it.is_ascii_alphanumeric());
    let fits = begins && name.len() <= 32 && name.chars().all(plain);
    if fits { Ok(()) } else { Err(": a name is made of at most 32 letters, digits, and - _ .".to_owned()) }
}

const TEXT: &str = "a text";
const FLAG: &str = "true or false";

/// Reads the value of a key. An error does not repeat it: it may be a secret in the wrong place.
fn field<T: DeserializeOwned>(row: &Table, key: &str, wanted: &str) -> Result<Option<T>, String> {
    let Some(value) = row.get(key) else { return Ok(None) };
    value.clone().try_into().map(Some).map_err(|_| format!(".{key} is {wanted}"))
}

fn at_least_one<T: TryFrom<u64>>(row: &Table, key: &str) -> Result<Option<T>, String> {
    let wrong = || format!(".{key} is a whole number above 0");
    let Some(number) = field::<u64>(row, key, "a whole number above 0")? else { return Ok(None) };
    let number = Some(number).filter(|it| *it > 0).and_then(|it| T::try_from(it).ok());
    number.map(Some).ok_or_else(wrong)
}

fn word(row: &Table, key: &str) -> Result<Option<String>, String> {
    let text: Option<String> = field(row, key, TEXT)?;
    let is_word = |it: &String| !it.is_empty() && !it.contains(char::is_whitespace);
    if text.as_ref().is_some_and(|it| !is_word(it)) { Err(format!(".{key} is one word")) } else { Ok(text) }
}

fn one_of(row: &Table, key: &str, what: &str, known: &[&str]) -> Result<Option<String>, String> {
    let text: Option<String> = field(row, key, TEXT)?;
    match text {
        Some(text) if !known.contains(&text.as_str()) => {
            Err(format!(".{key}: {}", unknown(what, &text, known.iter().copied())))
        }
        fine => Ok(fine),
    }
}

/// The names of environment variables, one or several.
fn variables(row: &Table, key: &str) -> Result<Option<Vec<String>>, String> {
    let names = match row.get(key) {
        None => return Ok(None),
        Some(Value::String(name)) => vec![name.clone()],
        Some(_) => field(row, key, "a variable's name, or a list of them")?.unwrap_or_default(),
    };
    let plain = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    if names.iter().any(|name: &String| name.is_empty() || !name.chars().all(plain)) {
        // Not repeated: it may be a key put here by mistake.
        return Err(format!(".{key} is the name of a variable, like MY_API_KEY, not a key"));
    }
    Ok(Some(names))
}

fn command(row: &Table) -> Result<Option<Vec<String>>, String> {
    let wanted = "a program and its arguments, like [\"prog\", \"--model\", \"{model}\"]";
    let command: Option<Vec<String>> = field(row, "command", wanted)?;
    match command {
        Some(command) if command.first().is_none_or(String::is_empty) => Err(format!(".command is {wanted}")),
        fine => Ok(fine),
    }
}

fn quirks(row: &Table) -> Result<QuirkOverrides, String> {
    let Some(table) = field::<Table>(row, "quirks", "a table, like { temperature = false }")? else {
        return Ok(QuirkOverrides::default());
    };
    let known = [
        "system",
        "temperature",
        "stop",
        "tools",
        "schema",
        "limit",
        "stream_options",
        "thinking",
        "unopened_thoughts",
        "effort",
        "cache_marks",
    ];
    known_only(&table, "quirks", &known)?;
    let in_quirks = |message: String| format!(".quirks{message}");
    let read = || -> Result<QuirkOverrides, String> {
        Ok(QuirkOverrides {
            system: field(&table, "system", FLAG)?,
            temperature: field(&table, "temperature", FLAG)?,
            stop: field(&table, "stop", FLAG)?,
            tools: field(&table, "tools", FLAG)?,
            schema: field(&table, "schema", "\"strict\", \"json\" or \"prompt\"")?,
            limit: field(&table, "limit", "\"max-tokens\" or \"max-completion-tokens\"")?,
            stream_options: field(&table, "stream_options", FLAG)?,
            thinking: field(&table, "thinking", "a number of tokens")?,
            unopened_thoughts: field(&table, "unopened_thoughts", FLAG)?,
            effort: field(&table, "effort", FLAG)?,
            cache_marks: field(&table, "cache_marks", "a number of tokens")?,
        })
    };
    read().map_err(in_quirks)
}

fn models(row: &Table) -> Result<BTreeMap<String, ModelOverrides>, String> {
    let wanted = "a table of models, like { \"name\" = { window = 8000 } }";
    let Some(table) = field::<Table>(row, "models", wanted)? else { return Ok(BTreeMap::new()) };
    let mut models = BTreeMap::new();
    for (name, value) in table {
        let place = format!("models.{name}");
        let facts =
            value.as_table().ok_or_else(|| format!(".{place} is a table, like {{ window = 8000 }}"))?;
        known_only(facts, &place, &["window", "price"])?;
        let window = at_least_one(facts, "window").map_err(|message| format!(".{place}{message}"))?;
        models.insert(name, ModelOverrides { window, price: price(facts, &format!(".{place}.price"))? });
    }
    Ok(models)
}

fn price(row: &Table, place: &str) -> Result<Option<Price>, String> {
    let Some(value) = row.get("price") else { return Ok(None) };
    let wanted = "is dollars for a million tokens, like { input = 3.0, output = 15.0, cached = 0.3 }";
    let table = value.as_table().ok_or_else(|| format!("{place} {wanted}"))?;
    known_only(table, place.trim_start_matches('.'), &["input", "output", "cached", "written"])?;
    let dollars = |key: &str| match table.get(key) {
        Some(Value::Integer(whole)) => Some(*whole as f64),
        Some(Value::Float(part)) => Some(*part),
        Some(_) => Some(f64::NAN),
        None => None,
    };
    let (Some(input), Some(output)) = (dollars("input"), dollars("output")) else {
        return Err(format!("{place} {wanted}; input and output are needed"));
    };
    let price = Dollars { input, output, cached: dollars("cached"), written: dollars("written") }.price();
    price.map(Some).ok_or_else(|| format!("{place} {wanted}; none of them below 0"))
}

fn known_only(table: &Table, place: &str, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!(": {}", unknown(&format!("key in {place}"), key, known.iter().copied()))),
        None => Ok(()),
    }
}
