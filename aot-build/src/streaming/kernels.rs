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
        let is_plain =
            broadcast.extents[..5] == [1; 5] && broadcast.a_strides[5] == 1 && broadcast.b_strides[5] == 1;
        broadcast.extents[5] = part(broadcast.extents[5])?;
        is_plain.then_some(broadcast)
    };
    let mut divided = *kernel;
    match &mut divided {
        Kernel::AddF32(p)
        | Kernel::DivF32(p)
        | Kernel::FloorDivF32(p)
        | Kernel::FloorModF32(p)
        | Kernel::MaximumF32(p)
        | Kernel::MinimumF32(p)
        | Kernel::MulF32(p)
        | Kernel::PowF32(p)
        | Kernel::SquaredDifferenceF32(p)
        | Kernel::SubF32(p) => p.broadcast = broadcast(p.broadcast)?,
        Kernel::AddI8(p) | Kernel::AddI16(p) | Kernel::SquaredDifferenceI8(p) | Kernel::SubI8(p) => {
            p.broadcast = broadcast(p.broadcast)?;
        }
        Kernel::DivI8(p) | Kernel::MulI8(p) => p.broadcast = broadcast(p.broadcast)?,
        Kernel::MaximumI8(p) | Kernel::MinimumI8(p) => p.broadcast = broadcast(p.broadcast)?,
        Kernel::AbsF32(p)
        | Kernel::CeilF32(p)
        | Kernel::CosF32(p)
        | Kernel::EluF32(p)
        | Kernel::ExpF32(p)
        | Kernel::FloorF32(p)
        | Kernel::GeluF32(p)
        | Kernel::GeluTanhF32(p)
        | Kernel::HardSwishF32(p)
        | Kernel::LogF32(p)
        | Kernel::NegF32(p)
        | Kernel::RoundF32(p)
        | Kernel::RsqrtF32(p)
        | Kernel::SinF32(p)
        | Kernel::SqrtF32(p)
        | Kernel::SquareF32(p)
        | Kernel::TanhF32(p) => p.len = part(p.len)?,
        Kernel::ClampF32(p) => p.len = part(p.len)?,
        Kernel::FlipSignBitI8(p) => p.len = part(p.len)?,
        Kernel::LeakyReluF32(p) => p.len = part(p.len)?,
        Kernel::LeakyReluI16(p) => p.len = part(p.len)?,
        Kernel::LogisticF32(p) => p.len = part(p.len)?,
        Kernel::LookupI8(p) => p.len = part(p.len)?,
        _ => return None,
    }
    Some(divided)
}
