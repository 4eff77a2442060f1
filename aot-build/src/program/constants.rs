//! The constants of a program: one blob, equal constants stored once.

use std::collections::HashMap;

use aot_rt::DType;

use super::ConstantView;

/// Collects constants into one aligned blob.
#[derive(Clone, Debug, Default)]
pub struct ConstantPool {
    bytes: Vec<u8>,
    offsets: HashMap<(DType, Box<[u8]>), usize>,
}

impl ConstantPool {
    /// The blob.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds little-endian elements, or finds equal ones.
    pub(super) fn intern(&mut self, dtype: DType, data: &[u8]) -> ConstantView {
        let len = data.len() / dtype.size();
        if len == 0 {
            return ConstantView { offset: 0, dtype, len };
        }
        let bytes = &mut self.bytes;
        let offset = *self.offsets.entry((dtype, data.into())).or_insert_with(|| {
            bytes.resize(bytes.len().next_multiple_of(dtype.size()), 0);
            bytes.extend_from_slice(data);
            bytes.len() - data.len()
        });
        ConstantView { offset, dtype, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constants_are_stored_once_and_aligned() {
        let mut pool = ConstantPool::default();
        let a = pool.intern(DType::I8, &[1, 2, 3]);
        let b = pool.intern(DType::I32, &[5, 0, 0, 0]);
        let c = pool.intern(DType::I8, &[1, 2, 3]);
        assert_eq!((a.offset, b.offset), (0, 4));
        assert_eq!(a, c);
        assert_eq!(pool.bytes(), [1, 2, 3, 0, 5, 0, 0, 0]);
    }
}
