//! Orders the steps of a lowered model.

use std::collections::HashMap;
use std::ops::Range;

use aot_rt::Access;

use super::{Limits, Problem, Share, Step, Tensor, schedule};
use crate::program::{self, BufferId, Program, Storage};

/// Programs with more steps keep their order: what comes before what is found by
/// comparing uses of the same buffer.
const MOST_STEPS: usize = 10_000;

/// Bytes that a step's result may share with an operand that it is the last to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The buffer that is read.
    pub read: BufferId,
    /// The buffer that is written.
    pub written: BufferId,
    /// Most bytes in common.
    pub bytes: usize,
}

/// The program with its steps in an order in which less of the workspace is alive at
/// the peak; `None` where the search finds no better one than it has.
///
/// `overlaps` gives what the operands of a step may share.
#[must_use]
pub fn reorder(
    program: &Program,
    limits: &Limits,
    overlaps: impl Fn(&program::Step) -> Vec<Overlap>,
) -> Option<Program> {
    if program.steps.len() > MOST_STEPS {
        return None;
    }
    let problem = problem(program, overlaps);
    // Sizes that add up to more than can be counted are the memory planner's to report.
    let order = schedule(&problem, limits).ok()?.order;
    let unchanged = order.iter().enumerate().all(|(place, step)| place == *step);
    (!unchanged).then(|| Program { steps: in_order(&program.steps, &order), ..program.clone() })
}

/// The steps in this order, named after their new places.
fn in_order(steps: &[program::Step], order: &[usize]) -> Vec<program::Step> {
    let places = order.iter().enumerate();
    let step = |(place, step): (usize, &usize)| {
        let step = &steps[*step];
        let operator = step.name.rsplit_once('_').map_or(step.name.as_str(), |(operator, _)| operator);
        program::Step { name: format!("{operator}_{place}"), ..step.clone() }
    };
    places.map(step).collect()
}

fn problem(program: &Program, overlaps: impl Fn(&program::Step) -> Vec<Overlap>) -> Problem {
    let mut tensors: Vec<Tensor> = program
        .buffers
        .iter()
        .map(|buffer| {
            // The caller's buffers take nothing of the workspace.
            let bytes = if buffer.storage == Storage::Workspace { buffer.bytes } else { 0 };
            Tensor { bytes, ..Tensor::default() }
        })
        .collect();
    for port in &program.inputs {
        tensors[port.view.buffer.index()].input = true;
    }
    for port in program.results() {
        tensors[port.view.buffer.index()].output = true;
    }
    for state in &program.states {
        let tensor = &mut tensors[state.view.buffer.index()];
        (tensor.input, tensor.output) = (true, true);
    }
    let mut uses = Uses::default();
    let steps = program.steps.iter().enumerate();
    let steps = steps.map(|(position, step)| {
        let shares = overlaps(step).into_iter().map(|overlap| Share {
            read: overlap.read.index(),
            written: overlap.written.index(),
            bytes: overlap.bytes,
        });
        let buffers = |wanted| {
            let views = step.buffers().filter(move |(_, access)| *access == wanted);
            views.map(|(view, _)| view.buffer.index()).collect()
        };
        Step {
            reads: buffers(Access::Read),
            writes: buffers(Access::Write),
            scratch: 0,
            shares: shares.collect(),
            after: uses.add(position, step),
        }
    });
    let steps = steps.collect();
    Problem { tensors, steps }
}

/// Which steps so far read and write which bytes.
#[derive(Default)]
struct Uses(HashMap<BufferId, Vec<Use>>);

struct Use {
    step: usize,
    bytes: Range<usize>,
    access: Access,
}

