//! Checks values against the declarations of their options.

use std::{fmt::Display, ops::RangeInclusive};

use serde_json::{Map, Value};

use super::option::{Choice, Kind, LONGEST_CELL, MOST_CELL_TEXTS, MOST_SEATS, RowCell, RowCellKind};
use crate::model::{
    excerpt::in_short,
    participant::{is_name, not_a_participant},
};

/// The names that an option's value may refer to.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The participants' names; `None` if they are not known yet, so that any name is accepted.
    pub seats: Option<&'a [&'a str]>,
    /// The detectors' names.
    pub detectors: &'a [&'a str],
}

impl Kind {
    /// What is wrong with this value, if anything: a phrase that follows the option's name.
    #[must_use]
    pub fn complaint(&self, value: &Value, known: Known<'_>) -> Option<String> {
        self.mistyped(value).or_else(|| self.unfit(value, known))
    }

    /// What is wrong with the value's type, if anything. Needs no list of participants.
    #[must_use]
    pub fn mistyped(&self, value: &Value) -> Option<String> {
        let bounded =
            |what, least: &dyn Display, most: &dyn Display| format!("{what} from {least} to {most}");
        let (fits, wanted) = match self {
            Kind::Flag { .. } => (value.is_boolean(), "true or false".to_owned()),
            Kind::Whole { range, .. } => {
                let wanted = bounded("a whole number", range.start(), range.end());
                (value.is_u64() || value.is_i64(), wanted)
            }
            Kind::Number { range, .. } => {
                (value.is_number(), bounded("a number", range.start(), range.end()))
            }
            Kind::Text { .. } => (value.is_string(), "a text".to_owned()),
            Kind::Choice { of, .. } => (value.is_string(), format!("one of {}", names(of))),
            Kind::Detectors => (are_texts(value), "a list of names".to_owned()),
            Kind::Seat { .. } => (value.is_string(), "a participant's name".to_owned()),
            Kind::Seats { .. } => (are_texts(value), "a list of participants' names".to_owned()),
            Kind::Texts { .. } => (are_texts(value), "a list of texts".to_owned()),
            Kind::Embedder => (value.is_string(), "a text of the form provider/model".to_owned()),
            Kind::Rows { cells, .. } => return mistyped_rows(value, cells),
            Kind::TextsBySeat { .. } => return mistyped_texts(value),
        };
        (!fits).then(|| format!("must be {wanted}, not {}", in_short(value)))
    }

    /// What is wrong with a value of the right type, if anything.
    fn unfit(&self, value: &Value, known: Known<'_>) -> Option<String> {
        match self {
            Kind::Flag { .. } => None,
            Kind::Whole { range, .. } => {
                let fits = value.as_u64().is_some_and(|it| range.contains(&it));
                (!fits).then(|| out_of_range(range, value))
            }
            Kind::Number { range, .. } => {
                let number = value.as_f64()?;
                (!range.contains(&number)).then(|| out_of_range(range, number))
            }
            Kind::Text { longest, .. } => too_long(value, *longest),
            Kind::Choice { of, .. } => {
                let is_known = value.as_str().is_some_and(|it| of.iter().any(|choice| choice.name == it));
                (!is_known).then(|| format!("there is no {}; there are {}", in_short(value), names(of)))
            }
            Kind::Detectors => {
                let is_unknown = |it: &&Value| !it.as_str().is_some_and(|it| known.detectors.contains(&it));
                let unknown = value.as_array()?.iter().find(is_unknown)?;
                Some(format!("there is no {}; there are {}", in_short(unknown), known.detectors.join(", ")))
            }
            Kind::Seat { .. } => not_a_seat(value.as_str()?, known.seats),
            Kind::Seats { .. } => unfit_seats(value.as_array()?, known.seats),
            Kind::Texts { most, longest } => unfit_list(value.as_array()?, *most, *longest),
            Kind::Embedder => not_a_model(value),
            Kind::Rows { cells, most } => unfit_rows(value, cells, *most, known.seats),
            Kind::TextsBySeat { most, longest } => unfit_texts(value, *most, *longest, known.seats),
        }
    }
}

fn names(choices: &[Choice]) -> String {
    choices.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

fn are_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|it| it.iter().all(Value::is_string))
}

fn out_of_range<T: Display>(range: &RangeInclusive<T>, value: impl Display) -> String {
    format!("must be from {} to {}, not {value}", range.start(), range.end())
}

fn too_long(value: &Value, longest: usize) -> Option<String> {
    let length = value.as_str()?.chars().count();
    (longest < length).then(|| format!("may have at most {longest} characters; this has {length}"))
}

