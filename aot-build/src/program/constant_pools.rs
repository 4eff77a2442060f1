//! Deals constants out to pools: the blob becomes one piece after the other, a pool each.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use aot_rt::DType;

use super::constants::alignment;
use super::pools::{CPU, no_pool, reached_by_all, unit};
use super::{ConstantPool, ConstantView, Initial, Operand, PlacedPool, Program, Step};
use crate::config::Pool;
use crate::error::Problem;

/// A constant of one program or several.
struct Constant<'p> {
    dtype: DType,
    bytes: &'p [u8],
    /// Name of the first step that reads it.
    reader: &'p str,
    units: BTreeSet<&'p str>,
    /// Multiply-accumulates of the steps that read it.
    macs: u64,
}

/// Puts the constants of `programs` into pools, equal ones once; those that no step reads are
/// left out. What is used most, for its size, comes first into the pool that costs least.
///
/// # Errors
///
/// Constants that no pool may hold. One beyond its limit is for the caller to report.
pub(crate) fn distribute(
    programs: &mut [&mut Program],
    pools: &[(String, Pool)],
) -> Result<Vec<PlacedPool>, Vec<Problem>> {
    if let ([program], [(name, pool)]) = (&programs, pools)
        && (pool.alignment, &pool.reach) == (None, &None)
    {
        // All lie in it as they are.
        let bytes = program.constants.bytes().len();
        return Ok(vec![PlacedPool { name: name.clone(), pool: pool.clone(), start: 0, bytes }]);
    }
    let (placed, blob, moves) = placed(programs, pools)?;
    for (program, moves) in programs.iter_mut().zip(moves) {
        program.constants = blob.clone();
        for view in program.constant_views_mut().filter(|view| view.len > 0) {
            let (from, to) = moves[moves.partition_point(|(from, _)| *from <= view.offset) - 1];
            view.offset = to + (view.offset - from);
        }
    }
    Ok(placed)
}

/// Of a program: where each of its constants was, in order, and where it is.
type Moves = Vec<(usize, usize)>;

fn placed(
    programs: &[&mut Program],
    pools: &[(String, Pool)],
) -> Result<(Vec<PlacedPool>, ConstantPool, Vec<Moves>), Vec<Problem>> {
    let (constants, homes) = collected(programs);
    let chosen = chosen(&constants, pools)?;
    let mut blob = ConstantPool::default();
    let mut offsets = vec![0; constants.len()];
    let mut placed = Vec::new();
    for ((name, pool), chosen) in pools.iter().zip(chosen) {
        let alignment = pool.alignment.unwrap_or(1);
        let start = blob.align(alignment.max(16));
        for i in chosen {
            blob.align(alignment);
            offsets[i] = blob.intern(constants[i].dtype, constants[i].bytes).offset;
        }
        let bytes = blob.bytes().len() - start;
        placed.push(PlacedPool { name: name.clone(), pool: pool.clone(), start, bytes });
    }
    let moves = homes.into_iter().map(|home| home.into_iter().map(|(from, i)| (from, offsets[i])).collect());
    Ok((placed, blob, moves.collect()))
}

/// The constants that steps read; of each program, where each of its constants is and what it
/// is among those, in order.
fn collected<'p>(programs: &'p [&mut Program]) -> (Vec<Constant<'p>>, Vec<Moves>) {
    let mut constants: Vec<Constant<'p>> = Vec::new();
    let mut known: HashMap<(DType, &[u8]), usize> = HashMap::new();
    let mut homes = Vec::new();
    for program in programs {
        let ranges = program.constants.ranges();
        let range_of = |offset: usize| ranges[ranges.partition_point(|range| range.offset <= offset) - 1];
        let mut home = Moves::new();
        for (view, reader, unit, macs) in program.constant_uses().filter(|(view, ..)| view.len > 0) {
            let ConstantView { offset, dtype, len } = range_of(view.offset);
            let bytes = &program.constants.bytes()[offset..][..len * dtype.size()];
            let i = *known.entry((dtype, bytes)).or_insert_with(|| {
                constants.push(Constant { dtype, bytes, reader, units: BTreeSet::new(), macs: 0 });
                constants.len() - 1
            });
            constants[i].units.insert(unit);
            constants[i].macs = constants[i].macs.saturating_add(macs);
            home.push((offset, i));
        }
        home.sort_unstable();
        home.dedup();
        homes.push(home);
    }
    (constants, homes)
}

