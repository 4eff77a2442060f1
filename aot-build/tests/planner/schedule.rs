//! The order of steps: recorded graphs at their best known peaks, small random
//! graphs against all orders, large ones within a limit of effort.

use std::time::Instant;

use aot_build::schedule::{Fault, Limits, Problem, Schedule, Share, Step, Tensor, schedule};
use proptest::prelude::*;
use serde_json::Value;

use crate::shared;

/// Source: `schedule/randwire.json`: random wired graphs, the peak of their own order
/// and the lowest of all orders, proved.
#[test]
fn random_wired_graphs_at_their_best_peak() {
    let test = "random_wired_graphs_at_their_best_peak";
    let Some(graphs) = shared::json(test, "schedule/randwire.json") else { return };
    println!("{:10} {:>5} {:>8} {:>8} {:>8} {:>8}", "graph", "steps", "given", "best", "nodes", "ms");
    for graph in graphs.as_array().expect("a list of graphs") {
        let problem = recorded(graph);
        let start = Instant::now();
        let found = schedule(&problem, &Limits::default()).expect("a well-formed problem");
        let time = start.elapsed();
        println!(
            "{:10} {:5} {:8} {:8} {:8} {:8.2}",
            graph["name"].as_str().expect("a name"),
            problem.steps.len(),
            graph["index_order_peak"],
            found.peak,
            found.nodes,
            time.as_secs_f64() * 1e3
        );
        let given: Vec<usize> = (0..problem.steps.len()).collect();
        assert_eq!(Some(peak(&problem, &given) as u64), graph["index_order_peak"].as_u64());
        assert_eq!(Some(found.peak as u64), graph["best_peak"].as_u64(), "{}", graph["name"]);
        assert!(found.proved(), "{}", graph["name"]);
        is_consistent(&problem, &found);
    }
}

fn recorded(graph: &Value) -> Problem {
    let numbers = |value: &Value| -> Vec<usize> {
        let numbers = value.as_array().expect("numbers").iter();
        numbers.map(|number| number.as_u64().expect("a number") as usize).collect()
    };
    let bytes = graph["tensor_bytes"].as_object().expect("bytes of each tensor");
    let (inputs, outputs) = (numbers(&graph["graph_inputs"]), numbers(&graph["graph_outputs"]));
    let tensors = (0..bytes.len()).map(|id| Tensor {
        bytes: bytes[&id.to_string()].as_u64().expect("bytes") as usize,
        input: inputs.contains(&id),
        output: outputs.contains(&id),
    });
    let steps = graph["ops"].as_array().expect("steps").iter().map(|step| Step {
        reads: numbers(&step["ins"]),
        writes: numbers(&step["outs"]),
        ..Step::default()
    });
    Problem { tensors: tensors.collect(), steps: steps.collect() }.in_order_of_data()
}

/// The first and last place of each tensor in an order; `None` where no step uses it.
fn places(problem: &Problem, order: &[usize]) -> Vec<Option<(usize, usize)>> {
    let place_of_use = |id: usize| {
        let uses = move |step: &usize| {
            problem.steps[*step].reads.contains(&id) || problem.steps[*step].writes.contains(&id)
        };
        let mut places = order.iter().enumerate().filter(move |(_, step)| uses(step)).map(|(place, _)| place);
        let first = places.next()?;
        Some((first, places.next_back().unwrap_or(first)))
    };
    (0..problem.tensors.len()).map(place_of_use).collect()
}

/// The peak of an order, straight from the definition.
fn peak(problem: &Problem, order: &[usize]) -> usize {
    let places = places(problem, order);
    let load = |(place, step): (usize, &usize)| {
        let step = &problem.steps[*step];
        let alive = problem.tensors.iter().zip(&places).filter(|(tensor, uses)| {
            uses.is_some_and(|(first, last)| {
                (tensor.input || first <= place) && (tensor.output || last >= place)
            })
        });
        let alive: usize = alive.map(|(tensor, _)| tensor.bytes).sum();
        let shares = step.shares.iter().filter(|share| {
            let dies = !problem.tensors[share.read].output
                && places[share.read].is_some_and(|(_, last)| last == place);
            let is_born = !problem.tensors[share.written].input
                && places[share.written].is_some_and(|(first, _)| first == place);
            let stated = step.reads.contains(&share.read) && step.writes.contains(&share.written);
            stated && share.read != share.written && dies && is_born
        });
        let most = |share: &Share| {
            share.bytes.min(problem.tensors[share.read].bytes).min(problem.tensors[share.written].bytes)
        };
        alive + step.scratch - shares.map(most).max().unwrap_or(0)
    };
    order.iter().enumerate().map(load).max().unwrap_or(0)
}

