//! `while`: a graph again and again, as long as another one says so.
//!
//! Operands: what the variables are at first. Results: what they are in the end. Regions:
//! the graph that computes the condition, one bool, of the variables, and the one that
//! computes their next values. Nothing limits the number of iterations.
//! Sources: TFLite WHILE.

use serde::{Deserialize, Serialize};

use super::region::{check_truth, described};
use super::{Operands, Operator, Region, View};
use crate::config::Placement;
use crate::error::OpError;
use crate::graph::{Graph, TensorType};
use crate::program::{Flow, NodeLowering, Operand};

/// The graphs of `while`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct While {
    /// What computes the condition, and what computes the variables.
    #[serde(skip)]
    pub regions: [Region; 2],
}

impl Operator for While {
    const NAME: &'static str = "while";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        let [condition, body] = &self.regions;
        if operands.is_empty() {
            return Err("the loop has no variable".into());
        }
        condition.check_inputs("the condition", operands, 0)?;
        body.check_inputs("the body", operands, 0)?;
        match &condition.output_types()[..] {
            [test] => check_truth(test)?,
            types => return Err(format!("the condition has {} outputs, expected 1", types.len()).into()),
        }
        let types = (0..operands.len()).map(|i| Ok(operands.get(i)?.ty.clone()));
        let types = types.collect::<Result<Vec<_>, OpError>>()?;
        body.check_outputs("the body", types.iter())?;
        Ok(types)
    }

    /// A variable that never changes is its first value.
    fn view(&self, result: usize, _: &Operands<'_>) -> Option<View> {
        self.regions[1].passes_on(result).then_some(View { operand: result, first: 0 })
    }

    fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn regions_mut(&mut self) -> &mut [Region] {
        &mut self.regions
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let [condition, body] = &self.regions;
        let (mut variables, mut reads, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        let mut changing = Vec::new();
        for i in 0..node.inputs() {
            let (x, y) = (node.input(i)?, node.output(i));
            if x.ty != y.ty {
                let (found, expected) = (described(&y.ty), described(&x.ty));
                return Err(format!("`{}` is {found}, at first {expected}", y.name).into());
            }
            let first = node.read(i)?;
            // What does not change is read where it is.
            if node.view(i)? {
                variables.push(first);
                reads.push(first);
            } else {
                let variable = node.write(i);
                node.copy(first, variable);
                variables.push(variable);
                writes.push(variable);
                changing.push(body.outputs[i]);
            }
        }
        let body = Graph { outputs: changing, ..Graph::clone(body) };
        let regions =
            [node.region(condition, Placement::Workspace)?, node.region(&body, Placement::Workspace)?];
        let scratch = node.region_scratch(&regions);
        let [condition, mut body] =
            [&regions[0], &regions[1]].map(|region| scratch.steps(region, &variables, &[]));
        // Only when all are computed: they are made of what the variables are now.
        let results = scratch.results(&regions[1]);
        for (result, variable) in results.into_iter().zip(&writes) {
            if variable.len() == 0 {
                continue;
            }
            body.push(node.copy_within(body.len(), Operand::Buffer(result), *variable));
        }
        let &[test] = &scratch.results(&regions[0])[..] else {
            return Err("the condition has not one output".into());
        };
        node.control(Flow::While { condition, test, body }, reads, writes, &scratch);
        Ok(())
    }
}
