//! Removes channels that hold the same number for every input, and channels that nobody
//! reads.
//!
//! ```text
//! x ── conv2d, 8 channels, 5 of them 0 ── t ── conv2d ── y
//!   =>
//! x ── conv2d, 3 channels ── t ── conv2d, what the 5 gave is in its bias ── y
//! ```
//!
//! Training with a penalty on weights leaves whole channels without weights: such a
//! channel is its bias, and so is what later layers make of it alone. Integers only, and
//! bit for bit: at the border of an image that is padded, a constant channel still counts
//! unless it stands for 0, so that it stays.

mod apply;
mod layer;
mod removable;
mod values;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::Config;
use crate::graph::Graph;
use layer::Layer;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeadChannels {
    /// Channels of layers.
    pub channels: usize,
    /// Multiply-accumulates of a run.
    pub macs: u64,
    /// Bytes of weights.
    pub weight_bytes: usize,
}

impl DeadChannels {
    /// These and others.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            channels: self.channels + other.channels,
            macs: self.macs + other.macs,
            weight_bytes: self.weight_bytes + other.weight_bytes,
        }
    }
}

/// Removes all of them.
pub(super) fn dead_channels(graph: &mut Graph, config: &Config) -> DeadChannels {
    let layers: Vec<Option<Layer>> = graph.nodes.iter().map(|node| Layer::new(graph, node)).collect();
    let values = values::channel_values(graph, &layers, config);
    let removable = removable::removable(graph, &layers, &values);
    let channels = removable.iter().flatten().filter(|removed| **removed).count();
    if channels == 0 {
        return DeadChannels::default();
    }
    let before = cost(graph);
    let Some(smaller) = apply::without(graph, &layers, &values, &removable) else {
        return DeadChannels::default();
    };
    *graph = smaller;
    let after = cost(graph);
    DeadChannels { channels, macs: before.0 - after.0, weight_bytes: before.1 - after.1 }
}

/// Multiply-accumulates and bytes of the weights of all layers.
fn cost(graph: &Graph) -> (u64, usize) {
    let layers = graph.nodes.iter().filter_map(|node| {
        let weights = graph.tensor(Layer::new(graph, node)?.weights?);
        let [y] = &node.outputs[..] else { return None };
        let (shape, y) = (&weights.ty.shape, &graph.tensor(*y).ty.shape);
        // Each element of a filter meets each cell of its channel.
        let cells = y.elements() / y.last().copied().unwrap_or(1).max(1);
        Some((shape.elements() as u64 * cells as u64, weights.ty.bytes()))
    });
    layers.fold((0, 0), |sum, layer| (sum.0 + layer.0, sum.1 + layer.1))
}
