//! `bidirectional_lstm`: an [`lstm`](super::Lstm) from the first step to the last, and one
//! from the last to the first.
//!
//! Operands, in TFLite's order: `x`; 1–17 those of the forward layer, as in `lstm`; 18–34
//! those of the backward layer; 35–38 hidden and cell state forwards, hidden and cell state
//! backwards. Results: that of the forward layer and that of the backward layer, or, with
//! `merge`, one that has both in each row; then the four states after it.
//! Source: TFLite BIDIRECTIONAL_SEQUENCE_LSTM, without auxiliary inputs.

use aot_rt::DType;
use serde::{Deserialize, Serialize};

use super::lstm::{Layer, Lstm, with_outputs};
use super::recurrent::extents;
use super::{Operands, Operator, no_kernel};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `bidirectional_lstm`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BidirectionalLstm {
    /// One result has, in each row, that of both layers.
    pub merge: bool,
    /// The steps are the first axis, not the second.
    pub time_major: bool,
    /// Largest magnitude of the cell states; 0 for no limit.
    pub cell_clip: f32,
    /// Largest magnitude of the projections; 0 for no limit.
    pub projection_clip: f32,
}

impl BidirectionalLstm {
    /// The layers, of so many outputs.
    fn layers(&self, [forward, backward]: [usize; 2]) -> [Layer; 2] {
        let row = forward + backward;
        let states = if self.merge { 1 } else { 2 };
        [
            Layer {
                before: 0,
                states: [35, 36],
                results: [states, states + 1],
                norm: None,
                y: if self.merge { (0, row, 0) } else { (0, forward, 0) },
                reverse: false,
            },
            Layer {
                before: 17,
                states: [37, 38],
                results: [states + 2, states + 3],
                norm: None,
                y: if self.merge { (0, row, forward) } else { (1, backward, 0) },
                reverse: true,
            },
        ]
    }

    /// Outputs of the layers.
    fn outputs(&self, operands: &Operands<'_>) -> Result<[usize; 2], OpError> {
        let x = operands.get(0)?;
        if x.ty.dtype != DType::F32 {
            return Err(no_kernel(&[x.ty.dtype]));
        }
        let extents = extents(x, self.time_major)?;
        let [forward, backward] = self.layers([0, 0]);
        Ok([forward.check(operands, extents)?[1], backward.check(operands, extents)?[1]])
    }
}

impl Operator for BidirectionalLstm {
    const NAME: &'static str = "bidirectional_lstm";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(39..=39)?;
        let x = &operands.get(0)?.ty;
        let [forward, backward] = self.outputs(operands)?;
        let mut types = if self.merge {
            vec![with_outputs(x, forward + backward)?]
        } else {
            vec![with_outputs(x, forward)?, with_outputs(x, backward)?]
        };
        for state in 35..39 {
            types.push(operands.get(state)?.ty.clone());
        }
        Ok(types)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let outputs =
            |state: usize| Ok::<_, OpError>(node.input(state)?.ty.shape.last().copied().unwrap_or(1));
        let layers = self.layers([outputs(35)?, outputs(37)?]);
        let op = Lstm {
            time_major: self.time_major,
            cell_clip: self.cell_clip,
            projection_clip: self.projection_clip,
        };
        layers.iter().try_for_each(|layer| layer.lower(node, &op))
    }
}
