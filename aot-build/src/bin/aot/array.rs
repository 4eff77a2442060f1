//! Arrays in `.npy` files.

use std::path::Path;

use aot_build::Error;
use aot_build::graph::{Shape, TensorType};
use aot_build::weights::{Stored, npy};
use aot_rt::DType;

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
        (self.dtype, &self.shape) == (ty.dtype, &ty.shape)
    }

    /// With one leading axis more than `ty`: the steps of a sequence.
    pub(crate) fn sequence_of(&self, ty: &TensorType) -> Option<usize> {
        let (&steps, rest) = self.shape.split_first()?;
        (self.dtype == ty.dtype && *rest == *ty.shape).then_some(steps)
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
            DType::I8 => numbers!(Integers, i8),
            DType::U8 | DType::Bool => numbers!(Integers, u8),
            DType::I16 => numbers!(Integers, i16),
            DType::I32 => numbers!(Integers, i32),
            DType::U32 => numbers!(Integers, u32),
            DType::I64 => numbers!(Integers, i64),
            DType::U64 => numbers!(Integers, u64),
            DType::F16 => numbers!(Floats, aot_rt::f16),
            DType::F32 => numbers!(Floats, f32),
        }
    }
}

/// `i8 [1, 490]`.
impl std::fmt::Display for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.dtype.name(), self.shape)
    }
}
