//! `if`: one of two graphs, as a condition says.
//!
//! Operands: the condition, which is one bool, and what both graphs take. Results: what
//! they give. Regions: the graph where it is true, and the one where it is false.
//! Sources: TFLite IF.

use serde::{Deserialize, Serialize};

use super::region::{check_truth, described};
use super::{Operands, Operator, Region};
use crate::config::Placement;
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::{Around, Flow, NodeLowering};

/// The graphs of `if`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct If {
    /// Where the condition is true, and where it is false.
    #[serde(skip)]
    pub regions: [Region; 2],
}

impl Operator for If {
    const NAME: &'static str = "if";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        check_truth(&operands.get(0)?.ty)?;
        let [then, otherwise] = &self.regions;
        then.check_inputs("the branch where it is true", operands, 1)?;
        otherwise.check_inputs("the branch where it is false", operands, 1)?;
        let types = then.output_types();
        if types.is_empty() {
            return Err("the branches have no output".into());
        }
        otherwise.check_outputs("the branch where it is false", types.iter())?;
        Ok(types)
    }

    fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn regions_mut(&mut self) -> &mut [Region] {
        &mut self.regions
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let [then, otherwise] = &self.regions;
        for (i, ty) in then.output_types().iter().enumerate() {
            let y = node.output(i);
            if y.ty != *ty {
                let (found, expected) = (described(&y.ty), described(ty));
                return Err(format!("`{}` is {found}, both branches give {expected}", y.name).into());
            }
        }
        let reads = (0..node.inputs()).map(|i| node.read(i)).collect::<Result<Vec<_>, _>>()?;
        let writes: Vec<_> = (0..node.outputs()).map(|i| node.write(i)).collect();
        let around = Around { inputs: &reads[1..], outputs: &writes, cpu: &reads[..1] };
        let regions = node.regions([then, otherwise], Placement::Caller, &around)?;
        let scratch = node.region_scratch(&regions);
        let [then, otherwise] =
            [&regions[0], &regions[1]].map(|region| scratch.steps(region, &reads[1..], &writes));
        node.control(Flow::If { then, otherwise }, reads, writes, &scratch);
        Ok(())
    }
}