impl Uses {
    /// Adds a step; gives those that must come before it, because they write bytes
    /// that it reads, or use bytes that it writes.
    fn add(&mut self, position: usize, step: &program::Step) -> Vec<usize> {
        let mut after = Vec::new();
        for (view, access) in step.buffers() {
            let bytes = view.offset..view.offset + view.bytes();
            let uses = self.0.entry(view.buffer).or_default();
            let conflicts = uses.iter().filter(|other| {
                other.step != position
                    && (access, other.access) != (Access::Read, Access::Read)
                    && other.bytes.start < bytes.end
                    && bytes.start < other.bytes.end
            });
            after.extend(conflicts.map(|other| other.step));
            if access == Access::Write {
                // Whoever follows this step follows those, too.
                let covers = |other: &Range<usize>| bytes.start <= other.start && other.end <= bytes.end;
                uses.retain(|other| other.step == position || !covers(&other.bytes));
            }
            uses.push(Use { step: position, bytes, access });
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use aot_rt::DType;
    use aot_rt::kernels::{CopyI8, Kernel};

    use super::*;
    use crate::Config;
    use crate::compile::compile_as_is;
    use crate::eval::Evaluator;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::graph::{Data, Graph};
    use crate::ops::{Add, Mean, Relu};
    use crate::program::{Operand, View, Work, lower};

    /// ```text
    /// x ─┬─ add ── large 0 ── mean ─┬─ add ── y
    ///    └─ add ── large 1 ── mean ─┘
    /// ```
    ///
    /// with both large ones before the first mean.
    fn branches() -> Graph {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([16, 1]));
        let large = [0, 1].map(|i| {
            let data = [i as f32; 8].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
            let bias = sketch.constant(&format!("bias {i}"), f32_type([1, 8]), Data::from_bytes(data));
            sketch.node(&format!("large {i}"), Add::default(), &[x, bias])
        });
        let small =
            large.map(|id| sketch.node("small", Mean { axes: vec![0], keep_dimensions: false }, &[id]));
        let y = sketch.node("y", Add::default(), &small);
        sketch.finish(&[y])
    }

    #[test]
    fn branches_are_computed_one_after_the_other() {
        let program = lower(&branches(), &Config::default()).unwrap();
        let steps =
            |program: &Program| program.steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>();
        assert_eq!(steps(&program), ["add_0", "add_1", "mean_2", "mean_3", "add_4"]);

        let compiled = compile_as_is(&branches(), &Config::default()).unwrap();
        assert_eq!(steps(&compiled.program), ["add_0", "mean_1", "add_2", "mean_3", "add_4"]);
        let [x, large, small] = [64, 512, 32];
        assert_eq!((compiled.arena_bytes, compiled.proved), (x + large + small, true));

        let input: Vec<u8> = (0..16).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let outputs = Evaluator::new(&compiled).run(&[&input]).unwrap();
        // Twice the mean of the input, and the biases.
        assert_eq!(outputs[0], 16_f32.to_le_bytes().repeat(8));
    }

    #[test]
    fn a_good_order_is_kept() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let t = sketch.node("t", Relu::default(), &[x]);
        let y = sketch.node("y", Add::default(), &[t, x]);
        let program = lower(&sketch.finish(&[y]), &Config::default()).unwrap();
        assert!(reorder(&program, &Limits::default(), |_| Vec::new()).is_none());
    }

    #[test]
    fn overlaps_count() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let y = sketch.node("y", Relu::default(), &[x]);
        let program = lower(&sketch.finish(&[y]), &Config::default()).unwrap();
        let [read, written] = [program.inputs[0].view.buffer, program.outputs[0].view.buffer];
        let peak = |bytes| {
            let problem = problem(&program, |_| vec![Overlap { read, written, bytes }]);
            schedule(&problem, &Limits::default()).unwrap().peak
        };
        assert_eq!([peak(0), peak(12), peak(99)], [32, 20, 16]);
    }

    #[test]
    fn steps_wait_for_those_that_use_the_same_bytes() {
        let copy = |from: (usize, usize), to: (usize, usize)| {
            let view = |(buffer, offset)| {
                Operand::Buffer(View { buffer: BufferId(buffer), offset, dtype: DType::I8, len: 4 })
            };
            program::Step {
                operator: "test",
                name: String::new(),
                node: String::new(),
                description: String::new(),
                work: Work::Kernel(Kernel::CopyI8(CopyI8 { len: 4 })),
                operands: vec![view(from), view(to)],
                macs: 0,
            }
        };
        let mut uses = Uses::default();
        for (position, (step, expect)) in [
            (copy((0, 0), (1, 0)), vec![]),
            // Another part of the same buffer.
            (copy((0, 0), (1, 4)), vec![]),
            // Reads some of either part.
            (copy((1, 2), (2, 0)), vec![0, 1]),
            // Writes what has been written and read.
            (copy((0, 0), (1, 4)), vec![1, 2]),
            // Reads what has only been read.
            (copy((0, 0), (3, 0)), vec![]),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(uses.add(position, &step), expect, "step {position}");
        }
    }
}
