//! `cast`: elements as another type, which stand for themselves.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite CAST; ONNX Cast.
//! Floats are cut off at the point, what is not 0 is true; integers are taken as they are,
//! whatever their scale. To int4, of integers only: the lower four bits.
//! Half precision and bfloat16 become single precision on the way, int4 become int8.

use aot_rt::DType;
use aot_rt::kernels::{
    Broadcast, Cast as CastTo, Compare, CopyI8, DequantizeF16F32, DequantizeI8F32, Kernel, LookupI8,
};
use serde::{Deserialize, Serialize};

use super::compare::Relation;
use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::{NodeLowering, Operand};

/// Attributes of `cast`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cast {
    /// Type of the result.
    #[serde(with = "super::dtype_name")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::export::schema::DTypeName"))]
    pub dtype: DType,
}

/// What elements are on the way from one type to another, both included.
fn way(from: DType, to: DType) -> Vec<DType> {
    const fn wide(dtype: DType) -> DType {
        match dtype {
            DType::I4 => DType::I8,
            DType::F16 | DType::BF16 => DType::F32,
            other => other,
        }
    }
    let mut way = vec![from, wide(from), wide(to), to];
    way.dedup();
    if from == to { vec![from, to] } else { way }
}

/// The kernel from one type to another that is no truth value.
fn kernel(from: DType, to: DType, len: usize) -> Option<Kernel> {
    let cast = CastTo { len };
    Some(match (from, to) {
        (DType::I8 | DType::Bool, DType::I8) => Kernel::CopyI8(CopyI8 { len }),
        (DType::I8 | DType::Bool, DType::F32) => {
            Kernel::DequantizeI8F32(DequantizeI8F32 { len, scale: 1.0, zero_point: 0 })
        }
        (DType::F32, DType::I8) => Kernel::CastF32I8(cast),
        (DType::F32, DType::I16) => Kernel::CastF32I16(cast),
        (DType::F32, DType::I32) => Kernel::CastF32I32(cast),
        (DType::F32, DType::I64) => Kernel::CastF32I64(cast),
        (DType::I8 | DType::Bool, DType::I16) => Kernel::CastI8I16(cast),
        (DType::I8 | DType::Bool, DType::I32) => Kernel::CastI8I32(cast),
        (DType::I8 | DType::Bool, DType::I64) => Kernel::CastI8I64(cast),
        (DType::I16, DType::F32) => Kernel::CastI16F32(cast),
        (DType::I16, DType::I8) => Kernel::CastI16I8(cast),
        (DType::I16, DType::I32) => Kernel::CastI16I32(cast),
        (DType::I16, DType::I64) => Kernel::CastI16I64(cast),
        (DType::I32, DType::F32) => Kernel::CastI32F32(cast),
        (DType::I32, DType::I8) => Kernel::CastI32I8(cast),
        (DType::I32, DType::I16) => Kernel::CastI32I16(cast),
        (DType::I32, DType::I64) => Kernel::CastI32I64(cast),
        (DType::F32, DType::U32) => Kernel::CastF32U32(cast),
        (DType::U32, DType::F32) => Kernel::CastU32F32(cast),
        (DType::U32, DType::I64) => Kernel::CastU32I64(cast),
        // Between integers of 32 bits nothing changes, and what is cut off or filled in is
        // the same with and without sign.
        (DType::I32, DType::U32) | (DType::U32, DType::I32) => Kernel::CopyI8(CopyI8 { len: len * 4 }),
        (DType::U32, to @ (DType::I8 | DType::I16)) => return kernel(DType::I32, to, len),
        (from @ (DType::I8 | DType::I16 | DType::I64), DType::U32) => return kernel(from, DType::I32, len),
        (DType::I64, DType::F32) => Kernel::CastI64F32(cast),
        (DType::I64, DType::I8) => Kernel::CastI64I8(cast),
        (DType::I64, DType::I16) => Kernel::CastI64I16(cast),
        (DType::I64, DType::I32) => Kernel::CastI64I32(cast),
        (DType::F16, DType::F32) => Kernel::DequantizeF16F32(DequantizeF16F32 { len }),
        (DType::F32, DType::F16) => Kernel::CastF32F16(cast),
        (DType::BF16, DType::F32) => Kernel::CastBf16F32(cast),
        (DType::F32, DType::BF16) => Kernel::CastF32Bf16(cast),
        (DType::I4, DType::I8) => Kernel::CastI4I8(cast),
        (DType::I8 | DType::Bool, DType::I4) => Kernel::CastI8I4(cast),
        (from, to) if from == to => Kernel::CopyI8(CopyI8 { len: from.bytes(len) }),
        _ => return None,
    })
}

