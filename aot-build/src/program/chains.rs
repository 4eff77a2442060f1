//! Makes one call of the calls of a chain.
//!
//! ```text
//! x ── conv2d ── t ── relu ── y    =>    x ── conv2d then relu ── y
//! ```
//!
//! The tensors between them vanish: the device keeps them.

use aot_rt::Access;

use super::{Call, Operand, Program, Step, Storage, View, Work};

/// Merges chains: `steps` are the positions of each node's steps, `chains` those of the nodes.
///
/// # Errors
///
/// For the first chain that cannot be one call, its first step and why.
pub(super) fn merge(
    program: &mut Program,
    steps: &[std::ops::Range<usize>],
    chains: &[Vec<usize>],
) -> Result<(), (String, String)> {
    let mut gone = vec![false; program.steps.len()];
    for chain in chains {
        let mut merged: Option<usize> = None;
        for node in chain {
            let position = only_step(program, &steps[*node])?;
            if let Some(before) = merged {
                let step = joined(program, before, position)?;
                gone[before] = true;
                program.steps[position] = step;
            }
            merged = Some(position);
        }
    }
    let mut gone = gone.into_iter();
    program.steps.retain(|_| gone.next() != Some(true));
    Ok(())
}

fn only_step(program: &Program, steps: &std::ops::Range<usize>) -> Result<usize, (String, String)> {
    if steps.len() == 1 {
        return Ok(steps.start);
    }
    let node = program.steps.get(steps.start).map(|step| step.node.clone()).unwrap_or_default();
    Err((node, format!("it takes {} steps; each node of a pattern must take one", steps.len())))
}

/// The steps `first` and `second` as one, in the place of `second`.
fn joined(program: &Program, first: usize, second: usize) -> Result<Step, (String, String)> {
    let (a, b) = (&program.steps[first], &program.steps[second]);
    let refuse = |why: &str| Err((b.node.clone(), format!("it cannot be one call with `{}`: {why}", a.node)));
    let (Work::Call(call), Work::Call(next)) = (&a.work, &b.work) else {
        return refuse("not both are calls of a device");
    };
    let (Some(&Operand::Buffer(y)), Some(&Operand::Buffer(x))) = (a.operands.get(1), b.operands.first())
    else {
        return refuse("the tensor between them is a constant");
    };
    if x != y || !is_between(program, y, [first, second]) {
        return refuse("others use the memory of the tensor between them");
    }
    if overwritten(program, first, second) {
        return refuse("another step changes what the first one reads");
    }
    let mut call: Call = call.clone();
    call.then(next, y.len);
    let operands = [&a.operands[..1], &b.operands[1..2], &a.operands[2..], &b.operands[2..]].concat();
    Ok(Step {
        description: format!("{}; then {}", a.description, b.description),
        work: Work::Call(call),
        operands,
        macs: a.macs.saturating_add(b.macs),
        ..a.clone()
    })
}

/// Whether a view is a whole buffer of the workspace that only these steps use, once each.
fn is_between(program: &Program, view: View, steps: [usize; 2]) -> bool {
    let id = view.buffer;
    let uses = program
        .steps
        .iter()
        .enumerate()
        .flat_map(|(i, step)| step.buffers().filter(|(view, _)| view.buffer == id).map(move |_| i));
    let ports = program.inputs.iter().chain(&program.outputs).chain(&program.kept);
    program.is_whole(view)
        && program.buffer(id).storage == Storage::Workspace
        && !program.is_state(id)
        && !ports.into_iter().any(|port| port.view.buffer == id)
        && !program.aliases.iter().any(|alias| alias.view.buffer == id)
        && uses.eq(steps)
}

/// Whether a step between the two writes what the first one uses, or reads what it writes.
fn overwritten(program: &Program, first: usize, second: usize) -> bool {
    program.steps[first + 1..second].iter().any(|step| {
        step.buffers().any(|(view, access)| {
            program.steps[first].buffers().any(|(used, use_access)| {
                let shared = used.buffer == view.buffer;
                shared && (access == Access::Write || use_access == Access::Write)
            })
        })
    })
}
