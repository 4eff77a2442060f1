//! Which channels hold the same number for every input, and which number.

use aot_rt::DType;

use super::layer::{Kind, Layer, zero_point};
use crate::Config;
use crate::compile::compile_as_is;
use crate::eval::Evaluator;
use crate::graph::{Data, Graph, Node, Shape, Tensor, TensorId};
use crate::ops::{Op, Padding2d};

/// For each tensor: the number that each of its channels holds, where it is always the
/// same; empty where none does.
pub(super) type Values = Vec<Vec<Option<i8>>>;

/// The values of all tensors.
pub(super) fn channel_values(graph: &Graph, layers: &[Option<Layer>], config: &Config) -> Values {
    let mut values: Values = vec![Vec::new(); graph.tensors.len()];
    for (node, layer) in graph.nodes.iter().zip(layers) {
        let Some(layer) = layer else { continue };
        let is_constant = constant_channels(graph, layer, &values[layer.x.index()]);
        if is_constant.contains(&true)
            && let Some(result) = result(graph, node, layer, &values[layer.x.index()], config)
        {
            let known = is_constant.into_iter().zip(result);
            values[layer.y.index()] = known.map(|(constant, value)| constant.then_some(value)).collect();
        }
    }
    values
}

/// Whether each channel of the layer's result depends on no input.
fn constant_channels(graph: &Graph, layer: &Layer, x: &[Option<i8>]) -> Vec<bool> {
    let known = |channel: usize| x.get(channel).copied().flatten();
    let channels = graph.tensor(layer.y).ty.shape.last().copied().unwrap_or(0);
    let Some(taps) = layer.taps(graph) else {
        return (0..channels).map(|channel| known(channel).is_some()).collect();
    };
    let zero = zero_point(graph.tensor(layer.x));
    // Cells outside the image are at the zero point.
    let same_everywhere =
        |x: usize| known(x).is_some_and(|value| layer.stays_inside || i64::from(value) == zero);
    (0..channels).map(|y| taps.to(y).all(|tap| tap.weight == 0 || same_everywhere(tap.x))).collect()
}

/// What the layer makes of an image of the known values; the other channels are at the
/// zero point.
fn result(graph: &Graph, node: &Node, layer: &Layer, x: &[Option<i8>], config: &Config) -> Option<Vec<i8>> {
    let (mut x_tensor, mut y_tensor) = (graph.tensor(layer.x).clone(), graph.tensor(layer.y).clone());
    let channels = *x_tensor.ty.shape.last()?;
    let mut op = node.op.clone();
    let window = shrink(&mut op, graph, layer);
    let shape = |extents: [usize; 2], channels: usize, rank: usize| {
        let image = [1, extents[0], extents[1], channels];
        Shape::new(if rank == 4 { image.to_vec() } else { vec![1, channels] }).ok()
    };
    let y_channels = *y_tensor.ty.shape.last()?;
    let rank = if matches!(op, Op::FullyConnected(_)) { 2 } else { 4 };
    x_tensor.ty.shape = shape(window, channels, rank)?;
    y_tensor.ty.shape = shape([1, 1], y_channels, rank)?;
    if let Op::Reshape(reshape) = &mut op {
        reshape.shape = y_tensor.ty.shape.clone();
    }
    let zero = zero_point(&x_tensor) as i8;
    let pixel: Vec<i8> = (0..channels).map(|i| x.get(i).copied().flatten().unwrap_or(zero)).collect();
    x_tensor.data = Some(Data::from_i8s(&pixel.repeat(window[0] * window[1])));
    let bytes = run(graph, node, op, [x_tensor, y_tensor], config)?;
    Some(bytes.into_iter().map(u8::cast_signed).collect())
}

/// Lets the operator look at one window of an image; gives its height and width.
fn shrink(op: &mut Op, graph: &Graph, layer: &Layer) -> [usize; 2] {
    let kernel = layer.weights.map(|id| &graph.tensor(id).ty.shape);
    let kernel =
        || kernel.filter(|_| layer.kind != Kind::Product).map_or([1, 1], |shape| [shape[1], shape[2]]);
    match op {
        Op::Conv2d(op) => {
            (op.stride, op.dilation, op.padding) = ([1; 2], [1; 2], Padding2d::Valid);
            kernel()
        }
        Op::DepthwiseConv2d(op) => {
            (op.stride, op.dilation, op.padding) = ([1; 2], [1; 2], Padding2d::Valid);
            kernel()
        }
        // The mean and the largest of equal numbers.
        Op::AveragePool2d(op) => {
            (op.window, op.stride, op.padding) = ([1; 2], [1; 2], Padding2d::Valid);
            [1, 1]
        }
        Op::MaxPool2d(op) => {
            (op.window, op.stride, op.padding) = ([1; 2], [1; 2], Padding2d::Valid);
            [1, 1]
        }
        _ => [1, 1],
    }
}

/// Runs the operator alone, on these tensors in place of the node's.
fn run(graph: &Graph, node: &Node, op: Op, [x, y]: [Tensor; 2], config: &Config) -> Option<Vec<u8>> {
    let mut alone = Graph { tensors: vec![x, y], ..Graph::default() };
    let mut inputs = vec![Some(TensorId(0))];
    for id in &node.inputs[1..] {
        inputs.push(id.map(|id| {
            alone.tensors.push(graph.tensor(id).clone());
            TensorId(alone.tensors.len() - 1)
        }));
    }
    alone.nodes.push(Node { op, inputs, outputs: vec![TensorId(1)], ..node.clone() });
    alone.outputs.push(TensorId(1));
    let config = Config { rounding: config.rounding, ..Config::default() };
    let compiled = compile_as_is(&alone, &config).ok()?;
    debug_assert_eq!(compiled.program.outputs[0].ty.dtype, DType::I8);
    Evaluator::new(&compiled).run(&[]).ok()?.pop()
}
