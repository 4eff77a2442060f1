//! Computes with int8 where a file says uint8.
//!
//! ```text
//! x: u8 ── conv2d ── y: u8    =>    x: u8 ── quantize ── i8 ── conv2d ── i8 ── quantize ── y: u8
//! ```
//!
//! `q - 128` with a zero point less by 128 stands for the same real number, so that the
//! kernels of int8 serve. Constants change when the model is compiled; only inputs and
//! outputs stay as they are, and cost a step each that flips the highest bits in place: 2
//! microseconds for a coloured image of 128 by 128 pixels on x86-64.

use aot_rt::DType;

use crate::graph::{Data, Graph, Node, Tensor, TensorId, TensorType};
use crate::ops::{Op, Quantize};

/// Changes all quantized uint8 tensors.
pub(super) fn signed(graph: &mut Graph) {
    // Regions are given tensors that have been changed.
    graph.regions_mut().for_each(signed_region);
    let (inputs, outputs) = (graph.inputs.clone(), [&graph.outputs[..], &graph.kept].concat());
    let mut signed = Vec::with_capacity(graph.tensors.len());
    for id in (0..graph.tensors.len()).map(TensorId) {
        let Some(tensor) = signed_tensor(graph.tensor(id)) else {
            signed.push(id);
            continue;
        };
        if inputs.contains(&id) || outputs.contains(&id) {
            signed.push(TensorId(graph.tensors.len()));
            graph.tensors.push(Tensor { name: format!("{} as i8", tensor.name), ..tensor });
        } else {
            signed.push(id);
            graph.tensors[id.0] = tensor;
        }
    }
    let is_made = |id: &TensorId| graph.tensor(*id).data.is_none() && !inputs.contains(id);
    let made: Vec<_> = outputs.iter().copied().filter(is_made).collect();
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    for &x in &inputs {
        nodes.extend(quantize(graph, x, signed[x.0], 0));
    }
    for mut node in std::mem::take(&mut graph.nodes) {
        for id in node.inputs.iter_mut().flatten().chain(&mut node.outputs) {
            *id = signed[id.0];
        }
        keep_meaning(graph, &mut node);
        nodes.push(node);
    }
    let mut last = nodes.last().map_or(0, |node| node.index);
    for (i, &y) in made.iter().enumerate() {
        if !made[..i].contains(&y) {
            last += 1;
            nodes.extend(quantize(graph, signed[y.0], y, last));
        }
    }
    graph.nodes = nodes;
}

/// Changes all quantized uint8 tensors, inputs and outputs, too.
fn signed_region(graph: &mut Graph) {
    graph.regions_mut().for_each(signed_region);
    for id in (0..graph.tensors.len()).map(TensorId) {
        if let Some(tensor) = signed_tensor(graph.tensor(id)) {
            graph.tensors[id.0] = tensor;
        }
    }
    for mut node in std::mem::take(&mut graph.nodes) {
        keep_meaning(graph, &mut node);
        graph.nodes.push(node);
    }
}

/// The int8 tensor for one of quantized uint8; `None` for any other.
fn signed_tensor(tensor: &Tensor) -> Option<Tensor> {
    let (DType::U8, Some(quantization)) = (tensor.ty.dtype, &tensor.ty.quantization) else { return None };
    let quantization = Some(quantization.of_signed());
    let flip = |data: &Data| Data::from_bytes(data.bytes().iter().map(|q| q ^ 0x80).collect::<Vec<_>>());
    Some(Tensor {
        name: tensor.name.clone(),
        ty: TensorType { dtype: DType::I8, quantization, ..tensor.ty.clone() },
        data: tensor.data.as_ref().map(flip),
    })
}

/// The node that gives `x` the type of `y`; `None` where they are one tensor.
fn quantize(graph: &Graph, x: TensorId, y: TensorId, index: usize) -> Option<Node> {
    let tensor = graph.tensor(y);
    let op = Quantize { dtype: tensor.ty.dtype }.into();
    let node = Node { name: tensor.name.clone(), index, op, inputs: vec![Some(x)], outputs: vec![y] };
    (x != y).then_some(node)
}

/// Changes what the attributes of a node say of element types.
fn keep_meaning(graph: &Graph, node: &mut Node) {
    let result = &graph.tensor(node.outputs[0]).ty;
    let is_legacy = result.quantization.as_ref().is_some_and(|quantization| quantization.legacy());
    match &mut node.op {
        Op::Quantize(quantize) => quantize.dtype = result.dtype,
        Op::Cast(cast) => cast.dtype = result.dtype,
        Op::EmbeddingLookup(lookup) => lookup.dtype = result.dtype,
        Op::Pad(pad) if is_legacy => pad.value = pad.value.map(|value| value - 128.0),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluator;
    use crate::graph::sketch::{Sketch, u8_type};
    use crate::ops::{Add, Cast, Pad};
    use crate::{Config, compile};

    fn compiled_and_text(graph: &Graph) -> (crate::Compiled, String) {
        let mut text = graph.clone();
        signed(&mut text);
        (compile(graph.clone(), &Config::default()).unwrap(), text.to_string())
    }

    #[test]
    fn ports_keep_their_type() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", u8_type([2], 0.5, 128));
        let c = sketch.constant("c", u8_type([2], 0.5, 2), Data::from_bytes([2, 12]));
        let y = sketch.typed("y", Add::default(), &[x, c], u8_type([2], 0.5, 0));
        let (compiled, text) = compiled_and_text(&sketch.finish(&[y]));
        assert_eq!(
            text,
            "input x: u8 [2] scale 0.5 zero 128\n\
             constant c: i8 [2] scale 0.5 zero -126\n\
             x as i8: i8 [2] scale 0.5 zero 0 = Quantize { dtype: I8 } (x)\n\
             y as i8: i8 [2] scale 0.5 zero -128 = Add { activation: None } (x as i8, c)\n\
             y: u8 [2] scale 0.5 zero 0 = Quantize { dtype: U8 } (y as i8)\n\
             output y\n"
        );
        // All in the place of `x`.
        assert_eq!(compiled.program.buffers.len(), 1);
        assert_eq!(Evaluator::new(&compiled).run(&[&[130, 148]]).unwrap(), [[2, 30]]);
    }

    #[test]
    fn an_output_that_is_an_input_stays() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", u8_type([2], 0.5, 128));
        let c = sketch.constant("c", u8_type([2], 0.5, 2), Data::from_bytes([2, 12]));
        let (compiled, _) = compiled_and_text(&sketch.finish(&[x, c]));
        assert_eq!(Evaluator::new(&compiled).run(&[&[7, 9]]).unwrap(), [[7, 9], [2, 12]]);
    }

    #[test]
    fn a_stated_value_is_that_of_the_file() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", u8_type([1], 0.5, 128));
        let pad = Pad { padding: vec![[1, 0]], value: Some(200.0) };
        let y = sketch.typed("y", pad, &[x], u8_type([2], 0.5, 128));
        let (compiled, _) = compiled_and_text(&sketch.finish(&[y]));
        assert_eq!(Evaluator::new(&compiled).run(&[&[7]]).unwrap(), [[200, 7]]);
    }

    #[test]
    fn integers_that_are_not_the_files_are_not_cast() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", u8_type([2], 0.5, 128));
        let y = sketch.node("y", Cast { dtype: DType::F32 }, &[x]);
        let problems = compile(sketch.finish(&[y]), &Config::default()).unwrap_err();
        assert!(problems[0].to_string().contains("which is u8"), "{}", problems[0]);
    }
}
