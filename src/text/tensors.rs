//! A reader of safetensors files: eight bytes of header length, a JSON header, the tensors' bytes.
//!
//! Written by hand because the crate of that name brings a JSON library along: 53 KB more of a gzipped native library
//! (x86-64, same profile; not measured in wasm) for one file. It reads what such a header holds (objects, strings without escapes, unsigned integers, lists of them) and refuses the rest.

/// Deepest nesting of a header: header, tensor, list of numbers.
const MAX_DEPTH: usize = 4;

/// A value of the header.
#[derive(Debug, PartialEq)]
enum Value<'a> {
    Text(&'a str),
    Number(usize),
    List(Vec<Value<'a>>),
    Object(Vec<(&'a str, Value<'a>)>),
}

/// One tensor of a file.
pub(super) struct Tensor<'a> {
    /// Length of each dimension.
    pub(super) shape: Vec<usize>,
    /// Little-endian elements, the last dimension running fastest.
    pub(super) bytes: &'a [u8],
}

/// A file taken apart; it borrows the bytes.
pub(super) struct Tensors<'a> {
    header: Value<'a>,
    /// Everything after the header.
    pub(super) payload: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Parses the header. The error says what is wrong with it.
    pub(super) fn read(file: &'a [u8]) -> Result<Self, String> {
        let (length, rest) = file.split_first_chunk::<8>().ok_or("the file is shorter than 8 bytes")?;
        let length = u64::from_le_bytes(*length);
        let (header, payload) = usize::try_from(length)
            .ok()
            .and_then(|length| rest.split_at_checked(length))
            .ok_or_else(|| format!("the header has {length} bytes, the file {} after its length", rest.len()))?;
        let text = core::str::from_utf8(header).map_err(|e| format!("the header is not UTF-8: {e}"))?;
        let mut reader = Reader { rest: text };
        let header = reader.value(MAX_DEPTH).ok_or_else(|| reader.refusal(text))?;
        reader.space();
        if !reader.rest.is_empty() {
            return Err(reader.refusal(text));
        }
        Ok(Self { header, payload })
    }

    /// A string of the header's metadata.
    pub(super) fn metadata(&self, name: &str) -> Result<&'a str, String> {
        match self.header.get("__metadata__").and_then(|fields| fields.get(name)) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(format!("the metadata has no text {name:?}")),
        }
    }

    /// The tensor of a name, which must be of `dtype` with elements of `element_bytes`.
    pub(super) fn tensor(&self, name: &str, dtype: &str, element_bytes: usize) -> Result<Tensor<'a>, String> {
        let entry = self.header.get(name).ok_or_else(|| format!("there is no tensor {name}"))?;
        let found = match entry.get("dtype") {
            Some(Value::Text(found)) => *found,
            _ => return Err(format!("tensor {name} has no dtype")),
        };
        if found != dtype {
            return Err(format!("tensor {name} is {found}, not {dtype}"));
        }
        let numbers = |field: &str| entry.get(field).and_then(Value::numbers);
        let offsets = numbers("data_offsets").and_then(|offsets| <[usize; 2]>::try_from(offsets).ok());
        let (Some(shape), Some([start, end])) = (numbers("shape"), offsets) else {
            return Err(format!("tensor {name} has no shape or no offsets"));
        };
        let bytes = self.payload.get(start..end).ok_or_else(|| {
            format!("tensor {name} lies at {start}..{end}, the file has {} bytes of tensors", self.payload.len())
        })?;
        let wanted = shape.iter().try_fold(element_bytes, |product, &n| product.checked_mul(n));
        if wanted != Some(bytes.len()) {
            return Err(format!("tensor {name} has {} bytes for the shape {shape:?}", bytes.len()));
        }
        Ok(Tensor { shape, bytes })
    }
}

impl<'a> Value<'a> {
    fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    fn numbers(&self) -> Option<Vec<usize>> {
        let Self::List(values) = self else { return None };
        values.iter().map(|value| if let Self::Number(n) = value { Some(*n) } else { None }).collect()
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn refusal(&self, text: &str) -> String {
        format!("the header cannot be read at byte {}", text.len() - self.rest.len())
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    /// Whether the next character is `c`; if so it is passed.
    fn take(&mut self, c: char) -> bool {
        self.space();
        let found = self.rest.strip_prefix(c);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        let depth = depth.checked_sub(1)?;
        if self.take('{') {
            let mut fields = Vec::new();
            self.items('}', &mut |reader| {
                let name = reader.text()?;
                reader.take(':').then_some(())?;
                fields.push((name, reader.value(depth)?));
                Some(())
            })?;
            return Some(Value::Object(fields));
        }
        if self.take('[') {
            let mut values = Vec::new();
            self.items(']', &mut |reader| {
                values.push(reader.value(depth)?);
                Some(())
            })?;
            return Some(Value::List(values));
        }
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return self.text().map(Value::Text);
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok().map(Value::Number)
    }

    /// Items parted by commas up to `close`.
    fn items(&mut self, close: char, item: &mut dyn FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.take(close) {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(close) {
                return Some(());
            }
            self.take(',').then_some(())?;
        }
    }

    fn text(&mut self) -> Option<&'a str> {
        self.take('"').then_some(())?;
        let (text, rest) = self.rest.split_once('"')?;
        self.rest = rest;
        (!text.contains('\\')).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(header: &str, payload: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), payload].concat()
    }

    #[test]
    fn a_file_gives_its_tensors() {
        let header =
            r#"{"__metadata__": {"id":"x"}, "a":{"dtype":"U8","shape":[2, 2],"data_offsets":[1,5]}, "s":{}}  "#;
        let bytes = file(header, &[9, 1, 2, 3, 4]);
        let tensors = Tensors::read(&bytes).expect("a good file");
        assert_eq!(tensors.metadata("id"), Ok("x"));
        assert!(tensors.metadata("it").is_err());
        let a = tensors.tensor("a", "U8", 1).expect("a tensor");
        assert_eq!((a.shape, a.bytes), (vec![2, 2], &[1, 2, 3, 4][..]));
        for (name, dtype, size) in [("a", "F16", 2), ("a", "U8", 2), ("b", "U8", 1), ("s", "U8", 1)] {
            assert!(tensors.tensor(name, dtype, size).is_err(), "{name} {dtype} {size}");
        }
    }

    #[test]
    fn a_broken_header_is_refused() {
        for header in [
            "",
            "{",
            "{}}",
            "[1,]",
            r#"{"a"}"#,
            r#"{"a":-1}"#,
            r#"{"a\"":1}"#,
            "99999999999999999999999",
            "[[[[[1]]]]]",
        ] {
            assert!(Tensors::read(&file(header, &[])).is_err(), "{header}");
        }
        assert!(Tensors::read(&u64::MAX.to_le_bytes()).is_err());
        let far = file(
            r#"{"a":{"dtype":"U8","shape":[18446744073709551615,2],"data_offsets":[0,18446744073709551615]}}"#,
            &[],
        );
        assert!(Tensors::read(&far).expect("a header").tensor("a", "U8", 1).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in any::<Vec<u8>>(), header in r#"[\[\]{}:,"0-9a ]{0,40}"#) {
            let _ = Tensors::read(&bytes);
            let bytes = file(&header, &[1, 2, 3]);
            if let Ok(tensors) = Tensors::read(&bytes) {
                let _ = tensors.tensor("a", "U8", 1);
            }
        }
    }
}