fn not_seated(name: &str, seats: Option<&[&str]>) -> Option<String> {
    let seats = seats?;
    (!seats.contains(&name)).then(|| not_a_participant(name, seats.iter().copied()))
}

/// Unlike a name that is not seated, a text that is not a name is wrong in any discussion.
fn not_a_seat(name: &str, seats: Option<&[&str]>) -> Option<String> {
    let wrong = not_seated(name, seats);
    if is_name(name) || (seats.is_some() && wrong.is_none()) {
        return wrong;
    }
    Some(format!("must be a participant's name, not {}", in_short(format_args!("{name:?}"))))
}

fn unfit_seats(names: &[Value], seats: Option<&[&str]>) -> Option<String> {
    if MOST_SEATS < names.len() {
        return Some(format!("takes up to {MOST_SEATS} names; there are {}", names.len()));
    }
    named_twice(names)
        .map(|twice| format!("names {} twice", in_short(twice)))
        .or_else(|| names.iter().filter_map(Value::as_str).find_map(|name| not_seated(name, seats)))
}

fn unfit_list(texts: &[Value], most: usize, longest: usize) -> Option<String> {
    if most < texts.len() {
        return Some(format!("takes up to {most} entries; there are {}", texts.len()));
    }
    if texts.iter().filter_map(Value::as_str).any(|it| it.trim().is_empty()) {
        return Some("has an empty entry".to_owned());
    }
    let twice = named_twice(texts).map(|twice| format!("has {} twice", in_short(twice)));
    twice.or_else(|| texts.iter().find_map(|it| too_long(it, longest)))
}

fn named_twice(values: &[Value]) -> Option<&Value> {
    let mut seen = std::collections::BTreeSet::new();
    values.iter().find(|it| !seen.insert(it.as_str().map(str::trim)))
}

fn not_a_model(value: &Value) -> Option<String> {
    let (provider, model) = value.as_str()?.split_once('/').unwrap_or_default();
    let is_named = !provider.is_empty() && !model.is_empty();
    (!is_named).then(|| format!("must have the form provider/model, not {}", in_short(value)))
}

fn mistyped_rows(value: &Value, cells: &[RowCell]) -> Option<String> {
    let Some(rows) = value.as_array() else {
        return Some(format!("must be a list, not {}", in_short(value)));
    };
    rows.iter().find_map(|row| match row.as_object() {
        None => Some(format!("has {} where an object belongs", in_short(row))),
        Some(row) => unknown_key(row, cells).or_else(|| cells.iter().find_map(|it| mistyped_cell(row, it))),
    })
}

fn unknown_key(row: &Map<String, Value>, cells: &[RowCell]) -> Option<String> {
    let names: Vec<&str> = cells.iter().map(|it| it.name).collect();
    let key = row.keys().find(|key| !names.contains(&key.as_str()))?;
    let key = in_short(format_args!("{key:?}"));
    Some(format!("has an unknown key {key}; a row has {}", names.join(", ")))
}

fn mistyped_cell(row: &Map<String, Value>, cell: &RowCell) -> Option<String> {
    let name = cell.name;
    let Some(value) = row.get(name) else {
        return cell.required.then(|| format!("has a row without {name}"));
    };
    let fits = match cell.kind {
        RowCellKind::Seat | RowCellKind::Text => value.is_string(),
        RowCellKind::Texts => are_texts(value),
    };
    (!fits).then(|| format!("has a row with {name} of the wrong type: {}", in_short(value)))
}

fn unfit_rows(value: &Value, cells: &[RowCell], most: usize, seats: Option<&[&str]>) -> Option<String> {
    let rows = value.as_array()?;
    if most < rows.len() {
        return Some(format!("takes up to {most} entries; there are {}", rows.len()));
    }
    if let Some(wrong) = rows.iter().find_map(|row| unfit_row(row, cells)) {
        return Some(wrong);
    }
    let names = cells.iter().filter(|it| it.kind == RowCellKind::Seat).map(|it| it.name);
    let mut named = names.flat_map(|cell| rows.iter().filter_map(move |row| row.get(cell)?.as_str()));
    named.find_map(|name| not_a_seat(name, seats))
}

/// Complains about a cell that holds more than anybody would read.
fn unfit_row(row: &Value, cells: &[RowCell]) -> Option<String> {
    let seat = cells.iter().find(|it| it.kind == RowCellKind::Seat).and_then(|it| row.get(it.name)?.as_str());
    let of = seat.map(|it| format!(" of {}", in_short(it))).unwrap_or_default();
    let too_long = |it: &Value| it.as_str().map(|it| it.chars().count()).filter(|it| LONGEST_CELL < *it);
    cells.iter().find_map(|RowCell { name, .. }| {
        let value = row.get(name)?;
        let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if MOST_CELL_TEXTS < texts.len() {
            let count = texts.len();
            return Some(format!("has {count} entries as {name}{of}; at most {MOST_CELL_TEXTS} are allowed"));
        }
        let length = texts.iter().find_map(too_long)?;
        Some(format!("has {length} characters as {name}{of}; at most {LONGEST_CELL} are allowed"))
    })
}

