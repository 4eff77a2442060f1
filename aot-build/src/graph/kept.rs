//! Tensors that the caller wants to read after a run: found by the names that the model file
//! gives them, before any pass changes the graph.

use super::{Graph, TensorId};
use crate::error::{Location, Problem};
use crate::nearest::nearest;

impl Graph {
    /// Keeps the tensors with these names.
    ///
    /// # Errors
    ///
    /// A problem for each name that is not that of one tensor.
    pub(crate) fn keep(&mut self, names: &[String]) -> Result<(), Vec<Problem>> {
        let found = names.iter().enumerate().map(|(i, name)| {
            if names[..i].contains(name) {
                return Err(Problem::new(format!("`{name}` is named twice")));
            }
            self.named(name)
        });
        let (ids, problems): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
        if problems.is_empty() {
            self.kept = ids.into_iter().flatten().collect();
            return Ok(());
        }
        let key = || Location::Key("keep".into());
        Err(problems.into_iter().filter_map(Result::err).map(|problem| problem.at(key())).collect())
    }

    /// The one tensor with this name.
    fn named(&self, name: &str) -> Result<TensorId, Problem> {
        let mut ids = (0..self.tensors.len()).map(TensorId).filter(|id| self.tensor(*id).name == name);
        match (ids.next(), ids.next()) {
            (Some(id), None) => Ok(id),
            (Some(_), Some(_)) => Err(Problem::new(format!("several tensors have the name `{name}`"))),
            (None, _) if self.is_within_region(name) => Err(Problem::new(format!(
                "tensor `{name}` is within a branch or a loop, where nothing is kept"
            ))
            .help("name the result of the branch or loop")),
            (None, _) => Err(self.unknown(name)),
        }
    }

    fn is_within_region(&self, name: &str) -> bool {
        let regions = self.nodes.iter().flat_map(|node| node.op.regions());
        regions.into_iter().any(|region| {
            region.tensors.iter().any(|tensor| tensor.name == name) || region.is_within_region(name)
        })
    }

    fn unknown(&self, name: &str) -> Problem {
        let problem = Problem::new(format!("the model has no tensor `{name}`"));
        match nearest(name, self.tensors.iter().map(|tensor| tensor.name.as_str())) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{InputPlacement, Memory, Placement};
    use crate::eval::Evaluator;
    use crate::graph::sketch::{Sketch, f32_type, u8_type};
    use crate::graph::{Data, Graph, Shape};
    use crate::ops::{Activation, Add, Relu, Reshape};
    use crate::{Config, compile};

    /// `y = relu6(max(x + c, 0))`, and a node that nobody needs.
    fn chain() -> Graph {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 4]));
        let c = sketch.constant("c", f32_type([1, 4]), Data::from_f32s(&[1.0, -1.0, 2.0, 9.0]));
        let sum = sketch.node("sum", Add::default(), &[x, c]);
        let flat = sketch.node("flat", Reshape { shape: Shape::new([4]).unwrap() }, &[sum]);
        let row = sketch.node("row", Reshape { shape: Shape::new([1, 4]).unwrap() }, &[flat]);
        let positive = sketch.node("positive", Relu::default(), &[row]);
        let y = sketch.node("y", Relu { activation: Activation::Relu6 }, &[positive]);
        sketch.node("dead", Add::default(), &[x, x]);
        sketch.finish(&[y])
    }

    fn kept(names: &[&str], config: Config) -> Vec<Vec<f32>> {
        let config = Config { keep: names.iter().map(ToString::to_string).collect(), ..config };
        let compiled = compile(chain(), &config).unwrap();
        let mut evaluator = Evaluator::new(&compiled);
        let floats = |bytes: &[u8]| -> Vec<f32> {
            bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
        };
        let x: Vec<u8> = [1.0, -1.0, 0.5, 3.0_f32].iter().flat_map(|x| x.to_le_bytes()).collect();
        let outputs = evaluator.run(&[&x]).unwrap();
        assert_eq!(floats(&outputs[0]), [2.0, 0.0, 2.5, 6.0]);
        let ports = compiled.program.kept.iter().zip(names);
        ports
            .map(|(port, name)| {
                assert_eq!(port.name, *name);
                floats(evaluator.read(port.view))
            })
            .collect()
    }

    #[test]
    fn whatever_is_named_is_there_after_a_run() {
        let names = ["positive", "c", "sum", "x", "y", "flat", "row", "dead"];
        let sum = vec![2.0, -2.0, 2.5, 12.0];
        let expect = [
            vec![2.0, 0.0, 2.5, 12.0],
            vec![1.0, -1.0, 2.0, 9.0],
            sum.clone(),
            vec![1.0, -1.0, 0.5, 3.0],
            vec![2.0, 0.0, 2.5, 6.0],
            sum.clone(),
            sum,
            vec![2.0, -2.0, 1.0, 6.0],
        ];
        for inputs in [InputPlacement::Workspace, InputPlacement::Caller] {
            for outputs in [Placement::Workspace, Placement::Caller] {
                for memory in [Memory::Auto, Memory::Min] {
                    let config = || Config { inputs, outputs, memory, ..Config::default() };
                    assert_eq!(kept(&names, config()), expect);
                    for (name, expect) in names.iter().zip(&expect) {
                        assert_eq!(kept(&[name], config()), [expect.as_slice()], "{name} {:?}", config());
                    }
                }
            }
        }
    }

    /// uint8 is computed with as int8; what is kept is as the file says.
    #[test]
    fn the_type_is_that_of_the_file() {
        let graph = |outputs: usize| {
            let mut sketch = Sketch::new();
            let x = sketch.input("x", u8_type([1, 3], 0.5, 128));
            let c = sketch.constant("c", u8_type([1, 3], 0.5, 128), Data::from_bytes([130, 126, 255]));
            let t = sketch.typed("t", Add::default(), &[x, c], u8_type([1, 3], 0.5, 100));
            let y = sketch.typed("y", Relu::default(), &[t], u8_type([1, 3], 0.5, 100));
            sketch.finish(&[y, t, c][..outputs])
        };
        let x: &[u8] = &[128, 100, 140];
        let expect = Evaluator::new(&compile(graph(3), &Config::default()).unwrap()).run(&[x]).unwrap();
        // (q - 128) + (c - 128) + 100.
        assert_eq!(expect[1], [102, 70, 239]);
        let config = Config { keep: vec!["t".into(), "c".into()], ..Config::default() };
        let compiled = compile(graph(1), &config).unwrap();
        let mut evaluator = Evaluator::new(&compiled);
        assert_eq!(evaluator.run(&[x]).unwrap(), expect[..1]);
        let kept: Vec<_> = compiled.program.kept.iter().map(|port| evaluator.read(port.view)).collect();
        assert_eq!(kept, expect[1..]);
    }

    #[test]
    fn names_of_no_tensor() {
        for (names, expect) in [
            (
                &["positiv"][..],
                "key `keep`: the model has no tensor `positiv`\n  = help: did you mean `positive`?",
            ),
            (&["zzzzzzz"], "key `keep`: the model has no tensor `zzzzzzz`"),
            (&["y", "y"], "key `keep`: `y` is named twice"),
        ] {
            let keep = names.iter().map(ToString::to_string).collect();
            let problems = compile(chain(), &Config { keep, ..Config::default() }).unwrap_err();
            assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [expect]);
        }
    }
}
