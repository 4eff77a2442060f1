//! A peak that no order of a section can go below.

use super::sections::{Section, SectionStep, SectionTensor};
use super::step_set::StepSet;

/// Most bits of the sets of steps before and after each step; beyond, a step is only
/// known to need its own tensors.
const MOST_BITS: usize = 1 << 22;

/// The least that the largest load can be.
pub(super) fn least_peak(section: &Section) -> usize {
    [during_steps(section), at_start(section), at_end(section)].into_iter().max().unwrap_or(0)
}

/// A tensor is alive during a step, whatever the order, when the step uses it, or comes
/// after one use and before another.
fn during_steps(section: &Section) -> usize {
    let steps = section.steps.len();
    let around = if steps.saturating_mul(steps.max(section.tensors.len())) <= MOST_BITS {
        Around::new(section)
    } else {
        Around::unknown(section)
    };
    let load = |(position, step): (usize, &SectionStep)| {
        let tensors = section.tensors.iter().enumerate();
        let alive = tensors.filter(|(id, tensor)| {
            let begun = tensor.before || around.after_use[*id].contains(position);
            let needed = tensor.after || around.before_use[*id].contains(position);
            begun && needed || step.tensors.binary_search(id).is_ok()
        });
        let alive: usize = alive.map(|(_, tensor)| tensor.bytes).sum();
        section.resident + alive + step.scratch - step.most_shared()
    };
    section.steps.iter().enumerate().map(load).max().unwrap_or(0)
}

/// Some step is the first: beside its own tensors, all are alive that are needed from
/// before the section.
fn at_start(section: &Section) -> usize {
    let first = section.steps.iter().filter(|step| step.waits_for == 0);
    first.map(|step| load_beside(section, step, |tensor| tensor.before)).min().unwrap_or(0)
}

/// Some step is the last: beside its own tensors, all are alive that are needed after
/// the section.
fn at_end(section: &Section) -> usize {
    let last = section.steps.iter().filter(|step| step.successors.is_empty());
    last.map(|step| load_beside(section, step, |tensor| tensor.after)).min().unwrap_or(0)
}

fn load_beside(section: &Section, step: &SectionStep, is_alive: fn(&SectionTensor) -> bool) -> usize {
    let alive = section.tensors.iter().filter(|tensor| is_alive(tensor)).map(|tensor| tensor.bytes);
    let own = step.tensors.iter().map(|id| &section.tensors[*id]).filter(|tensor| !is_alive(tensor));
    let bytes = alive.chain(own.map(|tensor| tensor.bytes)).sum::<usize>();
    section.resident + bytes + step.scratch - step.most_shared()
}

/// For each tensor, the steps that must come before, and after, some step that uses it.
struct Around {
    before_use: Vec<StepSet>,
    after_use: Vec<StepSet>,
}

impl Around {
    fn unknown(section: &Section) -> Self {
        let none = vec![StepSet::new(section.steps.len()); section.tensors.len()];
        Self { before_use: none.clone(), after_use: none }
    }

    fn new(section: &Section) -> Self {
        let steps = section.steps.len();
        let mut before = vec![StepSet::new(steps); steps];
        for (position, step) in section.steps.iter().enumerate() {
            let mut reached = before[position].clone();
            reached.insert(position);
            step.successors.iter().for_each(|successor| before[*successor].extend(&reached));
        }
        let mut after = vec![StepSet::new(steps); steps];
        for (position, step) in section.steps.iter().enumerate().rev() {
            for &successor in &step.successors {
                let mut reached = after[successor].clone();
                reached.insert(successor);
                after[position].extend(&reached);
            }
        }
        let mut around = Self::unknown(section);
        for (position, step) in section.steps.iter().enumerate() {
            for &tensor in &step.tensors {
                around.before_use[tensor].extend(&before[position]);
                around.after_use[tensor].extend(&after[position]);
            }
        }
        around
    }
}
