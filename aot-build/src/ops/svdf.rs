//! `svdf`: a matrix product whose last results are remembered, and a filter over them.
//!
//! Operands: `x` `[batch, inputs]`, weights `[filters, inputs]`, weights over time
//! `[filters, memory]`, bias `[units]` (optional), state `[batch, filters * memory]`: the
//! last features of each filter, oldest first. `rank` filters make a unit. Results:
//! `[batch, units]`, and the state after it.
//! Source: TFLite SVDF.
//! int8: features are limited to the type of the state, int16 or int8; sums over the memory
//! wrap at 32 bits, as in the reference. Factors are computed in single precision.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SvdfF32, SvdfI8};
use serde::{Deserialize, Serialize};

use super::recurrent::{check, check_sums, constants, packed, require, symmetric_scale, weight_scale};
use super::{Activation, Operands, Operator, no_kernel, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `svdf`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Svdf {
    /// Filters of a unit.
    pub rank: usize,
    /// Fused activation.
    pub activation: Activation,
}

impl Default for Svdf {
    fn default() -> Self {
        Self { rank: 1, activation: Activation::None }
    }
}

const WEIGHTS: usize = 1;
const TIME: usize = 2;
const BIAS: usize = 3;
const STATE: usize = 4;

impl Operator for Svdf {
    const NAME: &'static str = "svdf";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(5..=5)?;
        let [x, weights, time, state] =
            [operands.get(0)?, operands.get(WEIGHTS)?, operands.get(TIME)?, operands.get(STATE)?];
        let ([batch, inputs], [filters, _]) = (x.ty.shape.array()?, weights.ty.shape.array()?);
        let [_, memory] = time.ty.shape.array()?;
        if self.rank == 0 || filters % self.rank != 0 {
            return Err(format!("{filters} filters are no units of rank {}", self.rank).into());
        }
        let units = filters / self.rank;
        let (weights, remembered, bias) = match (x.ty.dtype, time.ty.dtype) {
            (DType::F32, DType::F32) => (DType::F32, DType::F32, DType::F32),
            (DType::I8, remembered @ (DType::I8 | DType::I16)) => (DType::I8, remembered, DType::I32),
            (x, time) => return Err(no_kernel(&[x, weights.ty.dtype, time])),
        };
        require(operands, WEIGHTS, weights, &[filters, inputs])?;
        require(operands, TIME, remembered, &[filters, memory])?;
        check(operands, BIAS, bias, &[units])?;
        require(operands, STATE, remembered, &[batch, filters * memory])?;
        Ok(vec![TensorType::new(x.ty.dtype, Shape::new([batch, units])?), state.ty.clone()])
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, time, y) = (node.input(0)?, node.input(TIME)?, node.output(0));
        let ([batch, inputs], [filters, memory]) = (x.ty.shape.array()?, time.ty.shape.array()?);
        let (rank, units) = (self.rank, filters / self.rank);
        let (kernel, features) = if x.ty.dtype == DType::F32 {
            let params = SvdfF32 { inputs, rank, units, memory, range: self.activation.range_f32() };
            (Kernel::SvdfF32(params), DType::F32)
        } else {
            let params = SvdfI8 { inputs, rank, units, memory, ..self.params_i8(node)? };
            let small = time.ty.dtype == DType::I8;
            (if small { Kernel::SvdfMemoryI8(params) } else { Kernel::SvdfI8(params) }, DType::I16)
        };
        let weights = match features {
            DType::F32 => packed(node, &[WEIGHTS], inputs)?,
            _ => node.read(WEIGHTS)?,
        };
        let bias_type = if features == DType::F32 { DType::F32 } else { DType::I32 };
        let bias = constants(node, bias_type, &[BIAS])?;
        let features = node.scratch("features", features, filters);
        let (time, state) = (node.read(TIME)?, node.update(STATE, 1)?);
        let operands = vec![node.read(0)?, node.write(0), state, features, weights, time, bias];
        let macs = (batch * filters) as u64 * (inputs + memory) as u64;
        let description = format!("{inputs} → {units}, rank {rank}, memory of {memory}{}", self.activation);
        debug_assert_eq!(y.ty.shape.elements(), batch * units);
        node.step(kernel, operands, macs, description);
        Ok(())
    }
}

impl Svdf {
    /// What follows from the scales; the extents are left to the caller.
    fn params_i8(&self, node: &NodeLowering<'_, '_>) -> Result<SvdfI8, OpError> {
        let x = quantized::tensor_wide(node.input(0)?)?;
        let output = quantized::tensor_wide(node.output(0))?;
        let (weights, time) = (weight_scale(node, WEIGHTS)?, weight_scale(node, TIME)?);
        let state = symmetric_scale(node.input(STATE)?)?;
        let feature = quantized::multiplier(f64::from(x.scale * weights / state))?;
        let unit = quantized::multiplier(f64::from(state * time / output.scale))?;
        check_sums(node, node.input(WEIGHTS)?.ty.shape[1], None)?;
        Ok(SvdfI8 {
            inputs: 0,
            rank: 0,
            units: 0,
            memory: 0,
            input_zero_point: x.zero_point,
            feature_multiplier: feature.multiplier,
            feature_shift: feature.shift,
            multiplier: unit.multiplier,
            shift: unit.shift,
            output: self.activation.output_i8(output, node.single_rounding()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::graph::{Data, Graph, TensorId};
    use crate::program::{Operand, Program, lower};

    /// A layer with a state, and what else reads the state.
    fn graph(outputs: impl Fn(TensorId, TensorId) -> Vec<TensorId>) -> Graph {
        let mut sketch = Sketch::new();
        let mut constant = |name: &str, shape: [usize; 2]| {
            let zeros = Data::from_f32s(&vec![0.0; shape[0] * shape[1]]);
            sketch.constant(name, f32_type(shape), zeros)
        };
        let (weights, time, zeros) =
            (constant("weights", [2, 2]), constant("time", [2, 3]), constant("zeros", [1, 6]));
        let bias = sketch.constant("bias", f32_type([2]), Data::from_f32s(&[0.0; 2]));
        let (x, state) = (sketch.input("x", f32_type([1, 2])), sketch.state("state", zeros));
        let results = sketch.nodes(&["y", "after"], Svdf::default(), &[x, weights, time, bias, state]);
        sketch.keep(state, results[1]);
        sketch.finish(&outputs(results[0], state))
    }

    fn lowered(graph: &Graph) -> (Program, Vec<&'static str>) {
        let program = lower(graph, &Config::default()).unwrap();
        let kernels = program.steps.iter().filter_map(|step| step.kernel()).map(Kernel::name).collect();
        (program, kernels)
    }

    #[test]
    fn a_state_is_brought_up_to_date_where_it_is() {
        let (program, kernels) = lowered(&graph(|y, _| vec![y]));
        assert_eq!(kernels, ["svdf_f32"]);
        assert_eq!(program.steps[0].operands[2], Operand::Buffer(program.states[0].view));
    }

    #[test]
    fn what_it_was_is_kept_for_others() {
        let (program, kernels) = lowered(&graph(|y, before| vec![y, before]));
        // To where it is brought up to date; the output; and back.
        assert_eq!(kernels, ["copy_i8", "svdf_f32", "copy_i8", "copy_i8"]);
        assert_ne!(program.steps[1].operands[2], Operand::Buffer(program.states[0].view));
    }
}
