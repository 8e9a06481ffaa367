//! Metadata: free-form, JSON-like values that callers attach to a page.

use litemap::LiteMap;

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
#[serde(untagged, remote = "Value")]
enum Plain {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
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
    Map(LiteMap<String, Value>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            Plain::serialize(self, serializer)
        } else {
            Tagged::serialize(self, serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            Plain::deserialize(deserializer)
        } else {
            Tagged::deserialize(deserializer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_as_json_and_as_record() {
        let json = r#"{"a":null,"b":[true,1.5,"x"],"constructor":{"__proto__":"text"}}"#;
        let value: Metadata = serde_json::from_str(json).expect("valid JSON");
        assert_eq!(serde_json::to_string(&value).expect("serializes"), json);
        let bytes = postcard::to_allocvec(&value).expect("serializes");
        assert_eq!(postcard::from_bytes::<Metadata>(&bytes), Ok(value));
    }
}