/// Of each pool: the constants in it, in their order.
fn chosen(constants: &[Constant<'_>], pools: &[(String, Pool)]) -> Result<Vec<Vec<usize>>, Vec<Problem>> {
    let mut order: Vec<usize> = (0..constants.len()).collect();
    if pools.len() > 1 {
        let per_kibibyte = |i: &usize| {
            let Constant { macs, bytes, .. } = constants[*i];
            Reverse(u128::from(macs) * 1024 / bytes.len() as u128)
        };
        order.sort_by_key(per_kibibyte);
    }
    let mut chosen = vec![Vec::new(); pools.len()];
    let mut ends = vec![0_usize; pools.len()];
    let mut problems = Vec::new();
    for i in order {
        let Constant { dtype, bytes, units, reader, .. } = &constants[i];
        let end = |pool: usize| {
            let alignment = pools[pool].1.alignment.unwrap_or(1).max(alignment(*dtype, bytes.len()));
            ends[pool].next_multiple_of(alignment) + bytes.len()
        };
        let reached = reached_by_all(pools, units);
        let has_room = |pool: &usize| pools[*pool].1.limit.is_none_or(|limit| end(*pool) <= limit);
        // The last one exceeds its limit where none has room.
        let Some(pool) = reached.iter().copied().find(has_room).or(reached.last().copied()) else {
            let what = format!("a constant of step `{reader}`");
            problems.push(no_pool(&what, units.iter().copied(), "constants"));
            continue;
        };
        ends[pool] = end(pool);
        chosen[pool].push(i);
    }
    if problems.is_empty() { Ok(chosen) } else { Err(problems) }
}

impl Program {
    /// The constants that are read, and the steps that do; none for what a state starts with.
    pub(crate) fn constant_reads(&self) -> impl Iterator<Item = (ConstantView, Option<&Step>)> {
        let states = self.states.iter().filter_map(|state| match state.initial {
            Initial::Constant(view) => Some((view, None)),
            Initial::Fill(_) => None,
        });
        let steps = self.steps.iter().flat_map(Step::with_nested).flat_map(|step| {
            step.operands.iter().filter_map(move |operand| match operand {
                Operand::Constant(view) => Some((*view, Some(step))),
                Operand::Buffer(_) => None,
            })
        });
        states.chain(steps)
    }

    /// What reads constants: the view, the step's name, its unit and its multiply-accumulates.
    fn constant_uses(&self) -> impl Iterator<Item = (ConstantView, &str, &str, u64)> {
        let states = self.states.iter().filter_map(|state| match state.initial {
            Initial::Constant(view) => Some((view, state.name.as_str(), CPU, 0)),
            Initial::Fill(_) => None,
        });
        let steps = self.steps.iter().flat_map(Step::with_nested).flat_map(|step| {
            step.operands.iter().enumerate().filter_map(move |(i, operand)| match operand {
                Operand::Constant(view) => {
                    let unit = if step.is_cpu_side(i) { CPU } else { unit(step) };
                    Some((*view, step.name.as_str(), unit, step.macs))
                }
                Operand::Buffer(_) => None,
            })
        });
        states.chain(steps)
    }

    fn constant_views_mut(&mut self) -> impl Iterator<Item = &mut ConstantView> {
        let states = self.states.iter_mut().filter_map(|state| match &mut state.initial {
            Initial::Constant(view) => Some(view),
            Initial::Fill(_) => None,
        });
        states.chain(self.steps.iter_mut().flat_map(Step::constant_views_mut))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::Add;
    use crate::{Config, compile, eval::Evaluator};

    /// `x` and constants, added one after the other.
    fn sums(name: &str, addends: &[[f32; 4]]) -> crate::graph::Graph {
        let mut sketch = Sketch::new();
        let mut x = sketch.input("x", f32_type([4]));
        for (i, addend) in addends.iter().enumerate() {
            let addend = sketch.constant(&format!("{name}{i}"), f32_type([4]), Data::from_f32s(addend));
            x = sketch.node(&format!("sum{i}"), Add::default(), &[x, addend]);
        }
        sketch.finish(&[x])
    }

    fn config(limit: usize) -> Config {
        let mut config = Config::default();
        for (key, value) in [
            ("pools.fast.kind", "constants".into()),
            ("pools.fast.limit", (limit as i64).into()),
            ("pools.fast.alignment", 32.into()),
            ("pools.slow.kind", "constants".into()),
            ("pools.slow.cost", 1.into()),
        ] {
            config.set(key, value).unwrap();
        }
        config
    }

    const ADDENDS: [[f32; 4]; 3] = [[1.0; 4], [2.0; 4], [4.0, 8.0, 16.0, 32.0]];

    #[test]
    fn the_pool_of_least_cost_is_filled_first() {
        let compiled = compile(sums("a", &ADDENDS), &config(48)).unwrap();
        let pools: Vec<_> =
            compiled.constant_pools.iter().map(|pool| (pool.name.as_str(), pool.start, pool.bytes)).collect();
        // Two constants of 16 bytes, the second at a multiple of 32; then another pool.
        assert_eq!(pools, [("fast", 0, 48), ("slow", 48, 16)]);
        let mut input = Vec::new();
        [1.0_f32; 4].iter().for_each(|x| input.extend(x.to_le_bytes()));
        let output = Evaluator::new(&compiled).run(&[&input]).unwrap().remove(0);
        let output: Vec<_> = output.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(output, [8.0, 12.0, 20.0, 36.0]);
    }

    #[test]
    fn equal_constants_of_several_programs_are_stored_once() {
        let mut compiled = [&ADDENDS[..2], &ADDENDS[1..]]
            .map(|addends| compile(sums("a", addends), &Config::default()).unwrap().program);
        let [a, b] = &mut compiled;
        let pools = distribute(&mut [a, b], &Config::default().constant_pools()).unwrap();
        assert_eq!(pools[0].bytes, 3 * 16);
        assert_eq!(a.constants.bytes(), b.constants.bytes());
        let constant = |program: &Program, step: usize| {
            let uses: Vec<_> = program.constant_uses().collect();
            let view = uses[step].0;
            f32::from_le_bytes(*program.constants.bytes()[view.offset..].first_chunk().unwrap())
        };
        let read = [constant(a, 0), constant(a, 1), constant(b, 0), constant(b, 1)];
        assert_eq!(read, [1.0, 2.0, 2.0, 4.0]);
    }

    #[test]
    fn what_nothing_reaches_is_refused() {
        let mut config = config(48);
        config.set("devices.npu.operators", vec!["add"].into()).unwrap();
        for pool in ["fast", "slow"] {
            config.set(&format!("pools.{pool}.reach"), vec!["cpu"].into()).unwrap();
        }
        let problems = compile(sums("a", &ADDENDS[..1]), &config).unwrap_err();
        assert_eq!(
            problems[0].message,
            "a constant of step `add_0` has no place: no pool of kind \"constants\" is reached by `npu`"
        );
    }
}
