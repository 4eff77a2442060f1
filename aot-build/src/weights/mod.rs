//! Files of tensors: `.safetensors` and `.npy`.
//!
//! Both formats are a short header before little-endian elements. They are read by a
//! few lines here because of what the crates for them cost to build: `npyz` 17 CPU
//! seconds (it brings a parser generator), `safetensors` 2, all of `net.json` 5.

pub mod npy;
pub mod safetensors;

use aot_rt::DType;

use crate::graph::Shape;

/// A tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Type of the elements.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Shape,
    /// The elements, row by row, little-endian.
    pub bytes: &'a [u8],
}

impl<'a> Stored<'a> {
    /// Checks that there are as many bytes as type and shape say.
    fn new(dtype: DType, shape: Shape, bytes: &'a [u8]) -> Result<Self, String> {
        // At most 2^31 elements of 8 bytes.
        let expected = dtype.bytes(shape.elements()) as u64;
        if bytes.len() as u64 != expected {
            return Err(format!(
                "{} {shape} takes {expected} bytes, there are {}",
                dtype.name(),
                bytes.len()
            ));
        }
        Ok(Self { dtype, shape, bytes })
    }
}
