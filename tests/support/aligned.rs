//! Memory for runs on bytes.

use aot_rt::{Block, block_bytes_mut};

/// Bytes aligned for every element type.
pub(crate) struct Aligned {
    blocks: Vec<Block>,
    len: usize,
}

impl Aligned {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut blocks = vec![Block::default(); bytes.len().div_ceil(size_of::<Block>())];
        block_bytes_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        Self { blocks, len: bytes.len() }
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut block_bytes_mut(&mut self.blocks)[..self.len]
    }
}
