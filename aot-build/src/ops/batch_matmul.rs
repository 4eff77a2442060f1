//! `batch_matmul`: products of matrices.
//!
//! Operands: `a` `[.., rows, depth]`, `b` `[.., depth, columns]`, either with its last two
//! axes exchanged. The axes before are broadcast. Result: `[.., rows, columns]`.
//! Sources: TFLite BATCH_MATMUL; ONNX MatMul.
//! int8: `(a - zero) * (b - zero)` summed in 32 bits; int16: in 64. The factor is that of
//! `fully_connected` (tflite numerics, section 3), whose kernel serves where `b` is a constant
//! for the whole batch.

use aot_rt::DType;
use aot_rt::kernels::{
    BatchMatmul as Matrices, BatchMatmulI8, BatchMatmulI16, FullyConnectedF32, FullyConnectedI8, Kernel,
    OutputI8, packed_filters,
};
use serde::{Deserialize, Serialize};

use super::broadcast::{self, Loops};
use super::{Activation, Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Data, Shape, TensorType};
use crate::program::{NodeLowering, Operand};

/// Attributes of `batch_matmul`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BatchMatmul {
    /// `a` is `[.., depth, rows]`.
    pub transpose_a: bool,
    /// `b` is `[.., columns, depth]`.
    pub transpose_b: bool,
}

/// An operand: the axes before the matrix, its extents, and the elements from one row to
/// the next and from one column to the next.
struct Side<'s> {
    batch: &'s [usize],
    extents: [usize; 2],
    strides: [usize; 2],
}

impl<'s> Side<'s> {
    fn new(shape: &'s Shape, transposed: bool) -> Result<Self, OpError> {
        let Some((batch, &[rows, columns])) = shape.split_last_chunk::<2>() else {
            return Err(format!("{shape} is no matrix").into());
        };
        Ok(if transposed {
            Self { batch, extents: [columns, rows], strides: [1, columns] }
        } else {
            Self { batch, extents: [rows, columns], strides: [columns, 1] }
        })
    }

    fn elements(&self) -> usize {
        self.extents[0] * self.extents[1]
    }
}

impl BatchMatmul {
    fn sides<'s>(&self, a: &'s Shape, b: &'s Shape) -> Result<[Side<'s>; 2], OpError> {
        let sides = [Side::new(a, self.transpose_a)?, Side::new(b, self.transpose_b)?];
        let [[_, columns], [rows, _]] = [sides[0].extents, sides[1].extents];
        if columns != rows {
            return Err(format!("rows of {columns} elements meet columns of {rows}: {a} and {b}").into());
        }
        Ok(sides)
    }

    fn matrices(&self, a: &Shape, b: &Shape) -> Result<Matrices, OpError> {
        let [a, b] = self.sides(a, b)?;
        let loops = Loops::new(&broadcast::shape(a.batch, b.batch)?, [a.batch, b.batch]);
        let (extents, [a_strides, b_strides]) = loops.strides([a.elements(), b.elements()])?;
        let [depth, columns] = b.extents;
        // An axis of one element can be taken to stand together.
        let b_strides_inner = if columns == 1 { [b.strides[0], 1] } else { b.strides };
        Ok(Matrices {
            batch: aot_rt::kernels::Broadcast { extents, a_strides, b_strides },
            rows: a.extents[0],
            depth,
            columns,
            a_strides: a.strides,
            b_strides: b_strides_inner,
        })
    }

    /// Whether one constant matrix serves the whole batch, whose rows stand together.
    fn is_layer(&self, node: &NodeLowering<'_, '_>) -> Result<bool, OpError> {
        let (a, b) = (node.input(0)?, node.input(1)?);
        let [_, b_side] = self.sides(&a.ty.shape, &b.ty.shape)?;
        let constant = b.data.is_some() && b_side.batch.iter().all(|extent| *extent == 1);
        Ok(constant && !self.transpose_a && a.data.is_none() && a.ty.dtype != DType::I16)
    }

    /// The constant matrix `b`, column by column.
    fn columns(&self, node: &mut NodeLowering<'_, '_>) -> Result<Operand, OpError> {
        let (a, b) = (node.input(0)?, node.input(1)?);
        let Some(data) = &b.data else { return Err(format!("`{}` is not constant", b.name).into()) };
        let [_, Side { extents: [depth, columns], strides: [row, column], .. }] =
            self.sides(&a.ty.shape, &b.ty.shape)?;
        let at = |i: usize| i / depth * column + i % depth * row;
        Ok(if b.ty.dtype == DType::F32 {
            let plain = reordered::<4>(data, (0..columns * depth).map(at));
            let packed = reordered::<4>(data, packed_filters(columns, depth).map(at));
            node.packed(DType::F32, &plain, packed)
        } else {
            let bytes = reordered::<1>(data, (0..columns * depth).map(at));
            node.constant(b.ty.dtype, &bytes)
        })
    }
}

