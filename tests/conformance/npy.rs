//! Arrays in `.npy` files.

use std::path::Path;

/// Extents, element type and little-endian elements of an array.
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    /// As numpy writes it: `'<f4'`.
    pub(crate) dtype: String,
    pub(crate) bytes: Vec<u8>,
}

impl Array {
    pub(crate) fn read(path: &Path) -> Self {
        let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut rest = &*file;
        let header = npyz::NpyHeader::from_reader(&mut rest)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(header.order(), npyz::Order::C, "{}", path.display());
        Self {
            shape: header.shape().iter().map(|&extent| extent as usize).collect(),
            dtype: header.dtype().descr().trim_matches('\'').to_owned(),
            bytes: rest.to_vec(),
        }
    }

    /// The parts of a sequence: the steps along the first axis.
    #[allow(dead_code, reason = "not every test that has this module needs it")]
    pub(crate) fn steps(&self) -> impl Iterator<Item = &[u8]> {
        let steps = self.shape.first().copied().unwrap_or(1).max(1);
        self.bytes.chunks((self.bytes.len() / steps).max(1))
    }
}
