//! The request of an order, read from the arguments of a call.

use quorum::{Fault, Request};
use serde_json::{Map, Value, json};

use crate::{
    body::Fields,
    mcp::{
        arguments::Mistake,
        call::Call,
        failure::Failure,
        schema::{ALIASES, TOTAL_BUDGET},
    },
    problem::Problem,
    routes::discussions::choose_voices,
    wire::order,
    wording,
};

/// The fields that only a call has.
const OF_THE_CALL: &[&str] = &["maxWaitMs", "fullOutput", "idempotencyKey"];

/// Reads the request of a call. `mistakes` are those the schema has found; together with those that
/// only the request itself shows, they are reported at once.
pub(crate) fn read(
    call: &Call,
    fields: Map<String, Value>,
    mistakes: Vec<Mistake>,
) -> Result<Request, Failure> {
    let (renamed, twice) = renamed(fields);
    let mistakes = [mistakes, twice].concat();
    if !mistakes.is_empty() {
        return Err(Failure::mistakes(&with_further(call, renamed, mistakes)));
    }
    request(call, renamed)
}

fn request(call: &Call, fields: Map<String, Value>) -> Result<Request, Failure> {
    // Through our own reader, which takes 3.0 for 3.
    let fields: Fields = serde_json::from_value(Value::Object(fields))
        .map_err(|error| Failure::from(Problem::field("arguments", error.to_string())))?;
    let mut request = order::request(&fields)?;
    choose_voices(&call.app, &mut request);
    Ok(request)
}

/// The fields under their names in a request, without those of the call; and those that are given
/// under two names.
pub(crate) fn renamed(fields: Map<String, Value>) -> (Map<String, Value>, Vec<Mistake>) {
    let (mut renamed, mut twice) = (Map::new(), Vec::new());
    for (name, value) in fields {
        let field = field_named(&name);
        if OF_THE_CALL.contains(&field) {
            continue;
        }
        if renamed.contains_key(field) {
            let message = format!("is given twice: {name} is another name of {field}");
            twice.push(Mistake { field: field.to_owned(), message });
            continue;
        }
        renamed.insert(field.to_owned(), if field == "participants" { seats(value) } else { value });
    }
    (renamed, twice)
}

/// The field with this name or other name.
fn field_named(name: &str) -> &str {
    let mut renamed = ALIASES.iter().chain([&TOTAL_BUDGET]);
    renamed.find(|(alias, _)| *alias == name).map_or(name, |(_, field)| field)
}

/// Participants as texts: an object with a type and an id is the same as `id:type`.
fn seats(participants: Value) -> Value {
    let Value::Array(seats) = participants else { return participants };
    let seat = |seat: Value| match (seat["type"].as_str(), seat["id"].as_str()) {
        (Some("provider"), Some(id)) => json!(id),
        (Some(kind), Some(id)) => json!(format!("{id}:{kind}")),
        _ => seat,
    };
    Value::Array(seats.into_iter().map(seat).collect())
}

/// The mistakes with those that the request shows beside them: what is wrong in any request.
fn with_further(call: &Call, mut fields: Map<String, Value>, mistakes: Vec<Mistake>) -> Vec<Mistake> {
    let field_of = |it: &Mistake| it.field.split(['.', '[']).next().unwrap_or_default().to_owned();
    let known: Vec<String> = mistakes.iter().map(field_of).collect();
    known.iter().for_each(|it| drop(fields.remove(field_named(it))));
    // A topic that is wrong itself must not hide what else is wrong.
    fields.entry("topic").or_insert_with(|| json!("?"));
    let Ok(request) = request(call, fields) else { return mistakes };
    let Err(quorum::Error::Refused(complaints)) = call.scope.check(&request) else { return mistakes };
    let further = complaints.iter().filter(|it| it.fault == Fault::Value && !known.contains(&it.field));
    let further = further.map(|it| Mistake { field: it.field.clone(), message: wording::complaint(it) });
    mistakes.into_iter().chain(further).collect()
}
