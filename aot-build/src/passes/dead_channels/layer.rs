//! The nodes whose channels can be told apart.

use aot_rt::DType;

use crate::graph::{Graph, Node, Shape, Tensor, TensorId};
use crate::ops::{Op, Padding2d};

/// How a node makes the channels of its result from those of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Every channel of `y` from all of `x`: a convolution.
    Convolution,
    /// The same for one cell: a matrix product.
    Product,
    /// Every channel by itself, with weights.
    Depthwise,
    /// Every channel by itself.
    Channelwise,
}

/// A node on int8 tensors of several channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    pub(super) kind: Kind,
    pub(super) x: TensorId,
    pub(super) y: TensorId,
    pub(super) weights: Option<TensorId>,
    pub(super) bias: Option<TensorId>,
    /// Whether no window leaves the image.
    pub(super) stays_inside: bool,
}

impl Layer {
    /// The layer that `node` is, if it is one.
    pub(super) fn new(graph: &Graph, node: &Node) -> Option<Self> {
        let (Some(&Some(x)), &[y]) = (node.inputs.first(), &node.outputs[..]) else { return None };
        let operand = |i: usize| node.inputs.get(i).copied().flatten();
        let layer = |kind, stays_inside| {
            let weighted = kind != Kind::Channelwise;
            let (weights, bias) = if weighted { (operand(1), operand(2)) } else { (None, None) };
            Self { kind, x, y, weights, bias, stays_inside }
        };
        let shape = |id: TensorId| &graph.tensor(id).ty.shape;
        let inside = |stride, dilation, padding| {
            let weights = shape(operand(1)?);
            let kernel = [weights[1], weights[2]];
            Some(stays_inside(shape(x), shape(y), kernel, stride, dilation, padding))
        };
        let layer = match &node.op {
            Op::Conv2d(op) => {
                let inside = inside(op.stride, op.dilation, op.padding)?;
                // One group.
                (shape(operand(1)?).last() == shape(x).last()).then(|| layer(Kind::Convolution, inside))?
            }
            Op::DepthwiseConv2d(op) => {
                let inside = inside(op.stride, op.dilation, op.padding)?;
                (shape(x).last() == shape(y).last()).then(|| layer(Kind::Depthwise, inside))?
            }
            Op::FullyConnected(_) => {
                let inputs = shape(operand(1)?)[1];
                (shape(x).last() == Some(&inputs)).then(|| layer(Kind::Product, true))?
            }
            Op::AveragePool2d(_) | Op::MaxPool2d(_) | Op::Relu(_) | Op::Logistic(_) | Op::Quantize(_) => {
                layer(Kind::Channelwise, true)
            }
            // One that only adds or takes away extents of 1.
            Op::Reshape(_) => (shape(x).last() == shape(y).last()).then(|| layer(Kind::Channelwise, true))?,
            _ => return None,
        };
        layer.is_int8(graph).then_some(layer)
    }

    /// Whether activations and weights are int8 with one scale for each activation, and
    /// weights and bias are constants.
    fn is_int8(&self, graph: &Graph) -> bool {
        let is_activation = |id: TensorId| {
            let ty = &graph.tensor(id).ty;
            ty.dtype == DType::I8 && ty.quantization.as_ref().is_some_and(|q| q.tensor_wide().is_some())
        };
        let is_constant = |id: Option<TensorId>, dtype: DType| {
            id.is_none_or(|id| graph.tensor(id).ty.dtype == dtype && graph.tensor(id).data.is_some())
        };
        let has_weights = self.kind == Kind::Channelwise || self.weights.is_some();
        is_activation(self.x)
            && is_activation(self.y)
            && graph.tensor(self.x).data.is_none()
            && has_weights
            && is_constant(self.weights, DType::I8)
            && is_constant(self.bias, DType::I32)
    }

    /// The weights; `None` where the layer has none.
    pub(super) fn taps<'g>(&self, graph: &'g Graph) -> Option<Taps<'g>> {
        let weights = graph.tensor(self.weights?);
        let zero_point = weights.ty.quantization.as_ref().map_or(0, |q| q.zero_points()[0]).into();
        let depthwise = self.kind == Kind::Depthwise;
        let inputs = *weights.ty.shape.last()?;
        let outputs = if depthwise { inputs } else { weights.ty.shape[0] };
        let filter = weights.ty.shape.elements() / outputs.max(1);
        Some(Taps { weights: weights.data.as_ref()?.bytes(), zero_point, depthwise, inputs, filter })
    }
}

/// The weights of a layer, by the channels that they lead from and to. A large layer has
/// millions: whoever looks for one that is not 0 soon finds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taps<'g> {
    weights: &'g [u8],
    zero_point: i64,
    depthwise: bool,
    /// Elements of the last axis.
    inputs: usize,
    /// Elements of a filter.
    filter: usize,
}

impl Taps<'_> {
    /// Those that lead to channel `y` of the result.
    pub(super) fn to(&self, y: usize) -> impl Iterator<Item = Tap> {
        let Self { depthwise, inputs, filter, .. } = *self;
        let (first, step) = if depthwise { (y, inputs) } else { (y * filter, 1) };
        let weights = self.weights.iter().skip(first).step_by(step.max(1)).take(filter);
        let tap = move |(i, weight)| {
            let x = if depthwise { y } else { i % inputs };
            Tap { y, x, weight: self.weight(weight) }
        };
        weights.enumerate().map(tap)
    }

    /// Those that lead from channel `x` of the operand.
    pub(super) fn from(&self, x: usize) -> impl Iterator<Item = Tap> {
        let Self { depthwise, inputs, filter, .. } = *self;
        let weights = self.weights.iter().skip(x).step_by(inputs.max(1));
        let tap = move |(i, weight)| {
            let y = if depthwise { x } else { i * inputs / filter };
            Tap { y, x, weight: self.weight(weight) }
        };
        weights.enumerate().map(tap)
    }

    fn weight(&self, byte: &u8) -> i64 {
        i64::from(byte.cast_signed()) - self.zero_point
    }
}

/// A weight.
pub(super) struct Tap {
    /// Channel of the result.
    pub(super) y: usize,
    /// Channel of the operand.
    pub(super) x: usize,
    /// Less the zero point.
    pub(super) weight: i64,
}

/// Zero point of an activation.
pub(super) fn zero_point(tensor: &Tensor) -> i64 {
    let quantization = tensor.ty.quantization.as_ref().and_then(|q| q.tensor_wide());
    quantization.map_or(0, |quantization| quantization.zero_point.into())
}

fn stays_inside(
    x: &Shape,
    y: &Shape,
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: Padding2d,
) -> bool {
    let starts_inside = match padding {
        Padding2d::Valid => true,
        Padding2d::Explicit([top, _, left, _]) => top == 0 && left == 0,
        // Some cells are added only where a window would leave the image.
        Padding2d::Same => (0..2).all(|axis| y[axis + 1] * stride[axis] <= x[axis + 1]),
    };
    let ends_inside = (0..2).all(|axis| {
        let reach = (kernel[axis].max(1) - 1) * dilation[axis] + 1;
        y[axis + 1].saturating_sub(1) * stride[axis] + reach <= x[axis + 1]
    });
    starts_inside && ends_inside
}
