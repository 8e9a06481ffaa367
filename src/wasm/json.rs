//! Results as JSON text, which JavaScript parses in one step: smaller than setting property by property, and faster.

use core::fmt::{self, Write as _};

use serde::ser::{self, Serialize};

/// Why a value has no JSON text.
#[derive(Debug)]
pub(super) struct Failed(pub(super) String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Writes one value. What is no number becomes `null`.
pub(super) struct Json<'a> {
    pub(super) out: &'a mut String,
}

/// Writes the items of a list or an object.
pub(super) struct Items<'a> {
    out: &'a mut String,
    first: bool,
    end: &'static str,
}

fn push_text(out: &mut String, text: &str) {
    out.push('"');
    // What needs an escape is ASCII; the text between is copied in one piece.
    let mut copied = 0;
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[copied..at]);
        copied = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            byte => push_escape(out, char::from(byte)),
        }
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

fn push_escape(out: &mut String, c: char) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

fn push_number(out: &mut String, value: f64) {
    if value.is_finite() {
        let _ = write!(out, "{value}");
    } else {
        out.push_str("null");
    }
}

impl<'a> Items<'a> {
    fn new(out: &'a mut String, begin: &str, end: &'static str) -> Self {
        out.push_str(begin);
        Self { out, first: true, end }
    }

    fn next(&mut self) {
        if !core::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
    }

    fn name(&mut self, name: &str) {
        self.next();
        push_text(self.out, name);
        self.out.push(':');
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        value.serialize(Json { out: self.out })
    }

    fn finish(self) -> Result<(), Failed> {
        self.out.push_str(self.end);
        Ok(())
    }
}

macro_rules! numbers {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, value: $type) -> Result<(), Failed> {
            let _ = write!(self.out, "{value}");
            Ok(())
        }
    )*};
}

impl<'a> ser::Serializer for Json<'a> {
    type Ok = ();
    type Error = Failed;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
    }

    fn serialize_bool(self, value: bool) -> Result<(), Failed> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Failed> {
        // Widened, so that JavaScript sees the very number.
        push_number(self.out, f64::from(value));
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Failed> {
        push_number(self.out, value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Failed> {
        push_text(self.out, value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Failed> {
        push_text(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Failed> {
        Err(Failed("bytes have no JSON text".into()))
    }

    fn serialize_none(self) -> Result<(), Failed> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failed> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Failed> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Failed> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Failed> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Failed> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        let mut items = Items::new(self.out, "{", "}");
        items.name(name);
        items.value(value)?;
        items.finish()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, Failed> {
        Ok(Items::new(self.out, "[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, Failed> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Failed> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Items<'a>, Failed> {
        let mut items = Items::new(self.out, "{", "]}");
        items.name(name);
        items.out.push('[');
        items.first = true;
        Ok(items)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>, Failed> {
        Ok(Items::new(self.out, "{", "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Failed> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Items<'a>, Failed> {
        let mut items = Items::new(self.out, "{", "}}");
        items.name(name);
        items.out.push('{');
        items.first = true;
        Ok(items)
    }
}

macro_rules! lists {
    ($($of:ident: $method:ident,)*) => {$(
        impl ser::$of for Items<'_> {
            type Ok = ();
            type Error = Failed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
                self.next();
                self.value(value)
            }

            fn end(self) -> Result<(), Failed> {
                self.finish()
            }
        }
    )*};
}

lists! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}

macro_rules! objects {
    ($($of:ident,)*) => {$(
        impl ser::$of for Items<'_> {
            type Ok = ();
            type Error = Failed;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Failed> {
                self.name(name);
                self.value(value)
            }

            fn end(self) -> Result<(), Failed> {
                self.finish()
            }
        }
    )*};
}

objects! { SerializeStruct, SerializeStructVariant, }

impl ser::SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        self.next();
        self.value(key)?;
        self.out.push(':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.value(value)
    }

    fn end(self) -> Result<(), Failed> {
        self.finish()
    }
}
