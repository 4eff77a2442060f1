//! `.safetensors`: named tensors in one file.
//!
//! The length of the header in 8 bytes, the header in JSON, the elements. The header
//! gives type, extents and place of each tensor; the places cover the rest of the
//! file without gaps and without overlaps.

use std::collections::BTreeMap;

use aot_rt::DType;
use serde::{Deserialize, Serialize};

use super::Stored;
use crate::graph::Shape;
use crate::import::json::format::Entries;

/// Element types and how the format calls them.
const TYPES: [(DType, &str); 11] = [
    (DType::I8, "I8"),
    (DType::U8, "U8"),
    (DType::I16, "I16"),
    (DType::I32, "I32"),
    (DType::U32, "U32"),
    (DType::I64, "I64"),
    (DType::U64, "U64"),
    (DType::F16, "F16"),
    (DType::BF16, "BF16"),
    (DType::F32, "F32"),
    (DType::Bool, "BOOL"),
];

/// The key of the header that is no tensor.
pub const METADATA: &str = "__metadata__";

/// A file whose header has been read.
#[derive(Clone, Debug)]
pub struct SafeTensors {
    file: Vec<u8>,
    elements: usize,
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl SafeTensors {
    /// Reads the header of a file.
    ///
    /// # Errors
    ///
    /// When the file is not of the format.
    pub fn read(file: Vec<u8>) -> Result<Self, String> {
        let (length, rest) = file.split_first_chunk().ok_or("too short for a .safetensors file")?;
        let length = u64::from_le_bytes(*length);
        let (header, elements) = usize::try_from(length)
            .ok()
            .and_then(|length| rest.split_at_checked(length))
            .ok_or_else(|| format!("the header has {length} bytes, the file {}", rest.len()))?;
        let entries = parse(header).map_err(|error| format!("the header is not understood: {error}"))?;
        let mut places: Vec<_> = entries.iter().map(|(name, entry)| (entry.data_offsets, name)).collect();
        places.sort_unstable();
        let mut end = 0;
        for ([from, to], name) in places {
            if from != end || to < from {
                return Err(format!("tensor `{name}` is at {from}..{to}, expected one from {end}"));
            }
            end = to;
        }
        if end != elements.len() {
            return Err(format!("the tensors end at {end}, the file at {}", elements.len()));
        }
        Ok(Self { elements: file.len() - elements.len(), entries, file })
    }

    /// The names of the tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The tensor called `name`; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When its elements are of a type that has no place in a model, or it has another
    /// number of bytes than its type and shape say.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Result<Stored<'_>, String>> {
        let Entry { dtype, shape, data_offsets: [from, to] } = self.entries.get(name)?;
        let Some((dtype, _)) = TYPES.into_iter().find(|(_, known)| known == dtype) else {
            let names: Vec<_> = TYPES.iter().map(|(_, name)| *name).collect();
            return Some(Err(format!("elements of type `{dtype}`, expected one of {}", names.join(", "))));
        };
        let bytes = &self.file[self.elements..][*from..*to];
        Some(Shape::new(shape.as_slice()).and_then(|shape| Stored::new(dtype, shape, bytes)))
    }
}

fn parse(header: &[u8]) -> Result<BTreeMap<String, Entry>, String> {
    let header = str::from_utf8(header).map_err(|error| error.to_string())?;
    let entries: Entries<'_, Entry> = serde_json::from_str(header).map_err(|error| error.to_string())?;
    let mut named = BTreeMap::new();
    for (name, entry) in entries.0.into_iter().filter(|(name, _)| name.value != METADATA) {
        let name = name.value;
        let entry = serde_json::from_str(entry.json).map_err(|error| format!("tensor `{name}`: {error}"))?;
        if named.contains_key(&name) {
            return Err(format!("two tensors `{name}`"));
        }
        named.insert(name, entry);
    }
    Ok(named)
}

