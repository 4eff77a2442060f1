//! Keeps weights in half precision.
//!
//! ```text
//! weights: f16 ── dequantize ── t: f32 ──┐
//!                           x ── conv2d ── y    =>    conv2d(x, weights: f16)
//! ```
//!
//! Halves the flash that they take: the kernel widens each weight when it reads it, which
//! changes no bit.

use aot_rt::DType;

use crate::graph::Graph;
use crate::ops::Op;

/// Position of the weights among the operands of a layer.
const WEIGHTS: usize = 1;

/// Lets every layer read such weights itself.
pub(super) fn half_weights(graph: &mut Graph) {
    let producers = graph.producers();
    for i in 0..graph.nodes.len() {
        let node = &graph.nodes[i];
        if !matches!(node.op, Op::Conv2d(_) | Op::DepthwiseConv2d(_) | Op::FullyConnected(_)) {
            continue;
        }
        let producer = node.inputs.get(WEIGHTS).copied().flatten().and_then(|id| producers[id.0]);
        let Some(producer) = producer.map(|producer| &graph.nodes[producer]) else { continue };
        let (Op::Dequantize(_), &[Some(half)]) = (&producer.op, &*producer.inputs) else { continue };
        let weights = graph.tensor(half);
        if weights.ty.dtype == DType::F16 && weights.data.is_some() {
            graph.nodes[i].inputs[WEIGHTS] = Some(half);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::eval::Evaluator;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, f16_type, f32_type};
    use crate::ops::{Dequantize, FullyConnected};
    use crate::{Config, compile};

    #[test]
    fn weights_stay_in_half_precision() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 2]));
        let w = sketch.constant("w", f16_type([1, 2]), Data::from_bytes([0, 0x3c, 0, 0xc0]));
        let t = sketch.node("t", Dequantize {}, &[w]);
        let b = sketch.constant("b", f16_type([1]), Data::from_bytes([0, 0x34]));
        let u = sketch.node("u", Dequantize {}, &[b]);
        let y = sketch.node("y", FullyConnected::default(), &[x, t, u]);
        let compiled = compile(sketch.finish(&[y]), &Config::default()).unwrap();
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        // 1 * 3 - 2 * 0.5 + 0.25
        assert_eq!(Evaluator::new(&compiled).run(&[&bytes(&[3.0, 0.5])]).unwrap(), [bytes(&[2.25])]);
        assert_eq!(compiled.program.steps.len(), 1);
        // The bias is widened.
        assert_eq!(compiled.program.constants.bytes().len(), 2 * 2 + 4);
    }
}
