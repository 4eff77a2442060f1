//! `lstm`: long short-term memory, over sequences.
//!
//! Operands, in TFLite's order, of which some may be left out:
//!
//! | | | |
//! |---|---|---|
//! | 0 | `x` | `[batch, steps, inputs]`, `[steps, batch, inputs]` if time major, or `[batch, inputs]` |
//! | 1–4 | weights of the gates input, forget, candidate, output | `[cells, inputs]` |
//! | 5–8 | recurrent weights | `[cells, outputs]` |
//! | 9–11 | peepholes of input, forget, output | `[cells]` |
//! | 12–15 | biases | `[cells]` |
//! | 16, 17 | projection and its bias | `[outputs, cells]`, `[outputs]` |
//! | 18, 19 | hidden and cell state | `[batch, outputs]`, `[batch, cells]` |
//! | 20–23 | layer normalisation | `[cells]` |
//!
//! Without weights of the input gate, it is 1 less the forget gate. Results: `x` with
//! `outputs` as its last extent, and the hidden and the cell state after it.
//! Sources: TFLite UNIDIRECTIONAL_SEQUENCE_LSTM, LSTM.
//! int8 and int16: gates and cell state are int16; sums are rounded to units of `2^-12` and added up,
//! logistic functions and tangents are interpolated in a table. Four gates, biases, and
//! nothing else, as in TensorFlow Lite Micro.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, LstmF32, LstmI8, RangeI16, Sequence};
use serde::{Deserialize, Serialize};

use super::recurrent::{
    check, check_sums, clip, constants, extents, packed, require, sequence, symmetric_scale, weight_scale,
};
use super::{Operands, Operator, no_kernel, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::{NodeLowering, Operand};

/// Attributes of `lstm`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Lstm {
    /// The steps are the first axis, not the second.
    pub time_major: bool,
    /// Largest magnitude of the cell state; 0 for no limit.
    pub cell_clip: f32,
    /// Largest magnitude of the projection; 0 for no limit.
    pub projection_clip: f32,
}

/// A layer within an operator: where its operands and results are, and how it runs.
pub(super) struct Layer {
    /// Operand before the weights of the gates.
    pub(super) before: usize,
    /// Operands: the hidden and the cell state.
    pub(super) states: [usize; 2],
    /// Results: the states after it. The hidden state comes first.
    pub(super) results: [usize; 2],
    /// First operand of the layer normalisation.
    pub(super) norm: Option<usize>,
    /// Result, elements of its rows, and the first of them that the layer gives.
    pub(super) y: (usize, usize, usize),
    /// From the last step to the first.
    pub(super) reverse: bool,
}

/// Gates, as the file orders them.
const INPUT: usize = 0;
const FORGET: usize = 1;
const CANDIDATE: usize = 2;
const OUTPUT: usize = 3;
/// Gates, as the kernels order them.
const ORDER: [usize; 4] = [CANDIDATE, FORGET, OUTPUT, INPUT];

impl Layer {
    const fn weights(&self, gate: usize) -> usize {
        self.before + 1 + gate
    }

    const fn recurrent(&self, gate: usize) -> usize {
        self.before + 5 + gate
    }

    /// Of any gate but the candidate.
    const fn peephole(&self, gate: usize) -> usize {
        self.before + 9 + if gate == OUTPUT { 2 } else { gate }
    }

    const fn bias(&self, gate: usize) -> usize {
        self.before + 12 + gate
    }

    const fn projection(&self) -> [usize; 2] {
        [self.before + 16, self.before + 17]
    }

