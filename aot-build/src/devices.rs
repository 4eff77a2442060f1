//! Which node runs on which device: [`Device`](crate::config::Device) says by what rule.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};

use crate::config::{Candidate, Config, Device};
use crate::error::{Location, Problem};
use crate::graph::{Graph, Node};
use crate::nearest::nearest;
use crate::ops::{ArgFunction, BinaryFunction, Op, ReduceFunction, Relation, UnaryFunction};
use crate::program::CPU;

/// What runs the nodes of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// For each node, the position of its device; `None` for the CPU.
    pub(crate) devices: Vec<Option<usize>>,
    /// Nodes that are one call of their device, each on the result of the one before.
    pub(crate) chains: Vec<Vec<usize>>,
}

impl Assignment {
    /// Assigns the nodes of a graph, not those of its regions.
    pub(crate) fn of(graph: &Graph, devices: &[Device]) -> Self {
        let mut assignment = Self { devices: vec![None; graph.nodes.len()], chains: Vec::new() };
        if devices.is_empty() {
            return assignment;
        }
        for (i, node) in graph.nodes.iter().enumerate().filter(|(_, node)| !is_control(node)) {
            let candidate = Candidate::new(graph, node);
            let named = devices.iter().position(|device| device.nodes.contains(&node.name));
            let takes = |device: &Device| device.rule.as_ref().is_some_and(|rule| rule.takes(&candidate));
            assignment.devices[i] = named.or_else(|| devices.iter().position(takes));
        }
        assignment.add_chains(graph, devices);
        for (i, node) in graph.nodes.iter().enumerate().filter(|(_, node)| !is_control(node)) {
            let has = |device: &Device| device.operators.iter().any(|label| is_called(node, label));
            assignment.devices[i] = assignment.devices[i].or_else(|| devices.iter().position(has));
        }
        assignment
    }

    fn add_chains(&mut self, graph: &Graph, devices: &[Device]) {
        let mut taken = vec![false; graph.nodes.len()];
        for (device, pattern) in patterns(devices) {
            for first in 0..graph.nodes.len() {
                let Some(chain) = chain(graph, first, pattern) else { continue };
                let free = |&i: &usize| !taken[i] && self.devices[i].is_none_or(|known| known == device);
                if !chain.iter().all(free) {
                    continue;
                }
                for &i in &chain {
                    taken[i] = true;
                    self.devices[i] = Some(device);
                }
                self.chains.push(chain);
            }
        }
    }
}

/// All patterns with their devices, long ones first.
fn patterns(devices: &[Device]) -> Vec<(usize, &[String])> {
    let devices = devices.iter().enumerate();
    let mut patterns: Vec<_> = devices
        .flat_map(|(i, device)| device.patterns.iter().map(move |pattern| (i, &pattern[..])))
        .collect();
    patterns.sort_by_key(|(_, pattern)| std::cmp::Reverse(pattern.len()));
    patterns
}

/// The nodes from `first` on that a pattern describes: each has one result, which is the first
/// operand of the next and of nothing else.
fn chain(graph: &Graph, first: usize, pattern: &[String]) -> Option<Vec<usize>> {
    let mut chain = Vec::new();
    let mut next = first;
    for label in pattern {
        if let Some(&before) = chain.last() {
            next = only_reader(graph, before)?;
        }
        let node = &graph.nodes[next];
        if is_control(node) || !is_called(node, label) {
            return None;
        }
        chain.push(next);
    }
    Some(chain)
}

fn only_reader(graph: &Graph, node: usize) -> Option<usize> {
    let &[y] = &graph.nodes[node].outputs[..] else { return None };
    if graph.results().any(|id| id == y) {
        return None;
    }
    let reads = |node: &Node| node.inputs.iter().filter(|id| **id == Some(y)).count();
    let mut readers = graph.nodes.iter().enumerate().filter(|(_, node)| reads(node) > 0);
    let (reader, node) = readers.next()?;
    let only = readers.next().is_none() && reads(node) == 1 && node.inputs.first() == Some(&Some(y));
    only.then_some(reader)
}

fn is_control(node: &Node) -> bool {
    !node.op.regions().is_empty()
}

fn is_called(node: &Node, label: &str) -> bool {
    label == "*" || node.op.label() == label || node.op.name() == label
}

