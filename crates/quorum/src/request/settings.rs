//! The options that patterns, methods and strategies declare: checks them for a spec, and keeps
//! those that still apply when an order is changed.

use std::collections::BTreeMap;

use quorum_core::{
    model::{
        error::Code,
        excerpt::in_short,
        participant::{Participant, Role},
        settings::Settings,
    },
    registry::Registry,
    vocabulary::{
        check::Known,
        option::{Declared, Kind, RowCellKind},
    },
};
use serde_json::{Map, Value};

use crate::{
    Complaint,
    config::nearest,
    request::{Request, bounds::Complaints, flags, limits::MOST_COMPLAINTS, seats::place_of},
};

/// The pattern, method and strategy, which decide which options apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen<'c> {
    pub(super) pattern: &'c str,
    pub(super) method: &'c str,
    pub(super) strategy: &'c str,
}

impl Chosen<'_> {
    /// The options that apply.
    pub(super) fn options(self, registry: &Registry) -> Vec<&'static Declared> {
        registry.options_for(self.pattern, self.method, self.strategy)
    }
}

/// Why these fields may not give a number of rounds, by their pattern and its options.
pub(crate) fn refused_rounds(fields: &Map<String, Value>, registry: &Registry) -> Option<String> {
    let first = || registry.patterns().first().map(|it| it.name);
    let pattern = registry.pattern(fields.get("pattern").and_then(Value::as_str).or_else(first)?)?;
    let options = registry.options().into_iter();
    let given = options.filter_map(|it| Some((it.name, fields.get(it.name)?.clone())));
    let settings = given.fold(Settings::default(), |settings, (name, value)| settings.with(name, value));
    (pattern.refuses_rounds)(&settings)
}

/// The given options, with participants under the names of their seats.
pub(super) fn settings(
    request: &Request,
    registry: &Registry,
    seats: &[Participant],
    wrong: &mut Complaints,
) -> Settings {
    let names: Vec<&str> = seats.iter().map(|it| it.name.as_str()).collect();
    let detectors: Vec<&str> = registry.detectors().iter().map(|it| it.name).collect();
    let known = Known { seats: Some(&names), detectors: &detectors };
    let mut settings = Settings::default();
    let mut unknown = 0;
    for (name, written) in &request.settings {
        let Some(declared) = registry.option(name) else {
            unknown += 1;
            wrong.add(&in_short(name), no_such_field(registry, name, unknown));
            continue;
        };
        let Some(value) = trimmed(&declared.kind, written.clone()) else { continue };
        let value = seated(&declared.kind, value, seats);
        if let Some(message) = declared.kind.complaint(&value, known) {
            let complaint = Complaint::new(name, code(&declared.kind), message);
            let is_wrong_anywhere = declared.kind.complaint(&value, Known { seats: None, ..known }).is_some();
            wrong.0.push(if is_wrong_anywhere { complaint } else { complaint.in_combination() });
        }
        settings.set(name, value);
    }
    settings
}

fn code(kind: &Kind) -> Code {
    match kind {
        Kind::Seat { role: Some(_) } | Kind::Seats { role: Some(_) } => Code::InvalidRoles,
        _ => Code::InvalidRequest,
    }
}

/// The message for an unknown field, with the field that was probably meant. There is no suggestion
/// where more fields are unknown than are listed.
fn no_such_field(registry: &Registry, name: &str, unknown: usize) -> String {
    let known: Vec<String> = if unknown <= MOST_COMPLAINTS { flags::fields(registry) } else { Vec::new() };
    match nearest(name, known.iter().map(String::as_str)) {
        Some(nearest) => format!("there is no such field; did you mean `{nearest}`?"),
        None => "there is no such field".to_owned(),
    }
}

/// A trimmed text, or a list of them, or `None` if it is empty; any other value unchanged.
fn trimmed(kind: &Kind, value: Value) -> Option<Value> {
    match (kind, &value) {
        (Kind::Text { .. }, Value::String(text)) => {
            Some(text.trim()).filter(|it| !it.is_empty()).map(Value::from)
        }
        (Kind::Texts { .. } | Kind::Seats { .. }, Value::Array(list)) => {
            let trim = |it: &Value| it.as_str().map_or_else(|| it.clone(), |text| Value::from(text.trim()));
            Some(list.iter().map(trim).collect()).filter(|_| !list.is_empty())
        }
        _ => Some(value),
    }
}