/// Writes a file; the same tensors give the same bytes.
///
/// # Errors
///
/// When two tensors have the same name, or one is called [`METADATA`].
pub fn write(tensors: &[(&str, Stored<'_>)]) -> Result<Vec<u8>, String> {
    // Wide elements first: every tensor is then aligned to its element type.
    let mut tensors: Vec<_> = tensors.iter().collect();
    tensors.sort_unstable_by_key(|(name, tensor)| (std::cmp::Reverse(tensor.dtype.size()), *name));
    let mut header = BTreeMap::new();
    let mut end = 0;
    for (name, tensor) in &tensors {
        let dtype = TYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype).map_or("", |(_, name)| name);
        let data_offsets = [end, end + tensor.bytes.len()];
        end += tensor.bytes.len();
        let entry = Entry { dtype: dtype.into(), shape: tensor.shape.to_vec(), data_offsets };
        if *name == METADATA || header.insert(*name, entry).is_some() {
            return Err(format!("`{name}` cannot be the name of a tensor, or is that of two"));
        }
    }
    let mut header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let length = (header.len() as u64).to_le_bytes();
    let parts = [&length[..], &header].into_iter().chain(tensors.iter().map(|(_, tensor)| tensor.bytes));
    Ok(parts.collect::<Vec<_>>().concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), elements].concat()
    }

    #[test]
    fn refused_files() {
        for (header, elements, expect) in [
            (
                "[]",
                0,
                "the header is not understood: invalid type: sequence, expected an object at line 1 column 0",
            ),
            (
                r#"{"a":{"dtype":"F32","shape":[1]}}"#,
                0,
                "the header is not understood: tensor `a`: missing field `data_offsets` at line 1 column 27",
            ),
            (
                r#"{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}"#,
                2,
                "the header is not understood: two tensors `a`",
            ),
            (
                r#"{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}}"#,
                3,
                "tensor `b` is at 1..3, expected one from 2",
            ),
            (
                r#"{"a":{"dtype":"I8","shape":[2],"data_offsets":[2,0]}}"#,
                2,
                "tensor `a` is at 2..0, expected one from 0",
            ),
            (
                r#"{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}"#,
                3,
                "the tensors end at 2, the file at 3",
            ),
        ] {
            assert_eq!(SafeTensors::read(file(header, &vec![0; elements])).unwrap_err(), expect, "{header}");
        }
        assert_eq!(SafeTensors::read(vec![1; 7]).unwrap_err(), "too short for a .safetensors file");
        let expect = "the header has 18446744073709551615 bytes, the file 0";
        assert_eq!(SafeTensors::read(vec![255; 8]).unwrap_err(), expect);
    }

    #[test]
    fn refused_tensors() {
        let header = r#"{"__metadata__":{"by":"test"},
            "a":{"dtype":"F64","shape":[1],"data_offsets":[0,2]},
            "b":{"dtype":"I16","shape":[2],"data_offsets":[2,4]}}"#;
        let tensors = SafeTensors::read(file(header, &[0; 4])).unwrap();
        assert_eq!(tensors.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(tensors.get("c"), None);
        let expect =
            "elements of type `F64`, expected one of I8, U8, I16, I32, U32, I64, U64, F16, BF16, F32, BOOL";
        assert_eq!(tensors.get("a").unwrap().unwrap_err(), expect);
        assert_eq!(tensors.get("b").unwrap().unwrap_err(), "i16 [2] takes 4 bytes, there are 2");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let bytes: Vec<u8> = (0..24).collect();
        let shape = |extents: &[usize]| Shape::new(extents).unwrap();
        let tensors = [
            ("weights", Stored { dtype: DType::I8, shape: shape(&[3]), bytes: &bytes[..3] }),
            ("scalar", Stored { dtype: DType::I64, shape: shape(&[]), bytes: &bytes[..8] }),
            ("bias \"b\"", Stored { dtype: DType::F32, shape: shape(&[3, 2]), bytes: &bytes }),
        ];
        let file = write(&tensors).unwrap();
        let read = SafeTensors::read(file.clone()).unwrap();
        for (name, tensor) in &tensors {
            let found = read.get(name).unwrap().unwrap();
            assert_eq!(&found, tensor);
            let offset = found.bytes.as_ptr().addr().wrapping_sub(read.file.as_ptr().addr());
            assert!(offset.is_multiple_of(found.dtype.size()), "{name}");
        }
        let reversed: Vec<_> = tensors.into_iter().rev().collect();
        assert_eq!(write(&reversed).unwrap(), file);
        assert!(write(&[reversed[0].clone(), reversed[0].clone()]).is_err());
    }
}
