//! What kernels know about rows.

use aot_rt::kernels::Kernel;

/// Rows of the image that a kernel sums.
pub(super) fn image_rows(kernel: &Kernel) -> Option<usize> {
    match kernel {
        Kernel::SumRowsF32(p) => Some(p.rows),
        Kernel::SumRowsI8(p) => Some(p.rows),
        _ => None,
    }
}

/// The elementwise kernel for one of `rows` equal parts of its tensors.
pub(super) fn divided(kernel: &Kernel, rows: usize) -> Option<Kernel> {
    let part = |len: usize| (rows > 0 && len.is_multiple_of(rows)).then(|| len / rows);
    let broadcast = |mut broadcast: aot_rt::kernels::Broadcast| {
        let vector = [0, 0, 0, 0, 0, 1];
        let is_plain = broadcast.extents[..5] == [1; 5]
            && broadcast.a_strides[5] == vector[5]
            && broadcast.b_strides[5] == vector[5];
        broadcast.extents[5] = part(broadcast.extents[5])?;
        is_plain.then_some(broadcast)
    };
    let mut divided = *kernel;
    match &mut divided {
        Kernel::AddF32(p) => p.broadcast = broadcast(p.broadcast)?,
        Kernel::AddI8(p) | Kernel::AddI16(p) => p.broadcast = broadcast(p.broadcast)?,
        Kernel::ClampF32(p) => p.len = part(p.len)?,
        Kernel::FlipSignBitI8(p) => p.len = part(p.len)?,
        Kernel::LogisticF32(p) => p.len = part(p.len)?,
        Kernel::LookupI8(p) => p.len = part(p.len)?,
        _ => return None,
    }
    Some(divided)
}
