//! The graph without some channels.

use aot_rt::DType;

use super::layer::{Kind, Layer, zero_point};
use super::values::Values;
use crate::graph::{Data, Graph, Quantization, Shape, Tensor, TensorId, TensorType};
use crate::ops::Op;

/// The graph without the channels `removed`, and with what constant ones gave in biases;
/// `None` where a bias would be too large.
pub(super) fn without(
    graph: &Graph,
    layers: &[Option<Layer>],
    values: &Values,
    removed: &[Vec<bool>],
) -> Option<Graph> {
    let mut smaller = graph.clone();
    for (tensor, removed) in smaller.tensors.iter_mut().zip(removed) {
        narrow(tensor, removed)?;
    }
    for (i, layer) in layers.iter().enumerate() {
        let Some(layer) = layer else { continue };
        let [x, y] = [layer.x, layer.y].map(|id| &removed[id.index()][..]);
        if !x.contains(&true) && !y.contains(&true) {
            continue;
        }
        if let Op::Reshape(op) = &mut smaller.nodes[i].op {
            op.shape = smaller.tensors[layer.y.index()].ty.shape.clone();
        }
        if let Some(weights) = layer.weights {
            let bias = bias(graph, layer, &values[layer.x.index()], x)?;
            let bias = match bias {
                Some(bias) => Some(sliced(&bias, &[(0, y)])?),
                None => None,
            };
            let axes = match layer.kind {
                Kind::Depthwise => vec![(3, y)],
                Kind::Product => vec![(0, y), (1, x)],
                Kind::Convolution | Kind::Channelwise => vec![(0, y), (3, x)],
            };
            let weights = sliced(graph.tensor(weights), &axes)?;
            let inputs = &mut smaller.nodes[i].inputs;
            let mut add = |tensor: Tensor| {
                smaller.tensors.push(tensor);
                TensorId(smaller.tensors.len() - 1)
            };
            inputs.truncate(2);
            inputs[1] = Some(add(weights));
            inputs.extend(bias.map(|bias| Some(add(bias))));
        }
    }
    Some(smaller)
}

/// Takes channels from the type of an activation.
fn narrow(tensor: &mut Tensor, removed: &[bool]) -> Option<()> {
    if removed.contains(&true) {
        let mut extents = tensor.ty.shape.to_vec();
        *extents.last_mut()? = removed.iter().filter(|removed| !**removed).count();
        tensor.ty.shape = Shape::new(extents).ok()?;
    }
    Some(())
}

/// The bias with what the removed channels of `x` give; `None` inside where there is
/// none, outside where it is too large.
fn bias(graph: &Graph, layer: &Layer, values: &[Option<i8>], removed: &[bool]) -> Option<Option<Tensor>> {
    let channels = *graph.tensor(layer.y).ty.shape.last()?;
    let mut sums = match layer.bias {
        Some(id) => graph.tensor(id).data.as_ref()?.integers(DType::I32).ok()?,
        None => vec![0; channels],
    };
    let before = sums.clone();
    if layer.kind != Kind::Depthwise {
        let zero = zero_point(graph.tensor(layer.x));
        let taps = layer.taps(graph)?;
        let removed = removed.iter().zip(values).enumerate().filter(|(_, (removed, _))| **removed);
        for (x, value) in removed.filter_map(|(x, (_, value))| Some((x, (*value)?))) {
            for tap in taps.from(x) {
                sums[tap.y] += tap.weight * (i64::from(value) - zero);
            }
        }
    }
    let Some(id) = layer.bias else {
        if sums == before {
            return Some(None);
        }
        let ty = TensorType::new(DType::I32, Shape::new([channels]).ok()?);
        let name = format!("bias of {}", graph.tensor(layer.y).name);
        return Some(Some(Tensor { name, ty, data: Some(integers(&sums)?) }));
    };
    Some(Some(Tensor { data: Some(integers(&sums)?), ..graph.tensor(id).clone() }))
}

fn integers(sums: &[i64]) -> Option<Data> {
    let sums: Result<Vec<i32>, _> = sums.iter().map(|sum| i32::try_from(*sum)).collect();
    Some(Data::from_i32s(&sums.ok()?))
}

/// A constant without the removed slices along some axes.
fn sliced(tensor: &Tensor, axes: &[(usize, &[bool])]) -> Option<Tensor> {
    let mut sliced = tensor.clone();
    for &(axis, removed) in axes.iter().filter(|(_, removed)| removed.contains(&true)) {
        let extents = sliced.ty.shape.to_vec();
        let inner = extents[axis + 1..].iter().product::<usize>() * sliced.ty.dtype.size();
        let kept = |slice: &usize| !removed[slice % extents[axis]];
        let slices = sliced.data.as_ref()?.bytes().chunks(inner.max(1)).enumerate();
        let bytes: Vec<u8> = slices.filter(|(i, _)| kept(i)).flat_map(|(_, bytes)| bytes.to_vec()).collect();
        sliced.data = Some(Data::from_bytes(bytes));
        let mut narrow = extents.clone();
        narrow[axis] = removed.iter().filter(|removed| !**removed).count();
        sliced.ty.shape = Shape::new(narrow).ok()?;
        if let Some(quantization) = &sliced.ty.quantization
            && quantization.scales().len() > 1
            && quantization.axis() == axis
        {
            sliced.ty.quantization = Some(without_slices(quantization, removed)?);
        }
    }
    Some(sliced)
}

fn without_slices(quantization: &Quantization, removed: &[bool]) -> Option<Quantization> {
    let keep = || removed.iter().map(|removed| !removed);
    let scales = quantization.scales().iter().zip(keep()).filter(|(_, keep)| *keep).map(|(scale, _)| *scale);
    let zeros =
        quantization.zero_points().iter().zip(keep()).filter(|(_, keep)| *keep).map(|(zero, _)| *zero);
    let rest = Quantization::per_axis(scales.collect(), zeros.collect(), quantization.axis()).ok()?;
    Some(if quantization.four_bits() { rest.of_four_bits() } else { rest })
}
