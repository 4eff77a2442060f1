//! Constants that are not stored element by element: int4, and sparse ones.

use super::flatbuffer::File;
use super::schema::Tensor;
use super::{dtype, names, shape, sparsity};
use crate::error::OpError;

/// The elements of a constant whose buffer holds `bytes`; `None` where these are the
/// elements. int4 become int8.
///
/// # Errors
///
/// When the bytes do not fit the type and the shape.
pub(super) fn decoded(
    file: &File<'_>,
    tensor: &Tensor<'_>,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>, OpError> {
    match (tensor.sparsity()?, tensor.ty) {
        (None, names::INT4) => nibbles(file, shape(&tensor.shape)?.elements(), bytes).map(Some),
        (None, _) => Ok(None),
        (Some(_), _) if tensor.shape.contains(&0) => Err("is sparse and has no element".into()),
        (Some(_), names::INT4) => Err("is sparse and int4, which is not supported".into()),
        (Some(table), ty) => {
            let refuse =
                || OpError::from(format!("is sparse and {}, which is not supported", names::type_name(ty)));
            let dtype = dtype(ty).ok_or_else(refuse)?;
            sparsity::dense(file, &table, &shape(&tensor.shape)?, dtype.size(), bytes).map(Some)
        }
    }
}

/// Two elements are in a byte, the first in its lower half.
fn nibbles(file: &File<'_>, elements: usize, bytes: &[u8]) -> Result<Vec<u8>, OpError> {
    if elements.div_ceil(2) != bytes.len() {
        return Err(format!("has {elements} elements of 4 bits, its data {} bytes", bytes.len()).into());
    }
    file.charge(0, elements)?;
    let halves = bytes.iter().flat_map(|byte| [(byte << 4).cast_signed() >> 4, byte.cast_signed() >> 4]);
    Ok(halves.take(elements).map(i8::cast_unsigned).collect())
}