/// The kernel to truth values, and its constant: everything but 0 is true.
fn truth(from: DType, len: usize, node: &mut NodeLowering<'_, '_>) -> Option<(Kernel, Operand)> {
    if let DType::I8 | DType::U8 | DType::Bool = from {
        let mut table = [1; 256];
        table[0] = 0;
        return Some((Kernel::LookupI8(LookupI8 { len }), node.constant(DType::I8, &table)));
    }
    let broadcast =
        Broadcast { extents: [1, 1, 1, 1, 1, len], a_strides: [0, 0, 0, 0, 0, 1], b_strides: [0; 6] };
    let params = Compare { broadcast, orders: Relation::NotEqual.orders() };
    let kernel = match from {
        DType::F32 => Kernel::CompareF32(params),
        DType::I16 => Kernel::CompareI16(params),
        DType::I32 | DType::U32 => Kernel::CompareI32(params),
        DType::I64 | DType::U64 => Kernel::CompareI64(params),
        DType::I4 | DType::F16 | DType::BF16 | DType::I8 | DType::U8 | DType::Bool => return None,
    };
    Some((kernel, node.constant(from, &vec![0; from.size()])))
}

/// An operand as a kernel takes it: truth values, and what is only copied, are bytes to it.
const fn as_taken(operand: Operand, dtype: DType) -> Operand {
    match dtype {
        DType::I8 => operand.as_bytes(),
        DType::I32 | DType::I64 => operand.as_signed(),
        _ => operand,
    }
}

impl Operator for Cast {
    const NAME: &'static str = "cast";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        one(self.dtype, operands.get(0)?.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (from, to) = (node.input(0)?.ty.dtype, node.output(0).ty.dtype);
        // The integers themselves count, which are not the file's.
        for tensor in [node.input(0)?, node.output(0)] {
            if from != to && quantized::legacy(tensor) {
                return Err(format!("no kernel for `{}`, which is u8", tensor.name).into());
            }
        }
        let len = node.output(0).ty.shape.elements();
        let way = way(from, to);
        // Floats would be limited to int8, and lose bits then.
        if to == DType::I4 && way.contains(&DType::F32) {
            return Err(no_kernel(&[from, to]));
        }
        let mut x = node.read(0)?;
        for (i, types) in way.array_windows::<2>().enumerate() {
            let y =
                if i + 2 == way.len() { node.write(0) } else { node.scratch(types[1].name(), types[1], len) };
            step(node, *types, x, y, len)?;
            x = y;
        }
        Ok(())
    }
}

/// Appends the step from one type to another.
fn step(
    node: &mut NodeLowering<'_, '_>,
    [from, to]: [DType; 2],
    x: Operand,
    y: Operand,
    len: usize,
) -> Result<(), OpError> {
    let (kernel, operands) = if to == DType::Bool {
        let (kernel, constant) = truth(from, len, node).ok_or_else(|| no_kernel(&[from, to]))?;
        (kernel, vec![x, y, constant])
    } else {
        (kernel(from, to, len).ok_or_else(|| no_kernel(&[from, to]))?, vec![x, y])
    };
    let operands = operands.into_iter().zip(kernel.operands());
    let operands = operands.map(|(operand, info)| as_taken(operand, info.dtype)).collect();
    node.step(kernel, operands, 0, format!("{len} elements, {} → {}", from.name(), to.name()));
    Ok(())
}
