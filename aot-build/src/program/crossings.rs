//! Copies tensors for units that share no pool with the others that use them.
//!
//! ```text
//! npu ── t ── dsp    =>    npu ── t ── copy ── copy of t ── dsp
//! ```
//!
//! The tensor has a home, a pool that the CPU reaches. A step whose unit does not reach that works on
//! a copy: one that is made before it, or that it makes and that is copied home behind it. All steps
//! that reach the pool of a copy share it, as long as nobody writes what it holds. The home is where
//! fewest bytes are copied.
//!
//! A step that holds steps is one user: within branches and loops nothing is copied.

use std::collections::BTreeSet;
use std::ops::Range;

use aot_rt::kernels::{CopyI8, Kernel};
use aot_rt::{Access, DType};

use super::pools::{CPU, candidates, reached_by_all, unit, users};
use super::{Buffer, BufferId, Crossing, Operand, Program, Step, View, Work};
use crate::config::Pool;

/// Puts copies in for all tensors that no pool can hold, as far as that helps: the planner refuses
/// what is left.
pub(crate) fn copy_between_pools(program: &mut Program, pools: &[(String, Pool)]) {
    let Err(crossings) = candidates(program, pools, unit) else { return };
    let homes = reached_by_all(pools, &BTreeSet::from([CPU]));
    for Crossing { buffer, .. } in crossings {
        let uses = uses(program, pools, buffer);
        let plans = homes.iter().filter_map(|home| Plan::new(program, buffer, &uses, *home));
        if let Some(plan) = plans.min_by_key(Plan::bytes) {
            plan.apply(program);
        }
    }
}

/// How a step uses a tensor.
struct Use {
    step: usize,
    /// The pools that may hold what it uses, if the CPU copies it.
    pools: Vec<usize>,
    /// From the first byte to the last.
    bytes: Range<usize>,
    reads: bool,
    writes: bool,
    /// Whether all the bytes may be other than what it reads and writes.
    is_divided: bool,
}

fn uses(program: &Program, pools: &[(String, Pool)], buffer: BufferId) -> Vec<Use> {
    let of_step = |(i, step): (usize, &Step)| {
        let views: Vec<(View, Access)> = step.buffers().filter(|(view, _)| view.buffer == buffer).collect();
        let start = views.iter().map(|(view, _)| view.offset).min()?;
        let end = views.iter().map(|(view, _)| view.offset + view.bytes()).max()?;
        let units = users(step, &unit).into_iter().filter(|(id, _)| *id == buffer).map(|(_, unit)| unit);
        let mut reached = reached_by_all(pools, &units.chain([CPU]).collect());
        // Elements at odd places could not be borrowed from a copy that begins elsewhere.
        if views.iter().any(|(view, _)| !(view.offset - start).is_multiple_of(view.dtype.size())) {
            reached.clear();
        }
        Some(Use {
            step: i,
            pools: reached,
            bytes: start..end,
            reads: views.iter().any(|(_, access)| *access == Access::Read),
            writes: views.iter().any(|(_, access)| *access == Access::Write),
            is_divided: views.len() > 1,
        })
    };
    program.steps.iter().enumerate().filter_map(of_step).collect()
}

/// The copies of a tensor.
struct Plan {
    tensor: BufferId,
    copies: Vec<Copy>,
    /// Steps, and the copies that they use.
    users: Vec<(usize, usize)>,
    moves: Vec<Move>,
}

/// Memory for bytes of the tensor.
struct Copy {
    bytes: Range<usize>,
    pool: usize,
    /// Whether it holds what the tensor does.
    is_valid: bool,
}

