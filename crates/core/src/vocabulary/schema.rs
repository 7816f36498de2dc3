//! JSON schemas of options, for requests, tools and editors.

use serde_json::{Value, json};

use super::option::{Declared, Kind, LONGEST_CELL, MOST_CELL_TEXTS, MOST_SEATS, RowCell, RowCellKind};
use crate::model::participant::{LONGEST_NAME, NAME_PATTERN};

impl Declared {
    /// The schema of this option's value, given the names of the registered detectors.
    #[must_use]
    pub fn schema(&self, detectors: &[&str]) -> Value {
        let mut schema = match &self.kind {
            Kind::Flag { default } => json!({ "type": "boolean", "default": default }),
            Kind::Whole { range, default } => with_default(
                json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() }),
                default.map(Value::from),
            ),
            Kind::Number { range, default } => with_default(
                json!({ "type": "number", "minimum": range.start(), "maximum": range.end() }),
                default.map(Value::from),
            ),
            Kind::Text { longest, .. } => json!({ "type": "string", "maxLength": longest }),
            Kind::Choice { of, default } => {
                let names: Vec<&str> = of.iter().map(|it| it.name).collect();
                with_default(json!({ "type": "string", "enum": names }), default.map(Value::from))
            }
            Kind::Detectors => json!({
                "type": "array", "items": { "type": "string", "enum": detectors }, "maxItems": detectors.len(),
            }),
            Kind::Seat { .. } => seat(),
            Kind::Seats { .. } => json!({
                "type": "array", "items": seat(), "maxItems": MOST_SEATS, "uniqueItems": true,
            }),
            Kind::Texts { most, longest } => json!({
                "type": "array", "maxItems": most, "uniqueItems": true,
                "items": { "type": "string", "minLength": 1, "maxLength": longest, "pattern": "\\S" },
            }),
            Kind::Embedder => {
                json!({ "type": "string", "maxLength": LONGEST_NAME, "pattern": "^[^/]+/.+$" })
            }
            Kind::Rows { cells, most } => {
                json!({ "type": "array", "items": row(cells), "maxItems": most })
            }
            Kind::TextsBySeat { most, longest } => json!({
                "type": "object", "maxProperties": MOST_SEATS,
                "additionalProperties": {
                    "type": "array", "maxItems": most,
                    "items": { "type": "string", "minLength": 1, "maxLength": longest },
                },
            }),
        };
        schema["description"] = self.summary.into();
        schema
    }
}

fn with_default(mut schema: Value, default: Option<Value>) -> Value {
    if let Some(default) = default {
        schema["default"] = default;
    }
    schema
}

fn seat() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": NAME_PATTERN })
}

fn text() -> Value {
    json!({ "type": "string", "maxLength": LONGEST_CELL })
}

fn row(cells: &[RowCell]) -> Value {
    let property = |cell: &RowCell| {
        let schema = match cell.kind {
            RowCellKind::Seat => seat(),
            RowCellKind::Text => text(),
            RowCellKind::Texts => json!({ "type": "array", "items": text(), "maxItems": MOST_CELL_TEXTS }),
        };
        (cell.name.to_owned(), schema)
    };
    let properties: serde_json::Map<String, Value> = cells.iter().map(property).collect();
    let required: Vec<&str> = cells.iter().filter(|it| it.required).map(|it| it.name).collect();
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::option::{Declares, Opt},
        *,
    };

    #[test]
    fn an_option_has_the_schema_of_its_declaration() {
        const STABILITY: Opt<f64> = Opt::number("stability", "When to stop", 0.0..=1.0, 0.1);
        let expected = json!({
            "type": "number", "minimum": 0.0, "maximum": 1.0, "default": 0.1, "description": "When to stop",
        });
        assert_eq!(STABILITY.declared().schema(&[]), expected);
    }

    #[test]
    fn an_empty_judge_is_ruled_out_by_the_schema() {
        const JUDGE: Opt<Option<String>> = Opt::seat_in_role("judge", "Who judges", "judge");
        let seat = json!({ "type": "string", "minLength": 1, "maxLength": 128, "pattern": NAME_PATTERN });
        let mut expected = seat.clone();
        expected["description"] = "Who judges".into();
        assert_eq!(JUDGE.declared().schema(&[]), expected);
        let cell = RowCell { name: "participant", kind: RowCellKind::Seat, required: true };
        assert_eq!(row(&[cell])["properties"]["participant"], seat);
    }
}
