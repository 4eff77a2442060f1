//! `rnn`: a layer that sees its own last result, over sequences.
//!
//! `hidden = f(weights * x + recurrent * hidden + bias)` for each step; the result is all of
//! them. Operands: `x` `[batch, steps, inputs]`, or `[steps, batch, inputs]` if time major,
//! or `[batch, inputs]`, one step; weights `[outputs, inputs]`, recurrent weights `[outputs,
//! outputs]`, bias `[outputs]`, hidden state `[batch, outputs]`. Results: `x` with `outputs`
//! as its last extent, and the hidden state after it.
//! Sources: TFLite UNIDIRECTIONAL_SEQUENCE_RNN, RNN.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, RnnF32};
use serde::{Deserialize, Serialize};

use super::recurrent::{constants, extents, packed, require, sequence};
use super::{Activation, Operands, Operator, no_kernel};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `rnn`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Rnn {
    /// The steps are the first axis, not the second.
    pub time_major: bool,
    /// `f` is the hyperbolic tangent, and then the activation.
    pub tanh: bool,
    /// The activation.
    pub activation: Activation,
}

const WEIGHTS: usize = 1;
const RECURRENT: usize = 2;
const BIAS: usize = 3;
const HIDDEN: usize = 4;

impl Operator for Rnn {
    const NAME: &'static str = "rnn";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(5..=5)?;
        let (x, weights) = (operands.get(0)?, operands.get(WEIGHTS)?);
        if (x.ty.dtype, weights.ty.dtype) != (DType::F32, DType::F32) {
            return Err(no_kernel(&[x.ty.dtype, weights.ty.dtype]));
        }
        let [batch, _, inputs] = extents(x, self.time_major)?;
        let [outputs, _] = weights.ty.shape.array()?;
        require(operands, WEIGHTS, DType::F32, &[outputs, inputs])?;
        require(operands, RECURRENT, DType::F32, &[outputs, outputs])?;
        require(operands, BIAS, DType::F32, &[outputs])?;
        require(operands, HIDDEN, DType::F32, &[batch, outputs])?;
        let mut shape = x.ty.shape.to_vec();
        if let Some(last) = shape.last_mut() {
            *last = outputs;
        }
        let hidden = operands.get(HIDDEN)?.ty.clone();
        Ok(vec![TensorType::new(DType::F32, Shape::new(shape)?), hidden])
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let extents @ [batch, steps, inputs] = extents(node.input(0)?, self.time_major)?;
        let [outputs, _] = node.input(WEIGHTS)?.ty.shape.array()?;
        let sequence = sequence(extents, outputs, self.time_major);
        let params = RnnF32 { sequence, tanh: self.tanh, range: self.activation.range_f32() };
        let (weights, recurrent) = (packed(node, &[WEIGHTS], inputs)?, packed(node, &[RECURRENT], outputs)?);
        let bias = constants(node, DType::F32, &[BIAS])?;
        let (hidden, sums) = (node.update(HIDDEN, 1)?, node.scratch("sums", DType::F32, outputs));
        let operands = vec![node.read(0)?, node.write(0), hidden, sums, weights, recurrent, bias];
        let macs = (batch * steps * outputs) as u64 * (inputs + outputs) as u64;
        let tanh = if self.tanh { ", tanh" } else { "" };
        let description = format!("{batch}×{steps} steps, {inputs} → {outputs}{tanh}{}", self.activation);
        node.step(Kernel::RnnF32(params), operands, macs, description);
        Ok(())
    }
}