    /// The gates that there are, in the kernels' order.
    fn gates(&self, has: impl Fn(usize) -> bool) -> &'static [usize] {
        if has(self.weights(INPUT)) { &ORDER } else { &ORDER[..3] }
    }

    /// Checks the operands; gives cells and outputs.
    pub(super) fn check(
        &self,
        operands: &Operands<'_>,
        [batch, _, inputs]: [usize; 3],
    ) -> Result<[usize; 2], OpError> {
        let x = operands.get(0)?.ty.dtype;
        let (weights, bias, cell) = match x {
            DType::F32 => (DType::F32, DType::F32, DType::F32),
            DType::I8 => (DType::I8, DType::I32, DType::I16),
            DType::I16 => (DType::I8, DType::I64, DType::I16),
            x => return Err(no_kernel(&[x])),
        };
        let [cells, _] = operands.get(self.weights(FORGET))?.ty.shape.array()?;
        let [_, outputs] = operands.get(self.recurrent(FORGET))?.ty.shape.array()?;
        for &gate in self.gates(|i| operands.optional(i).is_some()) {
            require(operands, self.weights(gate), weights, &[cells, inputs])?;
            require(operands, self.recurrent(gate), weights, &[cells, outputs])?;
            require(operands, self.bias(gate), bias, &[cells])?;
        }
        require(operands, self.states[0], x, &[batch, outputs])?;
        require(operands, self.states[1], cell, &[batch, cells])?;
        if x != DType::F32 {
            self.check_integers(operands)?;
        }
        self.check_optional(operands, [cells, outputs])?;
        Ok([cells, outputs])
    }

    /// Checks what may be left out: all of a kind, or none.
    fn check_optional(&self, operands: &Operands<'_>, [cells, outputs]: [usize; 2]) -> Result<(), OpError> {
        let gates = self.gates(|i| operands.optional(i).is_some());
        if gates.len() < ORDER.len() {
            let of_input = [self.recurrent(INPUT), self.peephole(INPUT), self.bias(INPUT)];
            let mut of_input = of_input.into_iter().chain(self.norm.map(|norm| norm + INPUT));
            if let Some(i) = of_input.find(|i| operands.optional(*i).is_some()) {
                let weights = self.weights(INPUT);
                return Err(format!(
                    "operand {i} is of the input gate, whose weights, operand {weights}, are left out"
                )
                .into());
            }
        }
        let with_peephole = gates.iter().filter(|gate| **gate != CANDIDATE);
        all_or_none(operands, with_peephole.map(|gate| self.peephole(*gate)), cells)?;
        if let Some(norm) = self.norm {
            all_or_none(operands, gates.iter().map(|gate| norm + gate), cells)?;
        }
        let [projection, bias] = self.projection();
        if check(operands, projection, DType::F32, &[outputs, cells])? {
            check(operands, bias, DType::F32, &[outputs])?;
        } else if operands.optional(bias).is_some() {
            return Err(format!("operand {bias} is the bias of a projection that is left out").into());
        } else if cells != outputs {
            return Err(format!("{cells} cells are {outputs} outputs without a projection").into());
        }
        Ok(())
    }

    /// What the reference computes in integers has four gates and nothing that is optional.
    fn check_integers(&self, operands: &Operands<'_>) -> Result<(), OpError> {
        if operands.optional(self.weights(INPUT)).is_none() {
            return Err(format!(
                "operand {} is left out, which is supported with f32 only",
                self.weights(INPUT)
            )
            .into());
        }
        let [projection, bias] = self.projection();
        let peepholes = self.peephole(INPUT)..=self.peephole(OUTPUT);
        let norms = self.norm.map(|norm| norm..norm + ORDER.len()).into_iter().flatten();
        for i in peepholes.chain([projection, bias]).chain(norms) {
            if let Some(tensor) = operands.optional(i) {
                let what = if i < projection {
                    "a peephole"
                } else if i <= bias {
                    "a projection"
                } else {
                    "layer normalisation"
                };
                return Err(format!(
                    "operand {i}, `{}`, is {what}, which is supported with f32 only",
                    tensor.name
                )
                .into());
            }
        }
        Ok(())
    }

    /// Appends the step that computes the layer.
    pub(super) fn lower(&self, node: &mut NodeLowering<'_, '_>, op: &Lstm) -> Result<(), OpError> {
        let x = node.input(0)?;
        let extents @ [batch, steps, inputs] = extents(x, op.time_major)?;
        let [cells, inputs_again] = node.input(self.weights(FORGET))?.ty.shape.array()?;
        let [_, outputs] = node.input(self.recurrent(FORGET))?.ty.shape.array()?;
        debug_assert_eq!(inputs, inputs_again);
        let gates = self.gates(|i| node.optional(i).is_some());
        let (y, row, first) = self.y;
        let sequence =
            Sequence { reverse: self.reverse, row, first, ..sequence(extents, outputs, op.time_major) };
        let (kernel, constants) = if x.ty.dtype == DType::F32 {
            let cell = clip(op.cell_clip, "cell_clip")?;
            let projection = clip(op.projection_clip, "projection_clip")?;
            let params = LstmF32 { sequence, cells, cell, projection };
            (Kernel::LstmF32(params), self.constants_f32(node, gates, [inputs, cells, outputs])?)
        } else {
            let params = LstmI8 { sequence, ..self.params_integers(node, op)? };
            if x.ty.dtype == DType::I8 {
                (Kernel::LstmI8(params), self.constants_i8(node)?)
            } else {
                (Kernel::LstmI16(params), self.constants_i16(node)?)
            }
        };
        let gate_type = if x.ty.dtype == DType::F32 { DType::F32 } else { DType::I16 };
        let rows = if x.ty.dtype == DType::F32 { gates.len() } else { gates.len() + 1 };
        let [hidden, cell] = [0, 1].map(|i| node.update(self.states[i], self.results[i]));
        let gates_memory = node.scratch("gates", gate_type, rows * cells);
        let mut operands = vec![node.read(0)?, node.write(y), hidden?, cell?, gates_memory];
        operands.extend(constants);
        let projected = node.optional(self.projection()[0]).map_or(0, |_| outputs * cells);
        let macs = (gates.len() * cells) as u64 * (inputs + outputs) as u64 + projected as u64;
        let backwards = if self.reverse { ", backwards" } else { "" };
        let description = format!("{batch}×{steps} steps, {inputs} → {outputs}, {cells} cells{backwards}");
        node.step(kernel, operands, macs * (batch * steps) as u64, description);
        Ok(())
    }

    fn constants_f32(
        &self,
        node: &mut NodeLowering<'_, '_>,
        gates: &[usize],
        [inputs, cells, outputs]: [usize; 3],
    ) -> Result<Vec<Operand>, OpError> {
        let of =
            |operand: &dyn Fn(usize) -> usize| gates.iter().map(|gate| operand(*gate)).collect::<Vec<_>>();
        let peepholes = gates.iter().filter(|gate| **gate != CANDIDATE).map(|gate| self.peephole(*gate));
        let peepholes: Vec<_> = peepholes.collect();
        let norms = self.norm.map_or(Vec::new(), |norm| of(&|gate| norm + gate));
        let [projection, projection_bias] = self.projection();
        Ok(vec![
            packed(node, &of(&|gate| self.weights(gate)), inputs)?,
            packed(node, &of(&|gate| self.recurrent(gate)), outputs)?,
            constants(node, DType::F32, &of(&|gate| self.bias(gate)))?,
            constants(node, DType::F32, &peepholes)?,
            constants(node, DType::F32, &norms)?,
            packed(node, &[projection], cells)?,
            constants(node, DType::F32, &[projection_bias])?,
        ])
    }

    /// What follows from the quantization; the steps are left to the caller.
    fn params_integers(&self, node: &NodeLowering<'_, '_>, op: &Lstm) -> Result<LstmI8, OpError> {
        let cell = node.input(self.states[1])?;
        let scale = symmetric_scale(cell)?;
        let power = (-15..=-9).find(|power| scale == 2.0_f32.powi(*power));
        let cell_power = power.ok_or_else(|| {
            format!("`{}` has scale {scale}, expected a power of two from 2^-15 to 2^-9", cell.name)
        })?;
        let (x, hidden, y) = (node.input(0)?, node.input(self.states[0])?, node.output(self.y.0));
        quantized::unchanged(hidden, y)?;
        if x.ty.dtype == DType::I16 {
            symmetric_scale(x)?;
            symmetric_scale(y)?;
        }
        let output = quantized::tensor_wide(y)?;
        let factor = quantized::multiplier(2.0_f64.powi(-30) / f64::from(output.scale))?;
        Ok(LstmI8 {
            sequence: sequence([0; 3], 0, false),
            input_zero_point: quantized::tensor_wide(x)?.zero_point,
            cell_power,
            cell: clip_i16(clip(op.cell_clip, "cell_clip")?.max, cell_power),
            multiplier: factor.multiplier,
            shift: factor.shift,
            zero_point: output.zero_point,
            single_rounding: node.single_rounding(),
        })
    }

    /// The factors from the sums of the gates, in the kernels' order, to what their functions
    /// take: of the products with `x`, then of those with the hidden state.
    fn factors(&self, node: &NodeLowering<'_, '_>) -> Result<Vec<f64>, OpError> {
        /// Of what the functions take.
        const SCALE: f64 = 1.0 / 4096.0;
        let mut factors = Vec::new();
        for (tensor, weights) in [(0, self.weights(0)), (self.states[0], self.recurrent(0))] {
            let scale = quantized::tensor_wide(node.input(tensor)?)?.scale;
            for gate in ORDER {
                factors.push(f64::from(scale * weight_scale(node, weights + gate)?) / SCALE);
            }
        }
        Ok(factors)
    }

    fn constants_i8(&self, node: &mut NodeLowering<'_, '_>) -> Result<Vec<Operand>, OpError> {
        for gate in ORDER {
            let columns = |operand: usize| Ok::<_, OpError>(node.input(operand)?.ty.shape[1]);
            check_sums(node, columns(self.weights(gate))?, Some(self.bias(gate)))?;
            check_sums(node, columns(self.recurrent(gate))?, None)?;
        }
        let factors = self.factors(node)?.into_iter().map(quantized::multiplier);
        let [multipliers, shifts] = quantized::multipliers(node, &factors.collect::<Result<Vec<_>, _>>()?);
        self.constants_integers(node, DType::I32, [multipliers, shifts])
    }

    fn constants_i16(&self, node: &mut NodeLowering<'_, '_>) -> Result<Vec<Operand>, OpError> {
        let (mut multipliers, mut shifts) = (Vec::new(), Vec::new());
        for factor in self.factors(node)? {
            let (multiplier, shift) = quantized::short_factor(factor)?;
            multipliers.extend(multiplier.to_le_bytes());
            shifts.push(shift);
        }
        let factors = [node.constant(DType::I16, &multipliers), node.constant(DType::I8, &shifts)];
        self.constants_integers(node, DType::I64, factors)
    }

    fn constants_integers(
        &self,
        node: &mut NodeLowering<'_, '_>,
        bias: DType,
        [multipliers, shifts]: [Operand; 2],
    ) -> Result<Vec<Operand>, OpError> {
        let joined = |node: &mut NodeLowering<'_, '_>, dtype, first: usize| {
            constants(node, dtype, &ORDER.map(|gate| first + gate))
        };
        Ok(vec![
            joined(node, DType::I8, self.weights(0))?,
            joined(node, DType::I8, self.recurrent(0))?,
            joined(node, bias, self.bias(0))?,
            multipliers,
            shifts,
        ])
    }
}

