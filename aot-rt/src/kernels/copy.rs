//! `copy`: the same elements in another place.

use super::kernel_params;
use crate::Params;

kernel_params! {
    /// Parameters of [`copy_i8`].
    pub struct CopyI8 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// Copies `x` to `y`, byte by byte; serves every element type.
pub fn copy_i8(params: &impl Params<CopyI8>, x: &[i8], y: &mut [i8]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.len, p.len));
    for (x, y) in x.iter().zip(y) {
        *y = *x;
    }
}
