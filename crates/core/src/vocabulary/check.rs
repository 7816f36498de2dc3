//! Whether a value is one that its option may have.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::option::{Kind, RowCell, RowCellKind};

/// What the value of an option may refer to.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The participants by name.
    pub seats: &'a [&'a str],
    /// The detectors by name.
    pub detectors: &'a [&'a str],
}

impl Kind {
    /// Says what is wrong with this value, if anything: a phrase that follows the option's name.
    #[must_use]
    pub fn complaint(&self, value: &Value, known: Known<'_>) -> Option<String> {
        match self {
            Kind::Flag { .. } => (!value.is_boolean()).then(|| format!("must be true or false, not {value}")),
            Kind::Whole { range, .. } => not_whole(value, range),
            Kind::Number { range, .. } => not_within(value, range),
            Kind::Text { longest, .. } => too_long(value, *longest),
            Kind::Choice { of, .. } => {
                let names: Vec<&str> = of.iter().map(|it| it.name).collect();
                not_among(value, &names)
            }
            Kind::Detectors => each(value, usize::MAX, |it| not_among(it, known.detectors)),
            Kind::Seat { .. } => not_seated(value, known.seats),
            Kind::Embedder => not_a_model(value),
            Kind::Rows { cells, most } => each(value, *most, |it| bad_row(it, cells, known.seats)),
            Kind::TextsBySeat { most, longest } => bad_texts(value, *most, *longest, known.seats),
        }
    }
}

fn not_whole(value: &Value, range: &RangeInclusive<u64>) -> Option<String> {
    let fits = value.as_u64().is_some_and(|it| range.contains(&it));
    let (least, most) = (range.start(), range.end());
    (!fits).then(|| format!("must be a whole number from {least} to {most}, not {value}"))
}

fn not_within(value: &Value, range: &RangeInclusive<f64>) -> Option<String> {
    let fits = value.as_f64().is_some_and(|it| range.contains(&it));
    let (least, most) = (range.start(), range.end());
    (!fits).then(|| format!("must be a number from {least} to {most}, not {value}"))
}

fn too_long(value: &Value, longest: usize) -> Option<String> {
    match value.as_str().map(|text| text.chars().count()) {
        None => Some(format!("must be a text, not {value}")),
        Some(length) if longest < length => {
            Some(format!("takes up to {longest} characters; there are {length}"))
        }
        Some(_) => None,
    }
}

fn not_among(value: &Value, names: &[&str]) -> Option<String> {
    let fits = value.as_str().is_some_and(|it| names.contains(&it));
    (!fits).then(|| format!("there is no {value}; there are {}", names.join(", ")))
}

fn not_seated(value: &Value, seats: &[&str]) -> Option<String> {
    match value.as_str() {
        None => Some(format!("must be a participant's name, not {value}")),
        Some(name) if !seats.contains(&name) => {
            Some(format!("{name} does not take part; there are {}", seats.join(", ")))
        }
        Some(_) => None,
    }
}

fn not_a_model(value: &Value) -> Option<String> {
    let is_named =
        |it: &str| it.split_once('/').is_some_and(|(one, other)| !one.is_empty() && !other.is_empty());
    let fits = value.as_str().is_some_and(is_named);
    (!fits).then(|| format!("has the form provider/model, unlike {value}"))
}

fn each(value: &Value, most: usize, complaint: impl Fn(&Value) -> Option<String>) -> Option<String> {
    let Some(values) = value.as_array() else { return Some(format!("must be a list, not {value}")) };
    if most < values.len() {
        return Some(format!("takes up to {most} entries; there are {}", values.len()));
    }
    values.iter().find_map(complaint)
}

fn bad_row(row: &Value, cells: &[RowCell], seats: &[&str]) -> Option<String> {
    let Some(row) = row.as_object() else { return Some(format!("has {row} where an object belongs")) };
    let names: Vec<&str> = cells.iter().map(|it| it.name).collect();
    if let Some(key) = row.keys().find(|key| !names.contains(&key.as_str())) {
        return Some(format!("has an unknown key {key:?}; a row has {}", names.join(", ")));
    }
    cells.iter().find_map(|cell| bad_cell(row, cell, seats))
}

fn bad_cell(row: &Map<String, Value>, cell: &RowCell, seats: &[&str]) -> Option<String> {
    let name = cell.name;
    let Some(value) = row.get(name) else {
        return cell.required.then(|| format!("has a row without {name}"));
    };
    let fits = match cell.kind {
        RowCellKind::Seat => return not_seated(value, seats),
        RowCellKind::Text => value.is_string(),
        RowCellKind::Texts => value.as_array().is_some_and(|it| it.iter().all(Value::is_string)),
    };
    (!fits).then(|| format!("has a row with the wrong kind of {name}: {value}"))
}