/// What the names in the configuration of devices miss: `before` are those
/// before the passes, `graph` is what they left.
pub(crate) fn check(before: &Names, graph: &Graph, config: &Config) -> Vec<Problem> {
    let devices = &config.devices[..];
    let after = &Names::of(graph);
    let mut problems = unreached(config);
    for (i, device) in devices.iter().enumerate() {
        let others = &devices[..i];
        let at = |key: &str| Location::Key(format!("devices.{}.{key}", device.name));
        let name = &device.name;
        for node in &device.nodes {
            if let Some(other) = others.iter().find(|other| other.nodes.contains(node)) {
                let message = format!("node `{node}` is given to device `{name}` and to `{}`", other.name);
                problems.push(Problem::new(message).at(at("nodes")));
            }
            problems.extend(check_node(node, before, after).map(|problem| problem.at(at("nodes"))));
        }
        for label in &device.operators {
            if let Some(other) = others.iter().find(|other| other.operators.contains(label)) {
                let message = format!("`{label}` is given to device `{name}` and to `{}`", other.name);
                problems.push(Problem::new(message).at(at("operators")));
            }
            problems.extend(check_label(label, before).map(|problem| problem.at(at("operators"))));
        }
        for pattern in &device.patterns {
            let unknown: Vec<_> = pattern.iter().filter_map(|label| check_label(label, before)).collect();
            let unmatched = unknown.is_empty() && !is_matched(graph, pattern);
            let unmatched = unmatched.then(|| no_match(pattern));
            problems.extend(unknown.into_iter().chain(unmatched).map(|problem| problem.at(at("patterns"))));
        }
    }
    problems
}

/// Pools that the processor does not reach, while there are devices: their operands would have to be
/// copied.
fn unreached(config: &Config) -> Vec<Problem> {
    let pools = config.pools.iter().filter(|(_, pool)| !pool.is_reached_by(CPU));
    let problem = |name: &String| {
        let message = format!("pool `{name}`: devices in memory that `cpu` does not reach are not supported");
        Problem::new(message).at(Location::Key(format!("pools.{name}.reach"))).help(
            "kernels of devices are given slices, and the CPU copies between pools: let it reach this one, \
             or let the driver copy to such memory",
        )
    };
    let problems = pools.map(|(name, _)| problem(name));
    if config.devices.is_empty() { Vec::new() } else { problems.collect() }
}

fn is_matched(graph: &Graph, pattern: &[String]) -> bool {
    let regions = graph.nodes.iter().flat_map(|node| node.op.regions());
    (0..graph.nodes.len()).any(|first| chain(graph, first, pattern).is_some())
        || regions.into_iter().any(|region| is_matched(region, pattern))
}

fn no_match(pattern: &[String]) -> Problem {
    let message = format!("the model has no chain of `{}`", pattern.join("`, `"));
    Problem::new(message).help(
        "each node must be the only one to read the result of the one before, as its first operand; \
         activations that a layer can apply itself are part of it",
    )
}

/// The names of a graph's nodes and operators, those of its regions included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    nodes: BTreeSet<String>,
    /// Nodes that hold others.
    control: BTreeSet<String>,
    labels: BTreeSet<&'static str>,
}

impl Names {
    pub(crate) fn of(graph: &Graph) -> Self {
        let mut names = Self::default();
        names.add(graph);
        names
    }

    fn add(&mut self, graph: &Graph) {
        for node in &graph.nodes {
            let names = if is_control(node) { &mut self.control } else { &mut self.nodes };
            names.insert(node.name.clone());
            self.labels.insert(node.op.label());
            node.op.regions().iter().for_each(|region| self.add(region));
        }
    }
}

fn check_node(name: &str, before: &Names, after: &Names) -> Option<Problem> {
    if after.nodes.contains(name) {
        return None;
    }
    if after.control.contains(name) {
        let problem = Problem::new(format!("node `{name}` decides which others run: no device can run it"));
        return Some(problem.help("name the nodes within it"));
    }
    if before.nodes.contains(name) || before.control.contains(name) {
        let problem = Problem::new(format!("nothing is left of node `{name}` for a device to run"));
        return Some(problem.help("it was computed beforehand, left out, or made part of another node"));
    }
    let problem = Problem::new(format!("the model has no node `{name}`"));
    Some(match nearest(name, before.nodes.iter().map(String::as_str)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    })
}

fn check_label(label: &str, names: &Names) -> Option<Problem> {
    if label == "*" || names.labels.contains(label) || is_label(label) {
        return None;
    }
    let problem = Problem::new(format!("there is no operator `{label}`"));
    let known = names.labels.iter().chain(Op::NAMES).copied();
    let list = names.labels.iter().copied().collect::<Vec<_>>().join("`, `");
    Some(match nearest(label, known) {
        Some(near) => problem.help(format!("did you mean `{near}`? the model has `{list}`")),
        None => problem.help(format!("the model has `{list}`")),
    })
}

