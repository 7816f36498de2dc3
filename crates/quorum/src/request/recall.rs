//! The fields of a request about past discussions: `recall` and `follows`.

use std::fmt;

use quorum_core::model::{excerpt::in_short, recall::Recall};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use uuid::Uuid;

use crate::request::{
    Request,
    bounds::Complaints,
    limits::{LONGEST_ID, RECALLED},
};

/// The id of the newest discussion.
pub(crate) const LAST: &str = "last";

/// The most digits after `last~`.
const MOST_DIGITS: usize = 4;

/// What is to be recalled: a number of discussions, or an object with details. Without any details,
/// nothing is recalled, whatever the configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallRequest {
    /// At most this many; they are searched for.
    pub most: Option<u64>,
    /// Discussions by id, or `last`.
    pub from: Vec<String>,
    /// Searches only this session, by its id.
    pub session: Option<String>,
}

/// The fields of the object.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    #[serde(
        default,
        deserialize_with = "super::written::whole_number",
        skip_serializing_if = "Option::is_none"
    )]
    most: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl Serialize for RecallRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RecallRequest { most, from, session } = self.clone();
        match most {
            Some(most) if from.is_empty() && session.is_none() => serializer.serialize_u64(most),
            _ => Details { most, from: (!from.is_empty()).then_some(from), session }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RecallRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrDetails)
    }
}

struct NumberOrDetails;

impl<'de> Visitor<'de> for NumberOrDetails {
    type Value = RecallRequest;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number, or an object with most, from and session")
    }

    fn visit_u64<E: Error>(self, most: u64) -> Result<RecallRequest, E> {
        Ok(RecallRequest { most: Some(most), ..RecallRequest::default() })
    }

    fn visit_i64<E: Error>(self, most: i64) -> Result<RecallRequest, E> {
        let most = u64::try_from(most).map_err(|_| E::custom(format!("expected 0 or more, not {most}")))?;
        self.visit_u64(most)
    }

    /// In JSON, 3.0 is as whole as 3.
    fn visit_f64<E: Error>(self, most: f64) -> Result<RecallRequest, E> {
        let is_whole = most.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&most);
        if is_whole {
            self.visit_u64(most as u64)
        } else {
            Err(E::custom(format!("{most} is not a whole number")))
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RecallRequest, A::Error> {
        let Details { most, from, session } = Details::deserialize(MapAccessDeserializer::new(map))?;
        Ok(RecallRequest { most, from: from.unwrap_or_default(), session })
    }
}

/// What is to be recalled; `None` if nothing is.
pub(super) fn recall(request: &Request, wrong: &mut Complaints) -> Option<Recall> {
    let given = request.recall.as_ref()?;
    let most = given.most.map(|most| wrong.within("recall", Some(most), *RECALLED.start(), RECALLED));
    let from = wrong.few("recall.from", &given.from, *RECALLED.end() as usize).to_vec();
    for id in &from {
        named("recall.from", id, wrong);
    }
    let session = given.session.as_deref().and_then(|id| {
        let session = Uuid::parse_str(id).ok();
        if session.is_none() {
            wrong.add("recall.session", format!("{} is not a session's id", in_short(id)));
        }
        session
    });
    if most.is_none() && session.is_some() {
        wrong.clash("recall.session", "limits a search; also say how many discussions to recall at most");
    }
    let is_asked_for = most.is_some() || !from.is_empty();
    is_asked_for.then(|| Recall { most: most.map(|it| it as u32), from, session })
}

/// Checks that this could be a discussion's id, the beginning of one, or `last`.
pub(super) fn named(field: &str, id: &str, wrong: &mut Complaints) {
    if let Some(message) = malformed(id) {
        wrong.add(field, message);
    }
}

/// How many discussions before the newest one is meant: 0 for `last`, 2 for `last~2`. `None` for
/// anything else.
pub(crate) fn back_from_last(given: &str) -> Option<usize> {
    let rest = given.strip_prefix(LAST)?;
    if rest.is_empty() {
        return Some(0);
    }
    let digits = rest.strip_prefix('~')?;
    let is_number = digits.len() <= MOST_DIGITS && digits.bytes().all(|it| it.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Why this can be neither a discussion's id, nor the beginning of one, nor `last`.
pub(crate) fn malformed(id: &str) -> Option<String> {
    let is_id =
        !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(|it| it.is_ascii_hexdigit() || it == '-');
    let message =
        || format!("{} is not a discussion's id; give an id, its beginning, or {LAST}", in_short(id));
    (!is_id && back_from_last(id).is_none()).then(message)
}

impl From<&Recall> for RecallRequest {
    fn from(recall: &Recall) -> Self {
        let Recall { most, from, session } = recall;
        RecallRequest {
            most: most.map(u64::from),
            from: from.clone(),
            session: session.map(|it| it.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_recall_is_a_number_or_an_object() {
        let check = |written: Value, most: Option<u64>, from: &[&str]| {
            let read: RecallRequest = serde_json::from_value(written.clone()).unwrap();
            let from: Vec<String> = from.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(read, RecallRequest { most, from, session: None }, "{written}");
            let again: RecallRequest = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
            assert_eq!(again, read);
        };
        check(json!(3), Some(3), &[]);
        check(json!(3.0), Some(3), &[]);
        check(json!({}), None, &[]);
        check(json!({ "most": 2.0, "from": ["last"], "session": null }), Some(2), &["last"]);
        for wrong in [json!(-1), json!(1.5), json!("3"), json!(true), json!([3]), json!({ "least": 1 })] {
            assert!(serde_json::from_value::<RecallRequest>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn last_is_counted_back() {
        let given = ["last", "last~0", "last~12", "last~", "last~x", "last~+1", "last~10000", "la", "0189"];
        let expected = [Some(0), Some(0), Some(12), None, None, None, None, None, None];
        assert_eq!(given.map(back_from_last), expected);
    }
}