fn mistyped_texts(value: &Value) -> Option<String> {
    let Some(by_seat) = value.as_object() else {
        return Some(format!("must be an object by participant, not {}", in_short(value)));
    };
    let (seat, texts) = by_seat.iter().find(|(_, texts)| !are_texts(texts))?;
    Some(format!("has {} for {} where a list of texts belongs", in_short(texts), in_short(seat)))
}

fn unfit_texts(value: &Value, most: usize, longest: usize, seats: Option<&[&str]>) -> Option<String> {
    let fits = |it: &Value| it.as_str().is_some_and(|it| (1..=longest).contains(&it.chars().count()));
    let count = value.as_object()?.len();
    if MOST_SEATS < count {
        return Some(format!("is for {count} participants; at most {MOST_SEATS} are allowed"));
    }
    value.as_object()?.iter().find_map(|(seat, texts)| {
        let fit = texts.as_array().is_some_and(|it| it.len() <= most && it.iter().all(fits));
        let wrong = || {
            let seat = in_short(seat);
            format!("takes up to {most} texts of 1 to {longest} characters; those for {seat} don't fit")
        };
        not_seated(seat, seats).or_else(|| (!fit).then(wrong))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CELLS: &[RowCell] = &[
        RowCell { name: "participant", kind: RowCellKind::Seat, required: true },
        RowCell { name: "position", kind: RowCellKind::Text, required: true },
        RowCell { name: "reasons", kind: RowCellKind::Texts, required: false },
    ];

    const OF: &[Choice] = &[Choice::new("swap", ""), Choice::new("end", "")];

    #[track_caller]
    fn check(kind: &Kind, value: &Value, expected: Option<&str>) {
        let known = Known { seats: Some(&["ann", "bob"]), detectors: &["drift"] };
        assert_eq!(kind.complaint(value, known).as_deref(), expected, "{value}");
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused_with_what_belongs_there() {
        check(&Kind::Flag { default: false }, &json!(true), None);
        check(&Kind::Flag { default: false }, &json!("yes"), Some("must be true or false, not \"yes\""));
        let whole = Kind::Whole { range: 1..=10, default: None };
        check(&whole, &json!(1.5), Some("must be a whole number from 1 to 10, not 1.5"));
        let number = Kind::Number { range: 0.0..=1.0, default: Some(0.1) };
        check(&number, &json!("x"), Some("must be a number from 0 to 1, not \"x\""));
        check(&number, &json!(null), Some("must be a number from 0 to 1, not null"));
        check(&Kind::Text { longest: 3, hint: "TEXT" }, &json!(5), Some("must be a text, not 5"));
        check(&Kind::Choice { of: OF, default: None }, &json!(5), Some("must be one of swap, end, not 5"));
        check(&Kind::Detectors, &json!("drift"), Some("must be a list of names, not \"drift\""));
        check(&Kind::Detectors, &json!([5]), Some("must be a list of names, not [5]"));
        let seats = Kind::Seats { role: None };
        check(&seats, &json!("ann"), Some("must be a list of participants' names, not \"ann\""));
        let texts = Kind::Texts { most: 2, longest: 3 };
        check(&texts, &json!("abc"), Some("must be a list of texts, not \"abc\""));
        check(&Kind::Seat { role: None }, &json!(5), Some("must be a participant's name, not 5"));
        check(&Kind::Embedder, &json!(5), Some("must be a text of the form provider/model, not 5"));
    }

    #[test]
    fn a_value_out_of_bounds_is_refused_in_a_phrase() {
        let whole = Kind::Whole { range: 1..=10, default: None };
        check(&whole, &json!(10), None);
        check(&whole, &json!(11), Some("must be from 1 to 10, not 11"));
        check(&whole, &json!(-1), Some("must be from 1 to 10, not -1"));
        let number = Kind::Number { range: 0.0..=1.0, default: Some(0.1) };
        check(&number, &json!(0.5), None);
        check(&number, &json!(1), None);
        check(&number, &json!(1.5), Some("must be from 0 to 1, not 1.5"));
        check(&number, &json!(2.0), Some("must be from 0 to 1, not 2"));
        let text = Kind::Text { longest: 3, hint: "TEXT" };
        check(&text, &json!("äöü"), None);
        check(&text, &json!("four"), Some("may have at most 3 characters; this has 4"));
        check(&Kind::Embedder, &json!("openai/small"), None);
        check(&Kind::Embedder, &json!("small"), Some("must have the form provider/model, not \"small\""));
        check(&Kind::Embedder, &json!("openai/"), Some("must have the form provider/model, not \"openai/\""));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let choice = Kind::Choice { of: OF, default: None };
        check(&choice, &json!("end"), None);
        check(&choice, &json!("ask"), Some("there is no \"ask\"; there are swap, end"));
        check(
            &Kind::Seat { role: None },
            &json!("cyd"),
            Some("cyd does not take part; the participants are ann, bob"),
        );
        let seats = Kind::Seats { role: Some("judge") };
        check(&seats, &json!(["ann", "bob"]), None);
        check(&seats, &json!(["ann", "cyd"]), Some("cyd does not take part; the participants are ann, bob"));
        check(&seats, &json!(["ann", "ann"]), Some("names \"ann\" twice"));
        let texts = Kind::Texts { most: 2, longest: 3 };
        check(&texts, &json!(["abc", "d"]), None);
        check(&texts, &json!(["a", "b", "c"]), Some("takes up to 2 entries; there are 3"));
        check(&texts, &json!(["a", " "]), Some("has an empty entry"));
        check(&texts, &json!(["a", "a "]), Some("has \"a \" twice"));
        check(&texts, &json!(["abcd"]), Some("may have at most 3 characters; this has 4"));
        check(&Kind::Detectors, &json!(["drift"]), None);
        check(&Kind::Detectors, &json!(["boredom"]), Some("there is no \"boredom\"; there are drift"));
    }

    #[test]
    fn a_text_that_is_no_name_is_refused_as_a_seat_in_any_discussion() {
        let seat = Kind::Seat { role: None };
        let rows = Kind::Rows { cells: CELLS, most: 2 };
        for (text, shown) in [("", "\"\""), (" ann", "\" ann\""), ("!", "\"!\""), ("ann/", "\"ann/\"")] {
            let wrong = format!("must be a participant's name, not {shown}");
            let row = json!([{ "participant": text, "position": "" }]);
            for seats in [None, Some(&["ann", "bob"][..])] {
                let known = Known { seats, detectors: &[] };
                assert_eq!(seat.complaint(&json!(text), known), Some(wrong.clone()));
                assert_eq!(rows.complaint(&row, known), Some(wrong.clone()));
            }
        }
        // A program may seat its participants under any names.
        let known = Known { seats: Some(&["Ann B."]), detectors: &[] };
        assert_eq!(seat.complaint(&json!("Ann B."), known), None);
    }

    #[test]
    fn rows_are_checked_cell_by_cell() {
        let rows = Kind::Rows { cells: CELLS, most: 2 };
        check(&rows, &json!([{ "participant": "ann", "position": "yes", "reasons": ["so"] }]), None);
        check(&rows, &json!({}), Some("must be a list, not {}"));
        check(&rows, &json!([["ann", "yes"]]), Some("has [\"ann\",\"yes\"] where an object belongs"));
        check(&rows, &json!([{ "participant": "ann" }]), Some("has a row without position"));
        let stranger = "has an unknown key \"mood\"; a row has participant, position, reasons";
        check(&rows, &json!([{ "participant": "ann", "position": "", "mood": 1 }]), Some(stranger));
        let reasons = "has a row with reasons of the wrong type: [1]";
        check(&rows, &json!([{ "participant": "ann", "position": "", "reasons": [1] }]), Some(reasons));
        let cyd = json!({ "participant": "cyd", "position": "" });
        check(&rows, &json!([cyd]), Some("cyd does not take part; the participants are ann, bob"));
        check(&rows, &json!([cyd, cyd, cyd]), Some("takes up to 2 entries; there are 3"));
    }

    #[test]
    fn texts_by_seat_are_only_for_participants() {
        let stops = Kind::TextsBySeat { most: 1, longest: 3 };
        check(&stops, &json!({ "ann": ["END"], "bob": [] }), None);
        let wrong = "takes up to 1 texts of 1 to 3 characters; those for ann don't fit";
        check(&stops, &json!({ "ann": ["END", "x"] }), Some(wrong));
        check(&stops, &json!({ "ann": [""] }), Some(wrong));
        check(&stops, &json!({ "ann": "END" }), Some("has \"END\" for ann where a list of texts belongs"));
        check(&stops, &json!(["END"]), Some("must be an object by participant, not [\"END\"]"));
        check(
            &stops,
            &json!({ "cyd": ["x"] }),
            Some("cyd does not take part; the participants are ann, bob"),
        );
    }
}