/// Checks that all of the float vectors `positions` are there, or none.
fn all_or_none(
    operands: &Operands<'_>,
    positions: impl Iterator<Item = usize>,
    cells: usize,
) -> Result<(), OpError> {
    let (mut there, mut missing) = (None, None);
    for i in positions {
        if check(operands, i, DType::F32, &[cells])? {
            there = Some(i);
        } else {
            missing = Some(i);
        }
    }
    match (there, missing) {
        (Some(there), Some(missing)) => {
            Err(format!("operand {missing} is left out, and operand {there} is not").into())
        }
        _ => Ok(()),
    }
}

/// The limits of a cell state in units of `2^power`, rounded towards 0.
fn clip_i16(limit: f32, power: i32) -> RangeI16 {
    let steps = f64::from(limit) / 2.0_f64.powi(power);
    if steps < 32_767.0 {
        RangeI16 { min: -(steps as i32), max: steps as i32 }
    } else if steps.is_finite() {
        RangeI16 { min: -32_767, max: 32_767 }
    } else {
        RangeI16 { min: -32_768, max: 32_767 }
    }
}

impl Lstm {
    /// The one layer.
    const fn layer(outputs: usize) -> Layer {
        Layer {
            before: 0,
            states: [18, 19],
            results: [1, 2],
            norm: Some(20),
            y: (0, outputs, 0),
            reverse: false,
        }
    }
}

impl Operator for Lstm {
    const NAME: &'static str = "lstm";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(20..=24)?;
        let x = operands.get(0)?;
        let layer = Self::layer(0);
        let [_, outputs] = layer.check(operands, extents(x, self.time_major)?)?;
        let mut types = vec![with_outputs(&x.ty, outputs)?];
        for state in layer.states {
            types.push(operands.get(state)?.ty.clone());
        }
        Ok(types)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let outputs = node.output(0).ty.shape.last().copied().unwrap_or(1);
        Self::layer(outputs).lower(node, self)
    }
}

/// The type of `x` with another last extent.
pub(super) fn with_outputs(x: &TensorType, outputs: usize) -> Result<TensorType, OpError> {
    let mut shape = x.shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last = outputs;
    }
    Ok(TensorType::new(x.dtype, Shape::new(shape)?))
}
