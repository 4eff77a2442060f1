//! Graphs within a node: what operators of control flow run.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Operands;
use crate::error::OpError;
use crate::graph::{Graph, Quantization, Tensor, TensorId, TensorType};

/// A graph that a node runs; cheap to clone.
///
/// It sees nothing of the graph around it but what it is given as its inputs.
#[derive(Clone, Default, PartialEq)]
pub struct Region(Arc<Graph>);

impl Region {
    /// The graph, to be changed.
    pub(crate) fn graph_mut(&mut self) -> &mut Graph {
        Arc::make_mut(&mut self.0)
    }

    /// Checks that the region can be given the operands from `first` on.
    pub(super) fn check_inputs(
        &self,
        what: &str,
        operands: &Operands<'_>,
        first: usize,
    ) -> Result<(), OpError> {
        if !self.states.is_empty() {
            return Err(format!("{what} keeps variables, which is not supported in control flow").into());
        }
        let (found, expected) = (operands.len().saturating_sub(first), self.inputs.len());
        if found != expected {
            return Err(format!("{what} has {expected} inputs, {found} operands are for it").into());
        }
        for (i, id) in self.inputs.iter().enumerate() {
            let (input, operand) = (self.tensor(*id), operands.get(first + i)?);
            if input.ty != operand.ty {
                let (name, expected, found) = (&input.name, described(&input.ty), described(&operand.ty));
                return Err(format!("input `{name}` of {what} is {expected}, the operand {found}").into());
            }
        }
        Ok(())
    }

    /// Checks that it can be called with these operands, for results of these types.
    ///
    /// # Errors
    ///
    /// When number or types are others.
    #[cfg(feature = "tflite")]
    pub(crate) fn check_call(
        &self,
        what: &str,
        operands: &[Option<&Tensor>],
        results: &[TensorType],
    ) -> Result<(), OpError> {
        self.check_inputs(what, &Operands(operands), 0)?;
        self.check_outputs(what, results.iter())
    }

    /// Types of the outputs.
    pub(super) fn output_types(&self) -> Vec<TensorType> {
        self.outputs.iter().map(|id| self.tensor(*id).ty.clone()).collect()
    }

    /// Checks that the outputs are of these types.
    pub(super) fn check_outputs<'t>(
        &self,
        what: &str,
        expected: impl ExactSizeIterator<Item = &'t TensorType>,
    ) -> Result<(), OpError> {
        let (found, count) = (self.outputs.len(), expected.len());
        if found != count {
            return Err(format!("{what} has {found} outputs, expected {count}").into());
        }
        for (id, expected) in self.outputs.iter().zip(expected) {
            let Tensor { name, ty, .. } = self.tensor(*id);
            if ty != expected {
                let (found, expected) = (described(ty), described(expected));
                return Err(format!("output `{name}` of {what} is {found}, expected {expected}").into());
            }
        }
        Ok(())
    }

    /// Whether output `i` is input `i`, untouched.
    pub(crate) fn passes_on(&self, i: usize) -> bool {
        let [input, output] = [&self.inputs, &self.outputs].map(|ids: &Vec<TensorId>| ids.get(i));
        input.is_some() && input == output
    }
}

/// Checks that a truth value is one.
pub(super) fn check_truth(ty: &TensorType) -> Result<(), OpError> {
    if ty.dtype == aot_rt::DType::Bool && ty.shape.elements() == 1 {
        return Ok(());
    }
    Err(format!("the condition is {ty}, expected one bool").into())
}

/// A type, and what its integers stand for.
pub(super) fn described(ty: &TensorType) -> String {
    match ty.quantization.as_ref().map(Quantization::tensor_wide) {
        None => ty.to_string(),
        Some(Some(q)) => format!("{ty} with scale {} and zero point {}", q.scale, q.zero_point),
        Some(None) => format!("{ty} with a scale for each channel"),
    }
}

impl From<Graph> for Region {
    fn from(graph: Graph) -> Self {
        Self(Arc::new(graph))
    }
}

impl Deref for Region {
    type Target = Graph;
    fn deref(&self) -> &Graph {
        &self.0
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({} nodes)", self.nodes.len())
    }
}
