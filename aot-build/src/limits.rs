//! The limits that a configuration sets, and what a model that exceeds one needs so
//! much memory for.

use crate::codegen::spaced;
use crate::error::{Location, Problem};
use crate::program::{Buffer, Program, Storage};
use crate::{Compiled, Config};

/// Most tensors that a message lists.
const LISTED: usize = 8;

/// One problem for each limit of `config` that `compiled` exceeds.
pub(crate) fn check(compiled: &Compiled, config: &Config) -> Vec<Problem> {
    let program = &compiled.program;
    let ram = over("ram_limit", "RAM", compiled.arena_bytes, config.ram_limit).map(|problem| {
        let problem = problem.items(peak(program).into_iter().collect());
        match compiled.lower_bound {
            bound if bound < compiled.arena_bytes => problem
                .help(format!("no plan for this order of steps needs less than {} bytes", spaced(bound))),
            _ => problem,
        }
    });
    let flash = over("flash_limit", "constants", program.constants.bytes().len(), config.flash_limit);
    ram.into_iter().chain(flash).collect()
}

fn over(key: &str, of: &str, needed: usize, limit: Option<usize>) -> Option<Problem> {
    let limit = limit.filter(|limit| needed > *limit)?;
    let message = format!(
        "needs {} bytes of {of}, the limit is {} ({} too many)",
        spaced(needed),
        spaced(limit),
        spaced(needed - limit)
    );
    Some(Problem::new(message).at(Location::Key(key.into())))
}

/// The step during which the most bytes of the workspace are in use, and what is in
/// them, the largest first.
fn peak(program: &Program) -> Option<String> {
    let lifetimes = program.lifetimes();
    let alive = |step: usize| -> Vec<&Buffer> {
        let buffers = program.buffers.iter().zip(&lifetimes);
        let alive = buffers.filter(|(buffer, lifetime)| {
            buffer.storage == Storage::Workspace && (lifetime.start..lifetime.end).contains(&step)
        });
        alive.map(|(buffer, _)| buffer).collect()
    };
    let bytes = |step: &usize| alive(*step).iter().map(|buffer| buffer.bytes).sum::<usize>();
    // The first of several: `max_by_key` would take the last.
    let step = (0..program.steps.len()).rev().max_by_key(bytes)?;
    let mut buffers = alive(step);
    buffers.sort_by_key(|buffer| std::cmp::Reverse(buffer.bytes));
    let mut list: Vec<_> = buffers
        .iter()
        .take(LISTED)
        .map(|buffer| format!("`{}` {}", buffer.name, spaced(buffer.bytes)))
        .collect();
    if buffers.len() > LISTED {
        list.push(format!("and {} smaller ones", buffers.len() - LISTED));
    }
    Some(format!("at step {step} `{}` are alive: {}", program.steps[step].name, list.join(", ")))
}

#[cfg(test)]
mod tests {
    use aot_rt::DType;

    use super::*;
    use crate::compile;
    use crate::graph::{Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Shape, TensorType};
    use crate::ops::FullyConnected;

    fn ty(shape: [usize; 2]) -> TensorType {
        TensorType::new(DType::F32, Shape::new(shape).unwrap())
    }

    /// 2 -> 4 -> 3: the second step needs the most, 16 + 12 bytes.
    fn two_layers() -> Graph {
        let mut builder = GraphBuilder::new("two_layers");
        let mut x = builder.input("x", ty([1, 2]));
        for (index, (name, [outputs, inputs])) in [("hidden", [4, 2]), ("y", [3, 4])].into_iter().enumerate()
        {
            let weights = Data::from_f32s(&vec![1.0; outputs * inputs]);
            let w = builder.constant("w", ty([outputs, inputs]), weights);
            let declaration = NodeDeclaration {
                name: name.into(),
                index,
                op: FullyConnected::default().into(),
                inputs: vec![Some(x), Some(w), None],
                outputs: vec![OutputDeclaration { name: name.into(), ty: Some(ty([1, outputs])) }],
            };
            x = builder.node(declaration)[0].unwrap();
        }
        builder.finish(vec![x]).unwrap()
    }

    #[test]
    fn a_model_beyond_its_limits() {
        let config = Config { ram_limit: Some(20), flash_limit: Some(50), ..Config::default() };
        let problems = compile(two_layers(), &config).unwrap_err();
        let [ram, flash] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(ram.to_string().starts_with("key `ram_limit`: needs "), "{ram}");
        assert_eq!(ram.items, ["at step 1 `fully_connected_1` are alive: `hidden` 16, `y` 12"]);
        assert!(flash.to_string().starts_with("key `flash_limit`: needs "), "{flash}");
    }

    #[test]
    fn a_model_within_its_limits() {
        let config = Config { ram_limit: Some(1_000), flash_limit: Some(1_000), ..Config::default() };
        assert!(compile(two_layers(), &config).is_ok());
    }
}
