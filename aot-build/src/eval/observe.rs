//! Shows what steps write to an observer.

use aot_rt::Access;
use aot_rt::kernels::Kind;

use super::Evaluator;
use crate::program::{Layer, Operand, Step, Work};

/// Called after each step, or each row of a layer, with the bytes of all that it has written,
/// its result first.
pub type Observer<'o> = dyn FnMut(&Step, &[&[u8]]) + 'o;

impl Evaluator<'_> {
    pub(super) fn show(&self, step: &Step, row: Option<(&Layer, usize)>, observer: &mut Observer<'_>) {
        let written: Vec<&[u8]> = self.written(step, row);
        observer(step, &written);
    }

    fn written(&self, step: &Step, row: Option<(&Layer, usize)>) -> Vec<&[u8]> {
        // The last operand of a step that holds steps may be memory for those.
        let scratch = step.control().is_some_and(|control| control.least_scratch.is_some());
        let operands = &step.operands[..step.operands.len() - usize::from(scratch)];
        let is_written = |i: usize| match &step.work {
            Work::Kernel(kernel) => kernel.operands()[i].access == Access::Write,
            Work::Call(call) => call.operands[i].access == Access::Write,
            Work::Control(control) => i >= control.reads,
        };
        let bytes = |(i, operand): (usize, &Operand)| match operand {
            Operand::Buffer(view) if is_written(i) => {
                let bytes = self.read(*view);
                Some(match row {
                    // The result: the row that has just been computed.
                    Some((layer, row)) if i == 1 && step.kind() != Kind::Reducing => {
                        let (len, rows) = (bytes.len() / layer.rings[1], layer.rings[1]);
                        &bytes[row % rows * len..][..len]
                    }
                    _ => bytes,
                })
            }
            _ => None,
        };
        operands.iter().enumerate().filter_map(bytes).collect()
    }
}