/// The least peak of all orders, by trying them.
fn least_peak(problem: &Problem, order: &mut Vec<usize>) -> usize {
    let steps = problem.steps.len();
    if order.len() == steps {
        return peak(problem, order);
    }
    let mut best = usize::MAX;
    for next in 0..steps {
        let waits = problem.steps[next].after.iter().any(|before| !order.contains(before));
        if !waits && !order.contains(&next) {
            order.push(next);
            best = best.min(least_peak(problem, order));
            order.pop();
        }
    }
    best
}

/// The order is one, has the stated peak, is no worse than the given one and not
/// below the bound; where it is as good, it is the given one.
fn is_consistent(problem: &Problem, found: &Schedule) {
    let given: Vec<usize> = (0..problem.steps.len()).collect();
    let mut sorted = found.order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, given);
    let mut place = vec![0; given.len()];
    found.order.iter().enumerate().for_each(|(at, step)| place[*step] = at);
    for (step, properties) in problem.steps.iter().enumerate() {
        assert!(properties.after.iter().all(|before| place[*before] < place[step]), "{:?}", found.order);
    }
    assert_eq!(found.peak, peak(problem, &found.order));
    assert!(found.lower_bound <= found.peak);
    let given_peak = peak(problem, &given);
    assert!(found.peak <= given_peak);
    assert!(found.peak < given_peak || found.order == given);
}

/// A step to come: what it reads of the tensors so far, the size of its result, whether
/// that is a part of the one before, scratch, bytes to share.
type Draft = (Vec<usize>, usize, bool, usize, usize);

fn drafts(most: usize) -> impl Strategy<Value = Vec<Draft>> {
    let reads = prop::collection::vec(0..1_000_usize, 0..=3);
    let draft = (reads, 0..20_usize, prop::bool::weighted(0.2), 0..3_usize, 0..20_usize);
    prop::collection::vec(draft, 0..=most)
}

/// A problem with two inputs; `outputs` has a bit for each tensor.
fn drafted(drafts: Vec<Draft>, outputs: u32) -> Problem {
    let input = |bytes| Tensor { bytes, input: true, output: false };
    let mut problem = Problem { tensors: vec![input(5), input(9)], steps: Vec::new() };
    for (reads, bytes, is_part, scratch, shared) in drafts {
        let tensors = problem.tensors.len();
        let written = if is_part { tensors - 1 } else { tensors };
        let mut reads: Vec<usize> = reads.iter().map(|read| read % tensors).collect();
        reads.dedup();
        if !is_part {
            let output = outputs >> (tensors % 32) & 1 == 1;
            problem.tensors.push(Tensor { bytes, input: false, output });
        }
        let shares = reads.iter().map(|&read| Share { read, written, bytes: shared + read }).collect();
        problem.steps.push(Step { reads, writes: vec![written], scratch, shares, after: Vec::new() });
    }
    problem.in_order_of_data()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn small_graphs_at_the_least_peak_of_all_orders(drafts in drafts(8), outputs: u32) {
        let problem = drafted(drafts, outputs & outputs >> 7);
        let found = schedule(&problem, &Limits::default()).unwrap();
        is_consistent(&problem, &found);
        prop_assert!(found.proved());
        prop_assert_eq!(found.peak, least_peak(&problem, &mut Vec::new()));
    }

    #[test]
    fn what_the_limit_cuts_off_is_still_an_order(drafts in drafts(40), outputs: u32, nodes in 0..20_000_u64) {
        let problem = drafted(drafts, outputs & outputs >> 7);
        let found = schedule(&problem, &Limits { nodes }).unwrap();
        is_consistent(&problem, &found);
        prop_assert_eq!(&found, &schedule(&problem, &Limits { nodes }).unwrap());
        let more = schedule(&problem, &Limits { nodes: 50_000 }).unwrap();
        prop_assert!(found.lower_bound <= more.peak && more.peak <= found.peak);
    }
}

