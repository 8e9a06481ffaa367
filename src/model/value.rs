//! Metadata: free-form, JSON-like values that callers attach to a page.

use core::fmt;

use litemap::LiteMap;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Caller's keys and values.
pub type Metadata = LiteMap<String, Value>;

/// A JSON-like value. In records it is tagged; in readable formats it looks like plain JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// JSON `null`.
    Null,
    /// JSON boolean.
    Bool(bool),
    /// JSON number.
    Number(f64),
    /// JSON string.
    Text(String),
    /// JSON array.
    List(Vec<Value>),
    /// JSON object.
    Map(LiteMap<String, Value>),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Value")]
enum Tagged {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Map(#[serde(deserialize_with = "deserialize_map")] LiteMap<String, Value>),
}

/// Reads keys and values. (The map's own way sorts with the standard library, which costs the wasm file some kilobytes.)
pub(super) fn deserialize_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Metadata, D::Error> {
    match deserializer.deserialize_map(PlainVisitor)? {
        Value::Map(map) => Ok(map),
        _ => Err(de::Error::custom("it is no object")),
    }
}

/// Writes keys and values as an object in readable formats. (The map's own way makes an empty one a list there.)
pub fn serialize_map<S: Serializer>(map: &Metadata, serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() { serializer.collect_map(map.iter()) } else { map.serialize(serializer) }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return Tagged::serialize(self, serializer);
        }
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(values) => values.serialize(serializer),
            Self::Map(values) => serialize_map(values, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(PlainVisitor)
        } else {
            Tagged::deserialize(deserializer)
        }
    }
}

/// Reads JSON-like values as they come. (An untagged enum would do the same through a buffer, which costs the wasm file
/// some twenty kilobytes.)
struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-like value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = LiteMap::new();
        while let Some((key, value)) = map.next_entry()? {
            values.insert(key, value);
        }
        Ok(Value::Map(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_as_json_and_as_record() {
        let json = r#"{"a":null,"b":[true,1.5,"x"],"constructor":{"__proto__":"text"},"empty":{}}"#;
        let value: Value = serde_json::from_str(json).expect("valid JSON");
        assert_eq!(serde_json::to_string(&value).expect("serializes"), json);
        let bytes = postcard::to_allocvec(&value).expect("serializes");
        assert_eq!(postcard::from_bytes::<Value>(&bytes), Ok(value));
    }
}
