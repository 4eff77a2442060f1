//! Arrays in `.npy` files. That format has no integers of four bits: they are i8 there.

use std::path::Path;

use aot_build::Error;
use aot_build::graph::{Shape, TensorType};
use aot_build::weights::{Stored, npy};
use aot_rt::{DType, pack_i4, unpack_i4};

use crate::console::problem;
use crate::settings::write_file;

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    /// The elements, row by row, little-endian.
    pub(crate) bytes: Vec<u8>,
}

/// The elements of an array, as numbers.
pub(crate) enum Elements<'a> {
    /// Signed and unsigned ones of 64 bits.
    Integers(Box<dyn Iterator<Item = i128> + 'a>),
    Floats(Box<dyn Iterator<Item = f32> + 'a>),
}

impl Array {
    /// Reads the `.npy` file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let file = std::fs::read(path);
        let file = file.map_err(|error| problem(path, format!("the file cannot be read: {error}")))?;
        let Stored { dtype, shape, bytes } = npy::read(&file).map_err(|message| problem(path, message))?;
        Ok(Self { dtype, shape, bytes: bytes.to_vec() })
    }

    /// Writes a `.npy` file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        write_file(path, &self.to_npy())
    }

    /// The contents of a `.npy` file.
    pub(crate) fn to_npy(&self) -> Vec<u8> {
        let Self { dtype, shape, bytes } = self;
        npy::write(&Stored { dtype: *dtype, shape: shape.clone(), bytes })
    }

    /// Whether type and extents are those of `ty`.
    pub(crate) fn is(&self, ty: &TensorType) -> bool {
        (self.dtype, &self.shape) == (in_file(ty.dtype), &ty.shape)
    }

    /// With one leading axis more than `ty`: the steps of a sequence.
    pub(crate) fn sequence_of(&self, ty: &TensorType) -> Option<usize> {
        let (&steps, rest) = self.shape.split_first()?;
        (self.dtype == in_file(ty.dtype) && *rest == *ty.shape).then_some(steps)
    }

    /// What run number `run` of a sequence is given for a tensor of this type.
    pub(crate) fn of_run(&self, run: usize, ty: &TensorType) -> Vec<u8> {
        let len = in_file(ty.dtype).bytes(ty.shape.elements());
        let bytes = self.bytes.get(run * len..).and_then(|bytes| bytes.get(..len)).unwrap_or_default();
        if ty.dtype != DType::I4 {
            return bytes.to_vec();
        }
        let elements: Vec<_> = bytes.iter().map(|byte| byte.cast_signed()).collect();
        let mut bytes = vec![0; ty.bytes()];
        pack_i4(&elements, &mut bytes);
        bytes
    }

    /// The array of what runs have made of a tensor of this type.
    pub(crate) fn of_runs(runs: &[Vec<u8>], ty: &TensorType, shape: Shape) -> Self {
        let elements = |bytes: &Vec<u8>| {
            if ty.dtype != DType::I4 {
                return bytes.clone();
            }
            let mut elements = vec![0; ty.shape.elements()];
            unpack_i4(bytes, &mut elements);
            elements.into_iter().map(i8::cast_unsigned).collect()
        };
        Self { dtype: in_file(ty.dtype), shape, bytes: runs.iter().flat_map(elements).collect() }
    }

    /// The elements, as numbers.
    pub(crate) fn elements(&self) -> Elements<'_> {
        macro_rules! numbers {
            ($kind:ident, $ty:ty) => {{
                let (chunks, _) = self.bytes.as_chunks();
                Elements::$kind(Box::new(chunks.iter().map(|bytes| <$ty>::from_le_bytes(*bytes).into())))
            }};
        }
        match self.dtype {
            DType::I4 | DType::I8 => numbers!(Integers, i8),
            DType::U8 | DType::Bool => numbers!(Integers, u8),
            DType::I16 => numbers!(Integers, i16),
            DType::I32 => numbers!(Integers, i32),
            DType::U32 => numbers!(Integers, u32),
            DType::I64 => numbers!(Integers, i64),
            DType::U64 => numbers!(Integers, u64),
            DType::F16 => numbers!(Floats, aot_rt::f16),
            DType::BF16 => numbers!(Floats, aot_rt::bf16),
            DType::F32 => numbers!(Floats, f32),
        }
    }
}

/// The type that a file has for it.
pub(crate) const fn in_file(dtype: DType) -> DType {
    match dtype {
        DType::I4 => DType::I8,
        other => other,
    }
}

/// `i8 [1, 490]`.
impl std::fmt::Display for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.dtype.name(), self.shape)
    }
}