/// A graph in which step `i` reads some of the `window` results before it, and one
/// step at the end reads all that nobody has read.
fn wide(steps: usize, window: usize, seed: u64) -> Problem {
    let mut state = seed;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let mut problem =
        Problem { tensors: vec![Tensor { bytes: 100, input: true, output: false }], steps: Vec::new() };
    for step in 0..steps {
        let reads = (0..1 + below(2)).map(|_| step - below(window.min(step + 1))).collect();
        problem.tensors.push(Tensor { bytes: 1 + below(1_000), ..Tensor::default() });
        problem.steps.push(Step { reads, writes: vec![step + 1], ..Step::default() });
    }
    let is_read = |id: &usize| problem.steps.iter().any(|step| step.reads.contains(id));
    let reads = (0..=steps).filter(|id| !is_read(id)).collect();
    problem.tensors.push(Tensor { bytes: 10, input: false, output: true });
    problem.steps.push(Step { reads, writes: vec![steps + 1], ..Step::default() });
    problem.in_order_of_data()
}

/// Chains from one input to one end, each growing and shrinking at random.
fn branches(branches: usize, length: usize) -> Problem {
    let mut problem =
        Problem { tensors: vec![Tensor { bytes: 100, input: true, output: false }], steps: Vec::new() };
    let mut ends = Vec::new();
    // Layer by layer: as bad an order as there is.
    let mut before = vec![0; branches];
    for layer in 0..length {
        for (branch, last) in before.iter_mut().enumerate() {
            problem
                .tensors
                .push(Tensor { bytes: 1 + (layer * 7_919 + branch * 104_729) % 997, ..Tensor::default() });
            let written = problem.tensors.len() - 1;
            problem.steps.push(Step { reads: vec![*last], writes: vec![written], ..Step::default() });
            *last = written;
        }
        ends.clone_from(&before);
    }
    problem.tensors.push(Tensor { bytes: 10, input: false, output: true });
    let written = problem.tensors.len() - 1;
    problem.steps.push(Step { reads: ends, writes: vec![written], ..Step::default() });
    problem.in_order_of_data()
}

/// The effort is bounded, whatever the graph. Prints figures; optimised, each takes
/// less than 0.3 s: `cargo test --release -p aot-build --test planner schedule -- --nocapture`.
#[test]
fn large_graphs_take_bounded_effort() {
    for (name, problem) in [
        ("chain of 1000", wide(1_000, 1, 1)),
        ("window 4", wide(300, 4, 2)),
        ("window 12", wide(300, 12, 3)),
        ("window 40", wide(300, 40, 4)),
        ("window 300", wide(300, 300, 5)),
        ("2 branches of 150", branches(2, 150)),
        ("12 branches of 25", branches(12, 25)),
        ("60 branches of 5", branches(60, 5)),
        ("300 branches of 1", branches(300, 1)),
        ("2000, window 100", wide(2_000, 100, 6)),
    ] {
        let given: Vec<usize> = (0..problem.steps.len()).collect();
        let start = Instant::now();
        let found = schedule(&problem, &Limits::default()).expect("a well-formed problem");
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name:20} {:8} -> {:8} bound {:8} {:9} nodes {seconds:.3} s",
            peak(&problem, &given),
            found.peak,
            found.lower_bound,
            found.nodes
        );
        is_consistent(&problem, &found);
        assert!(found.nodes <= Limits::default().nodes * 2, "{name}: {} nodes", found.nodes);
    }
}

#[test]
fn contradictions_are_found() {
    let step = |reads: &[usize], after: &[usize]| Step {
        reads: reads.into(),
        after: after.into(),
        ..Step::default()
    };
    let tensor = |bytes| Tensor { bytes, ..Tensor::default() };
    for (tensors, steps, expect) in [
        (vec![], vec![], Ok(0)),
        (vec![tensor(3)], vec![step(&[0], &[])], Ok(3)),
        (vec![tensor(3)], vec![step(&[1], &[])], Err(Fault::Tensor { step: 0 })),
        (vec![tensor(3)], vec![step(&[0], &[]), step(&[0], &[1])], Err(Fault::Order { step: 1 })),
        (vec![tensor(usize::MAX), tensor(1)], vec![step(&[0], &[])], Err(Fault::TooLarge)),
    ] {
        let found = schedule(&Problem { tensors, steps }, &Limits::default());
        assert_eq!(found.map(|found| found.peak), expect);
    }
}