/// The value with participants under the names of their seats: `anthropic` is `claude`.
fn seated(kind: &Kind, value: Value, seats: &[Participant]) -> Value {
    let named = |name: &str| place_of(seats, name).map(|place| seats[place].name.clone());
    match (kind, value) {
        (Kind::Seat { .. }, Value::String(name)) => Value::String(named(&name).unwrap_or(name)),
        (Kind::Seats { .. }, Value::Array(names)) => {
            let seated = |it: Value| it.as_str().and_then(named).map_or(it, Value::String);
            names.into_iter().map(seated).collect()
        }
        (Kind::Rows { cells, .. }, Value::Array(mut rows)) => {
            let seat_cells = cells.iter().filter(|it| it.kind == RowCellKind::Seat).map(|it| it.name);
            for cell in seat_cells {
                let values = rows.iter_mut().filter_map(|row| row.get_mut(cell));
                values.for_each(|value| {
                    if let Some(name) = value.as_str().and_then(named) {
                        *value = Value::String(name);
                    }
                });
            }
            Value::Array(rows)
        }
        (Kind::TextsBySeat { .. }, Value::Object(texts)) => {
            texts.into_iter().map(|(name, it)| (named(&name).unwrap_or(name), it)).collect()
        }
        (_, value) => value,
    }
}

/// Gives participants the roles that options imply.
pub(super) fn give_roles(seats: &mut [Participant], settings: &Settings, registry: &Registry) {
    for (declared, role) in role_options(registry) {
        for name in settings.get(declared.name).map(names).unwrap_or_default() {
            let seat = seats.iter_mut().find(|it| it.name == name);
            seat.into_iter().for_each(|seat| give_role(seat, role, registry));
        }
    }
}

/// The participants that the value of such an option names.
pub(crate) fn names(value: &Value) -> Vec<String> {
    let listed = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    listed.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// The options that give participants a role, each with the role.
pub(crate) fn role_options(registry: &Registry) -> Vec<(&'static Declared, &'static str)> {
    let role = |it: &'static Declared| match it.kind {
        Kind::Seat { role: Some(role) } | Kind::Seats { role: Some(role) } => Some((it, role)),
        _ => None,
    };
    registry.options().into_iter().filter_map(role).collect()
}

/// Gives a seat this role; whether it takes turns follows from the role.
pub(super) fn give_role(seat: &mut Participant, role: &str, registry: &Registry) {
    seat.role = Role::from(role);
    seat.aside = registry.role(role).is_some_and(|it| !it.speaks);
}

/// The past options reduced to these remaining participants.
pub(super) fn keep_those_present(
    settings: &mut BTreeMap<String, Value>,
    registry: &Registry,
    sits: &dyn Fn(&str) -> bool,
) {
    settings.retain(|name, value| match registry.option(name).map(|it| &it.kind) {
        Some(Kind::Seat { .. }) => value.as_str().is_none_or(sits),
        Some(Kind::Seats { .. }) => value.as_array_mut().is_none_or(|names| {
            names.retain(|it| it.as_str().is_none_or(sits));
            !names.is_empty()
        }),
        Some(Kind::Rows { cells, .. }) => {
            let seat = cells.iter().find(|it| it.kind == RowCellKind::Seat).map(|it| it.name);
            let stays = |row: &Value| {
                let name = seat.and_then(|cell| row.get(cell)?.as_str());
                name.is_none_or(sits)
            };
            value.as_array_mut().is_none_or(|rows| {
                rows.retain(stays);
                !rows.is_empty()
            })
        }
        Some(Kind::TextsBySeat { .. }) => value.as_object_mut().is_none_or(|texts| {
            texts.retain(|name, _| sits(name));
            !texts.is_empty()
        }),
        _ => true,
    });
}
