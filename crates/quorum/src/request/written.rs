//! Deserializes parts of a request strictly: objects by their keys and not as lists, every key
//! known and unique.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Number, Value};

use crate::request::{Seat, Seating, TypedSeat};

/// The largest whole number up to which floating-point numbers are exact.
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

/// An object. Serde would accept a list as the fields in their order.
#[derive(Debug)]
pub struct Named<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnObject(PhantomData)).map(Named)
    }
}

/// The same for a field that may be left out.
pub fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let read = Option::<Named<T>>::deserialize(deserializer)?;
    Ok(read.map(|Named(value)| value))
}

struct AnObject<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AnObject<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// An object with user-defined keys. A duplicate key is an error, rather than silently replacing
/// the first.
#[derive(Debug)]
pub struct Once<V>(pub BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Once<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EachOnce(PhantomData))
    }
}

/// The same for a field that may be left out.
pub(super) fn once<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, V>>, D::Error> {
    let read = Option::<Once<V>>::deserialize(deserializer)?;
    Ok(read.map(|Once(entries)| entries))
}

struct EachOnce<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for EachOnce<V> {
    type Value = Once<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once<V>, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(key) = map.next_key_seed(NewKey(&entries))? {
            entries.insert(key, map.next_value()?);
        }
        Ok(Once(entries))
    }
}

/// A key that must not occur yet. It is refused while being read, so that the error's path includes
/// it.
struct NewKey<'e, V>(&'e BTreeMap<String, V>);

impl<'de, V> DeserializeSeed<'de> for NewKey<'_, V> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let key = String::deserialize(deserializer)?;
        if self.0.contains_key(&key) {
            return Err(D::Error::custom(format!("duplicate field `{key}`")));
        }
        Ok(key)
    }
}

/// Options by name; null means left out.
pub(super) fn settings<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Value>, D::Error> {
    let Once(entries) = Once::<AnyValue>::deserialize(deserializer)?;
    let given = entries.into_iter().filter(|(_, AnyValue(value))| !value.is_null());
    Ok(given.map(|(name, AnyValue(value))| (name, value)).collect())
}

/// Any JSON without duplicate keys; a plain `Value` would silently keep the last.
#[derive(Debug)]
pub struct AnyValue(pub Value);

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything).map(AnyValue)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(whole(value).map_or_else(|| value.into(), Value::from))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(AnyValue(value)) = values.next_element()? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        let Once(entries) = EachOnce::<AnyValue>(PhantomData).visit_map(map)?;
        Ok(Value::Object(entries.into_iter().map(|(name, AnyValue(value))| (name, value)).collect()))
    }
}

/// In JSON, 3.0 is as whole as 3.
fn whole(value: f64) -> Option<u64> {
    let is_whole = value.fract() == 0.0 && (0.0..=LARGEST_EXACT).contains(&value);
    is_whole.then_some(value as u64)
}

/// A whole number that may be left out; 3.0 is one as well.
pub fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    let read = number.as_u64().or_else(|| number.as_f64().and_then(whole));
    read.map(Some)
        .ok_or_else(|| D::Error::custom(format!("expected a whole number, 0 or more, not {number}")))
}

impl<'de> Deserialize<'de> for Seating {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ASeat)
    }
}

/// The fields of a seat that is an object, of either kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeatFields {
    #[serde(rename = "type")]
    kind: Option<SeatKind>,
    id: Option<String>,
    person: Option<String>,
    user: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SeatKind {
    Agent,
    Provider,
}

struct ASeat;

impl<'de> Visitor<'de> for ASeat {
    type Value = Seating;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "who takes part: \"claude\", \"claude/MODEL\", \"reviewer:agent\", \"me:person\", \
             or an object with type and id or with person and user",
        )
    }

    fn visit_str<E: Error>(self, written: &str) -> Result<Seating, E> {
        Ok(Seating::Written(written.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Seating, A::Error> {
        let fields = SeatFields::deserialize(MapAccessDeserializer::new(map))?;
        match fields {
            SeatFields { kind: None, id: None, person: Some(person), user } => {
                Ok(Seating::Person(Seat { person, user }))
            }
            SeatFields { kind: Some(kind), id: Some(id), person: None, user: None } => {
                Ok(Seating::Typed(match kind {
                    SeatKind::Agent => TypedSeat::Agent(id),
                    SeatKind::Provider => TypedSeat::Provider(id),
                }))
            }
            SeatFields { kind: None, id: None, .. } => Err(A::Error::missing_field("person")),
            SeatFields { kind: None, .. } => Err(A::Error::missing_field("type")),
            SeatFields { id: None, .. } => Err(A::Error::missing_field("id")),
            SeatFields { .. } => Err(A::Error::custom("has fields of a person and of another seat")),
        }
    }
}
