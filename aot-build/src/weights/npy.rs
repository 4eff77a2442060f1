//! `.npy`: one array, as NumPy's `save` writes it.
//!
//! A magic number, a version, the length of the header, and the header: a Python
//! dictionary such as `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.

use aot_rt::DType;

use super::Stored;
use crate::graph::Shape;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Element types and how NumPy calls them.
const TYPES: [(DType, &str); 11] = [
    (DType::I8, "|i1"),
    (DType::U8, "|u1"),
    (DType::I16, "<i2"),
    (DType::I32, "<i4"),
    (DType::U32, "<u4"),
    (DType::I64, "<i8"),
    (DType::U64, "<u8"),
    (DType::F16, "<f2"),
    // As the package ml_dtypes has NumPy write them.
    (DType::BF16, "<V2"),
    (DType::F32, "<f4"),
    (DType::Bool, "|b1"),
];

/// Most bytes of a header, as NumPy has it; errors quote it.
const MAX_HEADER: usize = 10_000;

/// Reads a file.
///
/// # Errors
///
/// When it is not of the format, holds elements of another type, or its elements are
/// not in row-major order.
pub fn read(file: &[u8]) -> Result<Stored<'_>, String> {
    let (header, elements) = split(file).ok_or("not a complete .npy file")?;
    if header.len() > MAX_HEADER {
        return Err(format!("the header has {} bytes, the limit is {MAX_HEADER}", header.len()));
    }
    let Header { descr, fortran_order, shape } =
        Header::parse(header).ok_or_else(|| format!("the header `{}` is not understood", header.trim()))?;
    let Some((dtype, _)) = TYPES.into_iter().find(|(_, name)| *name == descr) else {
        let names: Vec<_> = TYPES.iter().map(|(_, name)| *name).collect();
        let help = if descr.contains('f') { "; save `x.astype(numpy.float32)`" } else { "" };
        return Err(format!("elements of type `{descr}`, expected one of {}{help}", names.join(", ")));
    };
    let shape = Shape::new(shape)?;
    if fortran_order && shape.len() > 1 {
        return Err("elements in column-major order; save `numpy.ascontiguousarray(x)`".into());
    }
    Stored::new(dtype, shape, elements)
}

/// Writes a file.
#[must_use]
pub fn write(tensor: &Stored<'_>) -> Vec<u8> {
    let descr = TYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype).map_or("", |(_, name)| name);
    let extents: String = tensor.shape.iter().map(|extent| format!("{extent}, ")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    // NumPy aligns the elements to 64 bytes; 10 bytes stand before the header.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    // At most 8 extents of at most 10 digits: the header is far below 64 KiB.
    let length = u16::try_from(padded).unwrap_or(u16::MAX).to_le_bytes();
    let header = format!("{header:<width$}\n", width = padded - 1);
    [MAGIC, &[1, 0], &length, header.as_bytes(), tensor.bytes].concat()
}

/// The header, and the elements.
fn split(file: &[u8]) -> Option<(&str, &[u8])> {
    let (version, rest) = file.strip_prefix(MAGIC)?.split_first_chunk::<2>()?;
    let (length, rest) = match version {
        [1, 0] => {
            rest.split_first_chunk().map(|(length, rest)| (u16::from_le_bytes(*length).into(), rest))?
        }
        [2 | 3, 0] => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length), rest))?,
        _ => return None,
    };
    let (header, elements) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    Some((str::from_utf8(header).ok()?, elements))
}

struct Header<'a> {
    descr: &'a str,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl<'a> Header<'a> {
    /// Reads a dictionary with exactly these three entries, in any order.
    fn parse(header: &'a str) -> Option<Self> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut rest = header.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let after = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" if descr.is_none() => {
                    let (value, rest) = quoted(after)?;
                    descr = Some(value);
                    rest
                }
                "fortran_order" if fortran_order.is_none() => {
                    let (value, rest) = if let Some(rest) = after.strip_prefix("False") {
                        (false, rest)
                    } else {
                        (true, after.strip_prefix("True")?)
                    };
                    fortran_order = Some(value);
                    rest
                }
                "shape" if shape.is_none() => {
                    let (extents, rest) = after.strip_prefix('(')?.split_once(')')?;
                    shape = Some(tuple(extents)?);
                    rest
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(rest) => rest.trim_start(),
                None if rest.is_empty() => rest,
                None => return None,
            };
        }
        Some(Self { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }
}

/// A string in quotes, and what comes after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// The extents inside the parentheses: `3, 4`, `3,`, or nothing.
fn tuple(extents: &str) -> Option<Vec<usize>> {
    let extents = extents.trim();
    if extents.is_empty() {
        return Some(Vec::new());
    }
    let extents = extents.strip_suffix(',').unwrap_or(extents);
    extents.split(',').map(|extent| extent.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), elements].concat()
    }

    #[test]
    fn headers() {
        let whole = "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }\n";
        let stored = |shape: &[usize]| Ok((DType::I8, shape.to_vec()));
        for (header, bytes, expect) in [
            (whole, 6, stored(&[2, 3])),
            ("{\"shape\":(4,),\"descr\":\"|i1\",\"fortran_order\":True}", 4, stored(&[4])),
            ("{'descr': '|i1', 'fortran_order': False, 'shape': ()}", 1, stored(&[])),
            (whole, 5, Err("i8 [2, 3] takes 6 bytes, there are 5")),
            (
                "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}",
                6,
                Err("elements in column-major order; save `numpy.ascontiguousarray(x)`"),
            ),
            (
                "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}",
                4,
                Err(
                    "elements of type `>f4`, expected one of |i1, |u1, <i2, <i4, <u4, <i8, <u8, <f2, <V2, <f4, |b1; \
                     save `x.astype(numpy.float32)`",
                ),
            ),
            ("{'descr': '|i1'}", 0, Err("the header `{'descr': '|i1'}` is not understood")),
            (
                "{'descr': '|i1', 'fortran_order': False, 'shape': (99999, 99999)}",
                0,
                Err("shape [99999, 99999] has more than 2147483647 elements"),
            ),
            (
                "{'shape': (1), 'shape': (1)}",
                0,
                Err("the header `{'shape': (1), 'shape': (1)}` is not understood"),
            ),
        ] {
            let file = file(header, &vec![0; bytes]);
            let found = read(&file).map(|stored| (stored.dtype, stored.shape.to_vec()));
            assert_eq!(found, expect.map_err(str::to_owned), "{header}");
        }
        let long = read(&file(&" ".repeat(10_001), &[])).unwrap_err();
        assert_eq!(long, "the header has 10001 bytes, the limit is 10000");
        assert_eq!(read(b"\x93NUMPY\x01\x00\xff\xff{").unwrap_err(), "not a complete .npy file");
        assert_eq!(read(b"PK").unwrap_err(), "not a complete .npy file");
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (dtype, _) in TYPES {
            for shape in [vec![], vec![3], vec![1, 2, 3]] {
                let shape = Shape::new(shape).unwrap();
                let bytes: Vec<u8> = (0..).take(shape.elements() * dtype.size()).collect();
                let tensor = Stored { dtype, shape, bytes: &bytes };
                let file = write(&tensor);
                assert_eq!((file.len() - bytes.len()) % 64, 0);
                assert_eq!(read(&file), Ok(tensor));
            }
        }
    }
}
