//! The elements of a constant.

use std::sync::Arc;

use aot_rt::DType;

/// Elements of a constant as little-endian bytes; cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Data(Arc<[u8]>);

impl Data {
    /// Takes little-endian bytes.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Elements of type `i32`.
    #[must_use]
    pub fn from_i32s(values: &[i32]) -> Self {
        Self(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Elements of type `f32`.
    #[must_use]
    pub fn from_f32s(values: &[f32]) -> Self {
        Self(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Elements of type `i8`.
    #[must_use]
    pub fn from_i8s(values: &[i8]) -> Self {
        Self(values.iter().map(|value| value.cast_unsigned()).collect())
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The elements of an integer tensor, widened.
    ///
    /// # Errors
    ///
    /// When `dtype` is no integer type that 64 bits hold with its sign.
    pub fn integers(&self, dtype: DType) -> Result<Vec<i64>, String> {
        fn read<const N: usize>(bytes: &[u8], from: fn([u8; N]) -> i64) -> Vec<i64> {
            bytes.as_chunks().0.iter().map(|chunk| from(*chunk)).collect()
        }
        Ok(match dtype {
            DType::I8 => read(&self.0, |b| i8::from_le_bytes(b).into()),
            DType::U8 | DType::Bool => read(&self.0, |b: [u8; 1]| b[0].into()),
            DType::I16 => read(&self.0, |b| i16::from_le_bytes(b).into()),
            DType::I32 => read(&self.0, |b| i32::from_le_bytes(b).into()),
            DType::U32 => read(&self.0, |b| u32::from_le_bytes(b).into()),
            DType::I64 => read(&self.0, i64::from_le_bytes),
            DType::I4 | DType::F16 | DType::BF16 | DType::F32 | DType::U64 => {
                return Err(format!(
                    "{} where integers that 64 bits hold with their sign are needed",
                    dtype.name()
                ));
            }
        })
    }
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Data({} bytes)", self.0.len())
    }
}
