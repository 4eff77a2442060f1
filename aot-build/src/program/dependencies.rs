//! Which steps must come before which others, in every order.

use aot_rt::Access;

use super::{Program, View};

/// For each step, the earlier ones that it must follow: those that write what it uses,
/// or use what it writes.
pub(crate) struct Dependencies {
    before: Vec<Vec<usize>>,
}

/// The earlier uses of a buffer.
#[derive(Clone, Default)]
struct Uses {
    reads: Vec<(usize, View)>,
    writes: Vec<(usize, View)>,
}

/// Steps that one question looks at, at most; where it takes more, the answer is no.
const MOST_STEPS: usize = 10_000;

impl Dependencies {
    /// The dependencies of all steps.
    pub(crate) fn of(program: &Program) -> Self {
        let mut uses = vec![Uses::default(); program.buffers.len()];
        let mut before = vec![Vec::new(); program.steps.len()];
        for (i, step) in program.steps.iter().enumerate() {
            for (view, access) in step.buffers() {
                let Uses { reads, writes } = &mut uses[view.buffer.0];
                let mut follow = |earlier: &[(usize, View)]| {
                    let conflicts =
                        earlier.iter().filter(|(step, other)| *step != i && overlap(view, *other));
                    before[i].extend(conflicts.map(|(step, _)| *step));
                };
                follow(writes);
                if access == Access::Write {
                    follow(reads);
                    // Whoever follows this step follows those, too.
                    let stays = |(step, other): &(usize, View)| *step == i || !covers(view, *other);
                    reads.retain(stays);
                    writes.retain(stays);
                    writes.push((i, view));
                } else {
                    reads.push((i, view));
                }
            }
            before[i].sort_unstable();
            before[i].dedup();
        }
        Self { before }
    }

    /// Whether all of `steps`, which are in order, but `last` come before `last`.
    pub(crate) fn are_before(&self, last: usize, steps: &[usize]) -> bool {
        let steps = || steps.iter().copied().filter(|step| *step != last);
        let Some(earliest) = steps().next() else { return true };
        if steps().any(|step| step > last) {
            return false;
        }
        let mut is_before = vec![false; last - earliest];
        let mut open = vec![last];
        let mut looked_at = 0;
        while let Some(step) = open.pop() {
            looked_at += self.before[step].len();
            if looked_at > MOST_STEPS {
                return false;
            }
            for &other in self.before[step].iter().filter(|&&other| other >= earliest) {
                if !std::mem::replace(&mut is_before[other - earliest], true) {
                    open.push(other);
                }
            }
        }
        steps().all(|step| is_before[step - earliest])
    }
}

/// Whether a view of a buffer has all the bytes of another.
fn covers(view: View, other: View) -> bool {
    view.offset <= other.offset && other.offset + other.bytes() <= view.offset + view.bytes()
}

/// Whether two views of one buffer share bytes.
fn overlap(a: View, b: View) -> bool {
    a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes()
}