/// Whether some operator is called `label`, in whatever model.
fn is_label(label: &str) -> bool {
    fn is<'l, T: Deserialize<'l>>(label: &'l str) -> bool {
        let text: StrDeserializer<'l, ValueError> = label.into_deserializer();
        T::deserialize(text).is_ok()
    }
    Op::NAMES.contains(&label)
        || is::<BinaryFunction>(label)
        || is::<UnaryFunction>(label)
        || is::<Relation>(label)
        || label.strip_prefix("arg_").is_some_and(is::<ArgFunction>)
        || label.strip_prefix("reduce_").is_some_and(is::<ReduceFunction>)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;
    use crate::config::Rule;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{Add, FullyConnected, Softmax};

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    /// `a`, `b` are layers; `sum` adds what they give, `y` makes probabilities of it.
    fn graph() -> Graph {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 2]));
        let w = sketch.constant("w", f32_type([2, 2]), Data::from_f32s(&[1.0, 2.0, 3.0, 4.0]));
        let a = sketch.node("a", FullyConnected::default(), &[x, w]);
        let b = sketch.node("b", FullyConnected::default(), &[a, w]);
        let sum = sketch.node("sum", Add::default(), &[b, x]);
        let y = sketch.node("y", Softmax::default(), &[sum]);
        sketch.finish(&[y])
    }

    fn device(name: &str) -> Device {
        Device { name: name.into(), ..Device::default() }
    }

    #[test]
    fn names_before_rules_before_patterns_before_operators() {
        let operators = Device { operators: names(&["*"]), ..device("operators") };
        let patterns = Device {
            patterns: vec![names(&["add", "softmax"]), names(&["fully_connected", "add", "softmax"])],
            ..device("patterns")
        };
        let rule = Rule::new(|node| node.operator() == "fully_connected" && node.name() == "b");
        let rule = Device { rule: Some(rule), ..device("rule") };
        let nodes = Device { nodes: names(&["a"]), ..device("nodes") };
        for (devices, expect, chains) in [
            (vec![], [None; 4], vec![]),
            (vec![operators.clone()], [Some(0); 4], vec![]),
            (
                vec![operators.clone(), patterns.clone()],
                [Some(0), Some(1), Some(1), Some(1)],
                vec![vec![1, 2, 3]],
            ),
            (
                vec![operators.clone(), patterns.clone(), rule.clone()],
                [Some(0), Some(2), Some(1), Some(1)],
                vec![vec![2, 3]],
            ),
            (vec![operators, patterns, rule, nodes], [Some(3), Some(2), Some(1), Some(1)], vec![vec![2, 3]]),
        ] {
            let assignment = Assignment::of(&graph(), &devices);
            assert_eq!((assignment.devices, assignment.chains), (expect.to_vec(), chains));
        }
    }

    #[test]
    fn a_tensor_that_others_need_is_no_chain() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 2]));
        let sum = sketch.node("sum", Add::default(), &[x, x]);
        let y = sketch.node("y", Softmax::default(), &[sum]);
        let pattern = names(&["add", "softmax"]);
        assert!(chain(&sketch.finish(&[y]), 0, &pattern).is_some());
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 2]));
        let sum = sketch.node("sum", Add::default(), &[x, x]);
        let y = sketch.node("y", Softmax::default(), &[sum]);
        assert!(chain(&sketch.finish(&[y, sum]), 0, &pattern).is_none());
    }

    #[test]
    fn what_is_misspelt_or_missing_is_named() {
        let cases = [
            (
                Device { nodes: names(&["summ"]), ..device("npu") },
                "key `devices.npu.nodes`: the model has no node `summ`\n  = help: did you mean `sum`?",
            ),
            (
                Device { operators: names(&["fully_conected"]), ..device("npu") },
                "key `devices.npu.operators`: there is no operator `fully_conected`\n  \
                 = help: did you mean `fully_connected`? the model has `add`, `fully_connected`, `softmax`",
            ),
            (
                Device { patterns: vec![names(&["softmax", "add"])], ..device("npu") },
                "key `devices.npu.patterns`: the model has no chain of `softmax`, `add`\n  \
                 = help: each node must be the only one to read the result of the one before, as its first \
                 operand; activations that a layer can apply itself are part of it",
            ),
        ];
        for (device, expect) in cases {
            let config = Config { devices: vec![device], ..Config::default() };
            let problems = compile(graph(), &config).unwrap_err();
            assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [expect]);
        }
        // Other models may have these.
        let unused =
            Device { operators: names(&["conv2d", "sub", "arg_max", "reduce_sum"]), ..device("npu") };
        let config = Config { devices: vec![unused], ..Config::default() };
        assert!(compile(graph(), &config).unwrap().program.called_devices().is_empty());
    }

    #[test]
    fn nobody_can_serve_two() {
        let [a, b] = ["a", "b"].map(|name| Device {
            nodes: names(&["sum"]),
            operators: names(&["softmax"]),
            ..device(name)
        });
        let config = Config { devices: vec![a, b], ..Config::default() };
        let problems: Vec<_> =
            compile(graph(), &config).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "key `devices.b.nodes`: node `sum` is given to device `b` and to `a`",
                "key `devices.b.operators`: `softmax` is given to device `b` and to `a`"
            ]
        );
    }
}
