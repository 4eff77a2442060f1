//! Products of matrices, and transposed convolutions.

use super::node::{Node, kind};
use super::operators::{Known, known};
use super::types::{F, I, I32, I64, Rows, TWO_F_I_W, W};
use super::{layers, names, open};
use crate::error::OpError;
use crate::graph::Shape;
use crate::ops::{BatchMatmul, Conv3d, Op, Padding2d, Padding3d, TransposeConv2d};

pub(super) const OPERATORS: &[Known] = &[
    known("BATCH_MATMUL", 4, [2, 2], TWO_F_I_W, batch_matmul),
    known("CONV_3D", 1, [2, 3], &[&[F, F, F, F]], conv_3d),
    known("TRANSPOSE_CONV", 5, [3, 4], TRANSPOSED, transpose_conv).of_operands(&[2, 1, 3]),
];

/// `x`, weights, bias, result.
const TRANSPOSED: Rows = &[&[F, F, F, F], &[I, I, I32, I], &[W, I, I64, W]];

fn batch_matmul(node: &Node<'_>) -> Result<Op, OpError> {
    const ADJ_X: usize = 0;
    const ADJ_Y: usize = 1;
    // The third, asymmetric_quantize_inputs, is for int8 weights under float activations.
    let options = node.optional_options(kind(101, "BatchMatMulOptions", 3))?;
    Ok(BatchMatmul { transpose_a: options.flag(ADJ_X)?, transpose_b: options.flag(ADJ_Y)? }.into())
}

fn conv_3d(node: &Node<'_>) -> Result<Op, OpError> {
    const PADDING: usize = 0;
    const STRIDES: [(usize, &str); 3] = [(1, "stride_d"), (3, "stride_h"), (2, "stride_w")];
    const ACTIVATION: usize = 4;
    const DILATIONS: [(usize, &str); 3] =
        [(5, "dilation_d_factor"), (7, "dilation_h_factor"), (6, "dilation_w_factor")];
    let options = node.options(kind(106, "Conv3DOptions", 8))?;
    let counts = |fields: [(usize, &str); 3], default| -> Result<[usize; 3], OpError> {
        let [depth, height, width] = fields.map(|(slot, name)| options.count(slot, default, name));
        Ok([depth?, height?, width?])
    };
    let op = Conv3d {
        stride: counts(STRIDES, 0)?,
        dilation: counts(DILATIONS, 1)?,
        padding: if options.padding(PADDING)? == Padding2d::Same {
            Padding3d::Same
        } else {
            Padding3d::Valid
        },
        activation: options.activation(ACTIVATION)?,
    };
    Ok(op.into())
}

fn transpose_conv(node: &Node<'_>) -> Result<Op, OpError> {
    const PADDING: usize = 0;
    const STRIDE_W: usize = 1;
    const STRIDE_H: usize = 2;
    const ACTIVATION: usize = 3;
    const BIAS_TYPE: usize = 4;
    let options = node.options(kind(49, "TransposeConvOptions", 5))?;
    options.only(BIAS_TYPE, &[names::FLOAT32, names::INT32], "quantized_bias_type")?;
    let op = TransposeConv2d {
        output: output_extents(node)?,
        stride: layers::stride(&options, [STRIDE_H, STRIDE_W])?,
        padding: options.padding(PADDING)?,
        activation: options.activation(ACTIVATION)?,
    };
    Ok(op.into())
}

/// Height and width of the result, whose shape is the first operand.
///
/// Where that is no constant, the declared shape holds, which must be closed, and the run does
/// not look at the operand: with another value there, the reference makes a result of another
/// shape, which is not the one that the model declares.
fn output_extents(node: &Node<'_>) -> Result<[usize; 2], OpError> {
    let declared = &node.result.shape;
    let result = node.operator.outputs.first().and_then(|index| usize::try_from(*index).ok());
    let result = result.and_then(|index| node.model.tensors.get(index));
    let open = result.map_or(Ok(Vec::new()), open::axes)?;
    let shape = if node.is_constant(0)? {
        let stated = node.integers(0)?.ok_or("the shape of the result is left out")?.values;
        let shape = stated.iter().map(|extent| usize::try_from(*extent)).collect::<Result<Vec<_>, _>>();
        let shape = shape.ok().and_then(|shape| Shape::new(shape).ok());
        shape
            .filter(|shape| shape.agrees(declared, &open))
            .ok_or_else(|| format!("the shape of the result is {stated:?}, declared is {declared}"))?
    } else if open.is_empty() {
        declared.clone()
    } else {
        return Err(format!(
            "the shape of the result is an operand, and axes {open:?} of {declared} are open"
        )
        .into());
    };
    let [_, height, width, _] = shape.array()?;
    Ok([height, width])
}
