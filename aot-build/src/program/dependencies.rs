//! Which steps must come before which others, in every order.

use aot_rt::Access;

use super::{Program, View};

/// For each step, the earlier ones that it must follow: those that write what it uses,
/// or use what it writes.
pub(crate) struct Dependencies {
    before: Vec<Vec<usize>>,
}

impl Dependencies {
    /// The dependencies of all steps.
    pub(crate) fn of(program: &Program) -> Self {
        let mut uses: Vec<Vec<(usize, View, Access)>> = vec![Vec::new(); program.buffers.len()];
        let mut before = vec![Vec::new(); program.steps.len()];
        for (i, step) in program.steps.iter().enumerate() {
            for (view, access) in step.buffers() {
                let earlier = &mut uses[view.buffer.0];
                let conflicts = earlier.iter().filter(|(_, other, other_access)| {
                    let writes = access == Access::Write || *other_access == Access::Write;
                    writes && overlap(view, *other)
                });
                before[i].extend(conflicts.map(|&(step, ..)| step).filter(|&step| step != i));
                earlier.push((i, view, access));
            }
            before[i].sort_unstable();
            before[i].dedup();
        }
        Self { before }
    }

    /// Whether all of `steps` but `last` come before `last`.
    pub(crate) fn are_before(&self, last: usize, steps: impl IntoIterator<Item = usize>) -> bool {
        let steps: Vec<usize> = steps.into_iter().filter(|&step| step != last).collect();
        let Some(&earliest) = steps.iter().min() else { return true };
        if steps.iter().any(|&step| step > last) {
            return false;
        }
        let mut is_before = vec![false; last - earliest];
        let mut open = vec![last];
        while let Some(step) = open.pop() {
            for &other in self.before[step].iter().filter(|&&other| other >= earliest) {
                if !std::mem::replace(&mut is_before[other - earliest], true) {
                    open.push(other);
                }
            }
        }
        steps.iter().all(|&step| is_before[step - earliest])
    }
}

/// Whether two views of one buffer share bytes.
fn overlap(a: View, b: View) -> bool {
    a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes()
}
