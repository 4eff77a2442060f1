//! Reads flexbuffers from bytes that nobody has checked: a map of integers and truth
//! values, as the attributes of custom operators are.
//!
//! A flexbuffer ends with its root, the root's type and the root's width. A map is a vector
//! of values, followed by their types, and led by its length, the width of its keys and
//! the way back to them:
//!
//! ```text
//! keys…  [count, key, key, …]   back, width, count, value, value, …, type, type, …   root, type, width
//! ```

use crate::error::OpError;

const INT: u8 = 1;
const UINT: u8 = 2;
const MAP: u8 = 9;
const BOOL: u8 = 26;

/// The values of `names` in a map that has these and no others.
///
/// # Errors
///
/// When the bytes are no such map, or a value is no integer and no truth value.
pub(super) fn integers<const N: usize>(bytes: &[u8], names: [&str; N]) -> Result<[i64; N], OpError> {
    let map = Map::read(bytes).ok_or("the custom options are no flexbuffer with a map")?;
    let mut values = [None; N];
    for i in 0..map.count {
        let key = map.key(i).ok_or("the custom options have a key that is none")?;
        let Some(slot) = names.iter().position(|name| name.as_bytes() == key) else {
            let key = String::from_utf8_lossy(key.get(..MAX_SHOWN).unwrap_or(key)).into_owned();
            return Err(format!("attribute {key:?} is not known, only {names:?}").into());
        };
        let value = map.integer(i).ok_or_else(|| format!("attribute `{}` is no integer", names[slot]))?;
        // A key that comes twice has a value each, of which no reader finds both.
        if values[slot].replace(value).is_some() {
            return Err(format!("attribute `{}` is there twice", names[slot]).into());
        }
    }
    if let Some(missing) = values.iter().position(Option::is_none) {
        return Err(format!("attribute `{}` is missing", names[missing]).into());
    }
    Ok(values.map(Option::unwrap_or_default))
}

/// Most bytes of a key that a message shows.
const MAX_SHOWN: usize = 64;

/// A map.
struct Map<'a> {
    bytes: &'a [u8],
    /// Number of keys and of values.
    count: usize,
    /// Where the values are, and the bytes of each.
    values: usize,
    width: usize,
    /// Where the ways back to the keys are, and the bytes of each.
    keys: usize,
    key_width: usize,
}

impl<'a> Map<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let &[.., ty, root_width] = bytes else { return None };
        let root = bytes.len().checked_sub(2)?.checked_sub(width(root_width)?)?;
        if ty >> 2 != MAP {
            return None;
        }
        let width = 1 << (ty & 3);
        let values = back(bytes, root, root_width.into())?;
        let field = |i: usize| values.checked_sub(i * width);
        let count = usize::try_from(unsigned(bytes, field(1)?, width)?).ok()?;
        let key_width = usize::try_from(unsigned(bytes, field(2)?, width)?).ok()?;
        let keys = back(bytes, field(3)?, width)?;
        // Each value has a type, so the bytes limit their number.
        let map = Self { bytes, count, values, width, keys, key_width };
        let end = count.checked_mul(width + 1)?.checked_add(values)?;
        (end <= bytes.len()).then_some(map)
    }

    fn key(&self, i: usize) -> Option<&'a [u8]> {
        let place = i.checked_mul(self.key_width)?.checked_add(self.keys)?;
        let start = back(self.bytes, place, self.key_width)?;
        self.bytes.get(start..)?.split(|byte| *byte == 0).next()
    }

    fn integer(&self, i: usize) -> Option<i64> {
        let ty = self.bytes.get(self.values + self.count * self.width + i)?;
        let value = unsigned(self.bytes, self.values + i * self.width, self.width)?;
        match ty >> 2 {
            INT => {
                let unused = 64 - 8 * self.width as u32;
                Some(value.cast_signed() << unused >> unused)
            }
            UINT => i64::try_from(value).ok(),
            BOOL => Some(i64::from(value != 0)),
            _ => None,
        }
    }
}

/// A width that numbers can have.
fn width(byte: u8) -> Option<usize> {
    matches!(byte, 1 | 2 | 4 | 8).then_some(byte.into())
}

/// The number of `width` bytes at `place`.
fn unsigned(bytes: &[u8], place: usize, width: usize) -> Option<u64> {
    let width = self::width(u8::try_from(width).ok()?)?;
    let mut number = [0; 8];
    number.get_mut(..width)?.copy_from_slice(bytes.get(place..place.checked_add(width)?)?);
    Some(u64::from_le_bytes(number))
}

/// Where the number at `place` leads back to.
fn back(bytes: &[u8], place: usize, width: usize) -> Option<usize> {
    place.checked_sub(usize::try_from(unsigned(bytes, place, width)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `flatbuffers.flexbuffers.Dumps({"clamping": True, "scale": -300, "shift": 12})`.
    const MAP_OF_THREE: &[u8] = b"clamping\0scale\0shift\0\x03\x16\x0e\x09\0\
        \x04\0\x01\0\x03\0\x01\0\xd4\xfe\x0c\0\x69\x05\x05\x09\x25\x01";

    #[test]
    fn values_are_found_by_name() {
        let values = integers(MAP_OF_THREE, ["shift", "clamping", "scale"]);
        assert_eq!(values.unwrap(), [12, 1, -300]);
        // `Dumps({})`.
        let empty = integers(b"\0\0\x01\0\0\x24\x01", []);
        assert_eq!(empty.unwrap(), [0_i64; 0]);
    }

    #[test]
    fn other_attributes_are_refused() {
        let message = |names| integers(MAP_OF_THREE, names).unwrap_err().message;
        let unknown = "attribute \"clamping\" is not known, only [\"shift\", \"scale\"]";
        assert_eq!(integers(MAP_OF_THREE, ["shift", "scale"]).unwrap_err().message, unknown);
        assert_eq!(message(["shift", "clamping", "scale", "bits"]), "attribute `bits` is missing");
        let mut twice = MAP_OF_THREE.to_vec();
        twice[23] = 23;
        let error = integers(&twice, ["shift", "clamping", "scale"]).unwrap_err();
        assert_eq!(error.message, "attribute `clamping` is there twice");
        let mut float = MAP_OF_THREE.to_vec();
        float[39] = 3 << 2 | 1;
        let error = integers(&float, ["shift", "clamping", "scale"]).unwrap_err();
        assert_eq!(error.message, "attribute `scale` is no integer");
    }

    #[test]
    fn no_damage_panics() {
        for length in 0..MAP_OF_THREE.len() {
            assert!(integers(&MAP_OF_THREE[..length], ["shift"]).is_err());
        }
        for (i, value) in (0..MAP_OF_THREE.len()).flat_map(|i| (0..=u8::MAX).map(move |value| (i, value))) {
            let mut bytes = MAP_OF_THREE.to_vec();
            bytes[i] = value;
            // An error, or another value.
            let _ = integers(&bytes, ["shift", "clamping", "scale"]);
        }
    }
}
