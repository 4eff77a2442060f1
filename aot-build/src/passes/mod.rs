//! Passes: each makes a graph smaller without changing a bit of its outputs.
//!
//! Names, types and quantization of inputs and outputs stay as they are.

mod control_flow;
mod dead_channels;
mod equal_scales;
mod fold_constants;
mod fold_pad;
mod fuse_activation;
mod half_weights;
mod merge_reshape;
mod remove_dead;
mod signed;

pub use dead_channels::DeadChannels;
#[cfg(feature = "tflite")]
pub(crate) use fold_constants::{Budget, evaluate};

use crate::Config;
use crate::graph::Graph;

/// Runs all passes, again and again until none finds anything to do; gives the channels
/// that were removed.
pub fn run(graph: &mut Graph, config: &Config) -> DeadChannels {
    let mut budget = fold_constants::Budget::default();
    signed::signed(graph);
    prepare(graph);
    simplify(graph, config, &mut budget);
    let dead = dead_channels(graph, config);
    simplify(graph, config, &mut budget);
    dead
}

fn prepare(graph: &mut Graph) {
    graph.regions_mut().for_each(prepare);
    equal_scales::equal_scales(graph);
    half_weights::half_weights(graph);
    // Nobody reads what the weights were widened to: it need not be computed.
    remove_dead::remove_dead(graph);
}

fn dead_channels(graph: &mut Graph, config: &Config) -> DeadChannels {
    let within: Vec<_> = graph.regions_mut().map(|region| dead_channels(region, config)).collect();
    within.into_iter().fold(dead_channels::dead_channels(graph, config), DeadChannels::with)
}

/// Runs the passes that make work for each other; gives whether there was any.
fn simplify(graph: &mut Graph, config: &Config, budget: &mut fold_constants::Budget) -> bool {
    let mut any = false;
    // Every change takes a node, a tensor or an operand's detour away: there is an end.
    loop {
        let within = graph.regions_mut().fold(false, |any, region| simplify(region, config, budget) | any);
        let changed = [
            within,
            control_flow::control_flow(graph),
            merge_reshape::merge_reshape(graph),
            fold_pad::fold_pad(graph),
            fuse_activation::fuse_activation(graph),
            fold_constants::fold_constants(graph, config, budget),
            remove_dead::remove_dead(graph),
        ];
        if changed == [false; 7] {
            return any;
        }
        any = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{Activation, Add, Relu, Reshape};

    /// Each pass makes work for the others.
    #[test]
    fn passes_run_to_a_fixed_point() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 2]));
        let c = sketch.constant("c", f32_type([2, 1]), Data::from_f32s(&[-1.0, 2.0]));
        let unused = sketch.constant("unused", f32_type([2]), Data::from_f32s(&[0.0; 2]));
        let flat = sketch.node("flat", Reshape { shape: f32_type([2]).shape }, &[c]);
        let row = sketch.node("row", Reshape { shape: f32_type([1, 2]).shape }, &[flat]);
        let positive = sketch.node("positive", Relu::default(), &[row]);
        let sum = sketch.node("sum", Add::default(), &[x, positive]);
        sketch.node("dead", Add::default(), &[x, unused]);
        let same = sketch.node("same", Reshape { shape: f32_type([1, 2]).shape }, &[sum]);
        let y = sketch.node("y", Relu { activation: Activation::Relu6 }, &[same]);
        let mut graph = sketch.finish(&[y]);
        run(&mut graph, &Config::default());
        assert_eq!(
            graph.to_string(),
            "input x: f32 [1, 2]\n\
             constant positive: f32 [1, 2]\n\
             y: f32 [1, 2] = Add { activation: Relu6 } (x, positive)\n\
             output y\n"
        );
        let positive = graph.tensors.iter().find(|tensor| tensor.name == "positive").unwrap();
        assert_eq!(positive.data, Some(Data::from_f32s(&[0.0, 2.0])));
    }
}