/// A step that copies between the tensor and a copy.
struct Move {
    copy: usize,
    bytes: Range<usize>,
    at: Place,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// To the copy, before a step.
    Before(usize),
    /// To the tensor, after a step.
    After(usize),
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Plan {
    /// The copies for `tensor` in the pool `home`; `None` where a use is possible in no pool.
    fn new(program: &Program, tensor: BufferId, uses: &[Use], home: usize) -> Option<Self> {
        let mut plan = Self { tensor, copies: Vec::new(), users: Vec::new(), moves: Vec::new() };
        let is_input = program.inputs.iter().any(|port| port.view.buffer == tensor);
        let is_given = is_input || program.is_state(tensor);
        let mut written: Vec<Range<usize>> =
            is_given.then(|| 0..program.buffer(tensor).bytes).into_iter().collect();
        let is_away = |each: &&Use| !each.pools.contains(&home);
        let served =
            |pool: usize| uses.iter().filter(is_away).filter(|each| each.pools.contains(&pool)).count();
        for each in uses {
            let mut copy = None;
            if is_away(&each) {
                let pool = each.pools.iter().copied().min_by_key(|pool| std::cmp::Reverse(served(*pool)))?;
                // A step may leave some of what it writes as it was.
                let is_there = written.iter().any(|bytes| overlap(bytes, &each.bytes));
                let is_read = each.reads || each.is_divided || is_there;
                let used = if is_read { plan.filled(each, pool) } else { plan.add(each, pool) };
                plan.users.push((each.step, used));
                copy = Some(used);
            }
            if each.writes {
                written.push(each.bytes.clone());
                plan.write(each, copy);
            }
        }
        Some(plan)
    }

    fn add(&mut self, each: &Use, pool: usize) -> usize {
        self.copies.push(Copy { bytes: each.bytes.clone(), pool, is_valid: true });
        self.copies.len() - 1
    }

    /// A copy in `pool` of what the tensor is.
    fn filled(&mut self, each: &Use, pool: usize) -> usize {
        let Range { start, end } = each.bytes;
        let has_all = |copy: &Copy| {
            copy.is_valid && copy.pool == pool && copy.bytes.start <= start && end <= copy.bytes.end
        };
        self.copies.iter().position(has_all).unwrap_or_else(|| {
            let copy = self.add(each, pool);
            self.moves.push(Move { copy, bytes: each.bytes.clone(), at: Place::Before(each.step) });
            copy
        })
    }

    /// Notes that a step writes the tensor, or the copy that it uses.
    fn write(&mut self, each: &Use, used: Option<usize>) {
        for (i, copy) in self.copies.iter_mut().enumerate() {
            copy.is_valid &= used == Some(i) || !overlap(&copy.bytes, &each.bytes);
        }
        let moves = used.map(|copy| Move { copy, bytes: each.bytes.clone(), at: Place::After(each.step) });
        self.moves.extend(moves);
    }

    /// Bytes that are copied.
    fn bytes(&self) -> usize {
        self.moves.iter().map(|each| each.bytes.len()).sum()
    }

    fn apply(self, program: &mut Program) {
        let first = program.buffers.len();
        let tensor = program.buffer(self.tensor).clone();
        program.buffers.extend(self.copies.iter().map(|copy| Buffer {
            name: format!("copy of {}", tensor.name),
            ty: tensor.ty.clone().filter(|_| copy.bytes.len() == tensor.bytes),
            bytes: copy.bytes.len(),
            ..tensor.clone()
        }));
        for (i, mut step) in std::mem::take(&mut program.steps).into_iter().enumerate() {
            self.append_moves(program, first, Place::Before(i));
            if let Some((_, copy)) = self.users.iter().find(|(user, _)| *user == i) {
                let views = step.views_mut().into_iter().filter(|view| view.buffer == self.tensor);
                for view in views {
                    view.buffer = BufferId(first + copy);
                    view.offset -= self.copies[*copy].bytes.start;
                }
            }
            program.steps.push(step);
            self.append_moves(program, first, Place::After(i));
        }
        name_copies(program);
    }

    /// The steps that copy at `place`, without names.
    fn append_moves(&self, program: &mut Program, first: usize, place: Place) {
        for Move { copy, bytes, at } in self.moves.iter().filter(|each| each.at == place) {
            let len = bytes.len();
            let offset = bytes.start - self.copies[*copy].bytes.start;
            let view = |buffer, offset| Operand::Buffer(View { buffer, offset, dtype: DType::I8, len });
            let mut operands = vec![view(self.tensor, bytes.start), view(BufferId(first + copy), offset)];
            if matches!(at, Place::After(_)) {
                operands.reverse();
            }
            program.steps.push(Step {
                name: String::new(),
                operator: "copy",
                node: program.buffer(self.tensor).name.clone(),
                description: format!("{len} bytes between pools"),
                work: Work::Kernel(Kernel::CopyI8(CopyI8 { len })),
                operands,
                macs: 0,
            });
        }
    }
}

/// Gives the steps without a name one that no other has.
fn name_copies(program: &mut Program) {
    let known: BTreeSet<String> = program.steps.iter().map(|step| step.name.clone()).collect();
    let mut names = (program.steps.len()..).map(|i| format!("copy_{i}")).filter(|name| !known.contains(name));
    for step in program.steps.iter_mut().filter(|step| step.name.is_empty()) {
        step.name.extend(names.next());
    }
}
