//! The constants of a program: one blob, equal constants stored once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use aot_rt::DType;

use super::ConstantView;

/// Collects constants into one aligned blob. Cheap to clone once it is complete.
#[derive(Clone, Debug, Default)]
pub struct ConstantPool {
    bytes: Arc<Vec<u8>>,
    /// Constants by type and hash, so that nothing is kept twice.
    known: HashMap<(DType, u64), Vec<ConstantView>>,
    hasher: RandomState,
}

impl ConstantPool {
    /// The blob.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its constants, in the order of their offsets.
    pub(super) fn ranges(&self) -> Vec<ConstantView> {
        let mut ranges: Vec<_> = self.known.values().flatten().copied().collect();
        ranges.sort_unstable_by_key(|view| view.offset);
        ranges
    }

    /// Has the next constant start at a multiple of `alignment`; gives where that is.
    pub(super) fn align(&mut self, alignment: usize) -> usize {
        let bytes = Arc::make_mut(&mut self.bytes);
        bytes.resize(bytes.len().next_multiple_of(alignment), 0);
        bytes.len()
    }

    /// Adds little-endian elements, or finds equal ones.
    pub(super) fn intern(&mut self, dtype: DType, data: &[u8]) -> ConstantView {
        let len = data.len() / dtype.size();
        if len == 0 {
            return ConstantView { offset: 0, dtype, len };
        }
        let known = self.known.entry((dtype, self.hasher.hash_one(data))).or_default();
        let is_equal = |view: &&ConstantView| self.bytes[view.offset..].starts_with(data) && view.len == len;
        if let Some(view) = known.iter().find(is_equal) {
            return *view;
        }
        let bytes = Arc::make_mut(&mut self.bytes);
        bytes.resize(bytes.len().next_multiple_of(alignment(dtype, data.len())), 0);
        let view = ConstantView { offset: bytes.len(), dtype, len };
        bytes.extend_from_slice(data);
        known.push(view);
        view
    }
}

/// What the offset of a constant is a multiple of: kernels may read weights by words, where there
/// are enough of them.
pub(super) fn alignment(dtype: DType, bytes: usize) -> usize {
    if bytes < 16 { dtype.size() } else { dtype.size().max(4) }
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