fn bad_texts(value: &Value, most: usize, longest: usize, seats: &[&str]) -> Option<String> {
    let Some(by_seat) = value.as_object() else {
        return Some(format!("must be an object by participant, not {value}"));
    };
    let fits = |it: &Value| it.as_str().is_some_and(|it| !it.is_empty() && it.chars().count() <= longest);
    by_seat.iter().find_map(|(seat, texts)| {
        let texts = texts.as_array().filter(|it| it.len() <= most && it.iter().all(fits));
        let wrong = || format!("takes for each participant up to {most} texts of 1 to {longest} characters");
        not_seated(&Value::from(seat.as_str()), seats).or_else(|| texts.is_none().then(wrong))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::option::Choice, *};

    const CELLS: &[RowCell] = &[
        RowCell { name: "participant", kind: RowCellKind::Seat, required: true },
        RowCell { name: "position", kind: RowCellKind::Text, required: true },
        RowCell { name: "reasons", kind: RowCellKind::Texts, required: false },
    ];

    #[track_caller]
    fn check(kind: &Kind, value: &Value, expected: Option<&str>) {
        let known = Known { seats: &["ann", "bob"], detectors: &["drift"] };
        assert_eq!(kind.complaint(value, known).as_deref(), expected, "{value}");
    }

    #[test]
    fn a_value_out_of_bounds_is_refused_in_a_phrase() {
        check(&Kind::Flag { default: false }, &json!(true), None);
        check(&Kind::Flag { default: false }, &json!("yes"), Some("must be true or false, not \"yes\""));
        let whole = Kind::Whole { range: 1..=10, default: None };
        check(&whole, &json!(10), None);
        check(&whole, &json!(11), Some("must be a whole number from 1 to 10, not 11"));
        check(&whole, &json!(1.5), Some("must be a whole number from 1 to 10, not 1.5"));
        let number = Kind::Number { range: 0.0..=1.0, default: Some(0.1) };
        check(&number, &json!(0.5), None);
        check(&number, &json!(2), Some("must be a number from 0 to 1, not 2"));
        let text = Kind::Text { longest: 3, hint: "TEXT" };
        check(&text, &json!("äöü"), None);
        check(&text, &json!("four"), Some("takes up to 3 characters; there are 4"));
        check(&Kind::Embedder, &json!("openai/small"), None);
        check(&Kind::Embedder, &json!("small"), Some("has the form provider/model, unlike \"small\""));
    }

    #[test]
    fn a_name_nobody_has_is_refused_with_those_there_are() {
        const OF: &[Choice] = &[Choice::new("swap", ""), Choice::new("end", "")];
        let choice = Kind::Choice { of: OF, default: None };
        check(&choice, &json!("end"), None);
        check(&choice, &json!("ask"), Some("there is no \"ask\"; there are swap, end"));
        check(&Kind::Seat { role: None }, &json!("cyd"), Some("cyd does not take part; there are ann, bob"));
        check(&Kind::Detectors, &json!(["drift"]), None);
        check(&Kind::Detectors, &json!(["boredom"]), Some("there is no \"boredom\"; there are drift"));
    }

    #[test]
    fn rows_are_checked_cell_by_cell() {
        let rows = Kind::Rows { cells: CELLS, most: 2 };
        check(&rows, &json!([{ "participant": "ann", "position": "yes", "reasons": ["so"] }]), None);
        check(&rows, &json!([{ "participant": "ann" }]), Some("has a row without position"));
        let stranger = "has an unknown key \"mood\"; a row has participant, position, reasons";
        check(&rows, &json!([{ "participant": "ann", "position": "", "mood": 1 }]), Some(stranger));
        check(&rows, &json!([{}, {}, {}]), Some("takes up to 2 entries; there are 3"));
    }

    #[test]
    fn texts_by_seat_are_for_those_at_the_table() {
        let stops = Kind::TextsBySeat { most: 1, longest: 3 };
        check(&stops, &json!({ "ann": ["END"] }), None);
        let wrong = "takes for each participant up to 1 texts of 1 to 3 characters";
        check(&stops, &json!({ "ann": ["END", "x"] }), Some(wrong));
        check(&stops, &json!({ "cyd": ["x"] }), Some("cyd does not take part; there are ann, bob"));
    }
}