fn reordered<const SIZE: usize>(data: &Data, order: impl Iterator<Item = usize>) -> Vec<u8> {
    let elements = data.bytes().as_chunks::<SIZE>().0;
    order.map(|i| elements[i]).collect::<Vec<_>>().into_flattened()
}

impl Operator for BatchMatmul {
    const NAME: &'static str = "batch_matmul";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (a, b) = (&operands.get(0)?.ty, &operands.get(1)?.ty);
        let [a_side, b_side] = self.sides(&a.shape, &b.shape)?;
        let mut shape = broadcast::shape(a_side.batch, b_side.batch)?;
        shape.extend([a_side.extents[0], b_side.extents[1]]);
        one(a.dtype, shape)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (a, b, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let matrices = self.matrices(&a.ty.shape, &b.ty.shape)?;
        let Matrices { rows, depth, columns, .. } = matrices;
        let is_layer = self.is_layer(node)?;
        let (batch, inputs, outputs) = (y.ty.shape.elements() / columns, depth, columns);
        let range = Activation::None.range_f32();
        let (kernel, no_bias) = match (a.ty.dtype, b.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32, DType::F32) if is_layer => {
                (Kernel::FullyConnectedF32(FullyConnectedF32 { batch, inputs, outputs, range }), DType::F32)
            }
            (DType::F32, DType::F32, DType::F32) => (Kernel::BatchMatmulF32(matrices), DType::F32),
            (DType::I8, DType::I8, DType::I8) if !quantized::legacy(a) => {
                let kernel = integers(node, matrices)?;
                let as_layer = FullyConnectedI8 {
                    batch,
                    inputs,
                    outputs,
                    input_zero_point: kernel.a_zero_point,
                    weights_zero_point: kernel.b_zero_point,
                    output: kernel.output,
                };
                let layer = Kernel::FullyConnectedI8(as_layer);
                (if is_layer { layer } else { Kernel::BatchMatmulI8(kernel) }, DType::I32)
            }
            (DType::I16, DType::I16, DType::I16) => {
                (Kernel::BatchMatmulI16(wide_integers(node, matrices)?), DType::I64)
            }
            (a, b, y) => return Err(no_kernel(&[a, b, y])),
        };
        let mut operands = vec![node.read(0)?, node.write(0)];
        if is_layer {
            operands.extend([self.columns(node)?, node.constant(no_bias, &[])]);
            if a.ty.dtype == DType::I8 {
                operands.extend(quantized::multipliers(node, &[quantized::multiplier(factor(node)?)?]));
            }
        } else {
            operands.push(node.read(1)?);
        }
        let macs = (y.ty.shape.elements() as u64) * depth as u64;
        let matrices = y.ty.shape.elements() / (rows * columns);
        node.step(kernel, operands, macs, format!("{matrices} × {rows}×{depth}×{columns}"));
        Ok(())
    }
}

/// The real factor of the sums.
fn factor(node: &NodeLowering<'_, '_>) -> Result<f64, OpError> {
    let scale = |tensor| quantized::tensor_wide(tensor).map(|quantization| f64::from(quantization.scale));
    Ok(scale(node.input(0)?)? * scale(node.input(1)?)? / scale(node.output(0))?)
}

fn integers(node: &NodeLowering<'_, '_>, matrices: Matrices) -> Result<BatchMatmulI8, OpError> {
    let zero_point = |tensor| quantized::tensor_wide(tensor).map(|quantization| quantization.zero_point);
    let (a_zero_point, b_zero_point) = (zero_point(node.input(0)?)?, zero_point(node.input(1)?)?);
    let factor = quantized::multiplier(factor(node)?)?;
    // The largest difference from a zero point.
    let reach = |zero_point: i32| u64::from((127 - zero_point).max(zero_point + 128).unsigned_abs());
    let product = reach(a_zero_point) * reach(b_zero_point);
    quantized::check_sum(matrices.depth as u64, product, factor.shift)?;
    let output: OutputI8 =
        Activation::None.output_i8(quantized::tensor_wide(node.output(0))?, node.single_rounding());
    let (multiplier, shift) = (factor.multiplier, factor.shift);
    Ok(BatchMatmulI8 { matrices, a_zero_point, b_zero_point, multiplier, shift, output })
}

fn wide_integers(node: &NodeLowering<'_, '_>, matrices: Matrices) -> Result<BatchMatmulI16, OpError> {
    for tensor in [node.input(0)?, node.input(1)?, node.output(0)] {
        if quantized::tensor_wide(tensor)?.zero_point != 0 {
            return Err(format!("`{}` is i16 with a zero point other than 0", tensor.name).into());
        }
    }
    // Products of 30 bits: the sum times a factor of 15 bits must fit 63.
    if matrices.depth >= 1 << 18 {
        return Err(format!("a sum of {} products of int16 could overflow", matrices.depth).into());
    }
    let (multiplier, shift) = quantized::short_factor(factor(node)?)?;
    let range = Activation::None.range_i16(quantized::tensor_wide(node.output(0))?);
    Ok(BatchMatmulI16 { matrices, multiplier: multiplier.into(), shift: shift.into(), range })
}
