//! Which channels can go: those that every reader can do without.

use super::layer::{Kind, Layer, zero_point};
use super::values::Values;
use crate::graph::{Graph, TensorId};

/// For each tensor: whether each of its channels can be removed; empty where none can.
pub(super) fn removable(graph: &Graph, layers: &[Option<Layer>], values: &Values) -> Vec<Vec<bool>> {
    let mut removable = made_by_layers(graph, layers);
    keep_what_others_read(graph, layers, &mut removable);
    for layer in layers.iter().flatten() {
        let channels = &mut removable[layer.x.index()];
        if !channels.is_empty() && matches!(layer.kind, Kind::Convolution | Kind::Product) {
            and(channels, &dispensable(graph, layer, &values[layer.x.index()]));
        }
    }
    loop {
        let mut changed = false;
        // A channel by itself is there before and after, or nowhere.
        for layer in layers.iter().flatten() {
            if matches!(layer.kind, Kind::Depthwise | Kind::Channelwise) {
                changed |= equalise(&mut removable, layer.x, layer.y);
            }
        }
        // A tensor keeps one channel at least.
        for channels in removable.iter_mut().filter(|channels| !channels.contains(&false)) {
            if let Some(first) = channels.first_mut() {
                *first = false;
                changed = true;
            }
        }
        if !changed {
            return removable;
        }
    }
}

/// All channels of what layers make, but for outputs and states of the graph.
fn made_by_layers(graph: &Graph, layers: &[Option<Layer>]) -> Vec<Vec<bool>> {
    let mut removable = vec![Vec::new(); graph.tensors.len()];
    for layer in layers.iter().flatten() {
        let channels = graph.tensor(layer.y).ty.shape.last().copied().unwrap_or(0);
        if graph.results().all(|result| result != layer.y) {
            removable[layer.y.index()] = vec![true; channels];
        }
    }
    removable
}

/// What a node reads that is no layer, or as another operand than `x`, stays whole.
fn keep_what_others_read(graph: &Graph, layers: &[Option<Layer>], removable: &mut [Vec<bool>]) {
    for (node, layer) in graph.nodes.iter().zip(layers) {
        let first = usize::from(layer.is_some());
        for id in node.inputs.iter().skip(first).flatten() {
            removable[id.index()].clear();
        }
    }
}

/// The channels of `x` that a convolution or matrix product needs not: it has no weights
/// for them, or its bias can stand for them.
fn dispensable(graph: &Graph, layer: &Layer, values: &[Option<i8>]) -> Vec<bool> {
    let channels = graph.tensor(layer.x).ty.shape.last().copied().unwrap_or(0);
    let zero = zero_point(graph.tensor(layer.x));
    let constant = |channel: usize| values.get(channel).copied().flatten();
    let in_bias = |channel: usize| {
        constant(channel).is_some_and(|value| layer.stays_inside || i64::from(value) == zero)
    };
    let taps = layer.taps(graph);
    let unread = |x: usize| taps.is_none_or(|taps| taps.from(x).all(|tap| tap.weight == 0));
    (0..channels).map(|x| in_bias(x) || unread(x)).collect()
}

/// Removes from both tensors only what can be removed from both; gives whether anything
/// changed.
fn equalise(removable: &mut [Vec<bool>], a: TensorId, b: TensorId) -> bool {
    let [before_a, before_b] = [a, b].map(|id| removable[id.index()].clone());
    if before_a.is_empty() || before_b.is_empty() {
        removable[a.index()].clear();
        removable[b.index()].clear();
    } else {
        and(&mut removable[a.index()], &before_b);
        and(&mut removable[b.index()], &before_a);
    }
    removable[a.index()] != before_a || removable[b.index()] != before_b
}

fn and(channels: &mut [bool], others: &[bool]) {
    for (channel, other) in channels.iter_mut().zip(others) {
        *channel &= other;
    }
}
