//! Steps that are taken without a choice.
//!
//! With more steps done, a step adds fewer bytes or frees more: what it writes may
//! be alive already, what it reads may have no other reader left. So let a step be
//! ready whose load is not above the peak anyway, and after which no more bytes are
//! alive than before. Take any way to the end from here, and move the step to its
//! front: all steps that it overtakes find no more bytes alive than they did (bytes
//! that they cannot share with a result any more, because the step has made part of
//! it alive, are not born with them either). The way is no worse: so nothing is lost
//! by taking the step at once.
//!
//! The same holds for a chain of steps, each made ready by the one before it, that
//! ends with no more bytes alive than it began with, where all links before the
//! last have more: whatever part of the chain a way to the end has done at some
//! place, the whole of it leaves no more alive.

use super::position::Position;

/// Takes all steps, and chains of steps, that cannot make anything worse and whose
/// load is at most `peak`. Returns them in their order.
pub(super) fn settle(position: &mut Position<'_>, peak: usize) -> Vec<usize> {
    let mut taken = Vec::new();
    while let Some(mut steps) = harmless(position, peak) {
        taken.append(&mut steps);
    }
    taken
}

/// Takes the first chain that is harmless.
fn harmless(position: &mut Position<'_>, peak: usize) -> Option<Vec<usize>> {
    let mut from = 0;
    while let Some(step) = position.ready().next(from) {
        let chain = chain(position, step, peak);
        if chain.is_some() {
            return chain;
        }
        from = step + 1;
    }
    None
}

/// Takes a chain from `step` on until no more bytes are alive than now; takes
/// nothing where there is none.
fn chain(position: &mut Position<'_>, step: usize, peak: usize) -> Option<Vec<usize>> {
    let live = position.live();
    let mut steps = Vec::new();
    let mut next = Some(step);
    while let Some(step) = next.filter(|step| position.try_step(*step).load <= peak) {
        position.run(step);
        steps.push(step);
        if position.live() <= live {
            return Some(steps);
        }
        next = only_enabled(position, step);
    }
    steps.into_iter().rev().for_each(|step| position.undo(step));
    None
}

/// The step that the last one has made ready, when it is the only one.
fn only_enabled(position: &Position<'_>, last: usize) -> Option<usize> {
    let successors = &position.section().steps[last].successors;
    let mut ready = successors.iter().copied().filter(|step| position.ready().contains(*step));
    let first = ready.next();
    first.filter(|_| ready.next().is_none())
}
