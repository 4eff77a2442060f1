//! A set of inputs, what a model makes of it, and what was expected.

use std::path::{Path, PathBuf};

use aot_build::eval::{Evaluator, Observer};
use aot_build::graph::Shape;
use aot_build::program::Port;
use aot_build::{Compiled, Error, Problem};

use crate::array::Array;
use crate::compare::{Difference, allowed};
use crate::console::problem;

/// Arrays and the files that they are from, in the order of the model's inputs or
/// outputs.
pub(crate) struct Files(Vec<(PathBuf, Array)>);

impl Files {
    /// Arrays that are in no file.
    pub(crate) fn of_arrays(arrays: Vec<Array>) -> Self {
        Self(arrays.into_iter().map(|array| (PathBuf::new(), array)).collect())
    }

    pub(crate) fn into_arrays(self) -> Vec<Array> {
        self.0.into_iter().map(|(_, array)| array).collect()
    }

    /// Reads all files, or says of each what is wrong with it.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, Vec<Error>> {
        let (arrays, errors) =
            split(paths.iter().map(|path| Array::read(path).map(|array| (path.clone(), array))));
        if errors.is_empty() { Ok(Self(arrays)) } else { Err(errors) }
    }

    /// Checks that there is one array for each of `ports`, and gives the number of steps:
    /// `None` where the arrays are the ports' own size, a number where each has that
    /// leading axis more.
    fn steps(&self, model: &Path, role: &str, ports: &[Port]) -> Result<Option<usize>, Vec<Error>> {
        let (files, expected) = (self.0.len(), ports.len());
        if files != expected {
            let message = format!("{files} files for {expected} {role}s of the model");
            let names: Vec<_> = ports.iter().map(|port| format!("`{}`: {}", port.name, port.ty)).collect();
            return Err(vec![Error::new(model, vec![Problem::new(message).items(names)])]);
        }
        let (steps, mut errors) = split(self.0.iter().zip(ports).map(|((path, array), port)| {
            let steps = array.sequence_of(&port.ty);
            if array.is(&port.ty) || steps.is_some() {
                return Ok((path, steps));
            }
            let Port { name, ty, .. } = port;
            let help =
                "the shape is the model's, or for a sequence of runs the model's with one more axis in front";
            let problem = Problem::new(format!("holds {array}, {role} `{name}` is {ty}")).help(help);
            Err(Error::new(path, vec![problem]))
        }));
        let first = steps.first().and_then(|(_, steps)| *steps);
        for (path, steps) in &steps {
            if *steps != first {
                let shown =
                    |steps: Option<usize>| steps.map_or("no sequence".into(), |n| format!("{n} steps"));
                let message = format!("holds {}, the first {role} {}", shown(*steps), shown(first));
                errors.push(problem(path, message));
            }
        }
        if errors.is_empty() { Ok(first) } else { Err(errors) }
    }
}

/// Runs a model on one set of inputs: once, or where each has one axis more in front,
/// once for each index of it. What the model keeps from run to run starts afresh with
/// each set.
pub(crate) fn evaluate(
    model: &Path,
    compiled: &Compiled,
    inputs: &Files,
    observer: &mut Observer<'_>,
) -> Result<Vec<Array>, Vec<Error>> {
    let program = &compiled.program;
    let steps = inputs.steps(model, "input", &program.inputs)?;
    let mut evaluator = Evaluator::new(compiled);
    let mut outputs = vec![Vec::new(); program.outputs.len()];
    for step in 0..steps.unwrap_or(1) {
        let arrays = inputs.0.iter().zip(&program.inputs);
        let arrays: Vec<_> = arrays.map(|((_, array), port)| array.of_run(step, &port.ty)).collect();
        let arrays: Vec<&[u8]> = arrays.iter().map(Vec::as_slice).collect();
        let results =
            evaluator.run_with(&arrays, observer).map_err(|message| vec![problem(model, message)])?;
        for (output, result) in outputs.iter_mut().zip(results) {
            output.push(result);
        }
    }
    let arrays = outputs.into_iter().zip(&program.outputs).map(|(runs, Port { name, ty, .. })| {
        let extents: Vec<usize> = steps.into_iter().chain(ty.shape.iter().copied()).collect();
        let shape = Shape::new(extents);
        let shape =
            shape.map_err(|message| problem(model, format!("output `{name}` of all steps: {message}")))?;
        Ok(Array::of_runs(&runs, ty, shape))
    });
    let (arrays, errors) = split(arrays);
    if errors.is_empty() { Ok(arrays) } else { Err(errors) }
}

/// For each output the largest difference that is accepted, from all sets' expected arrays.
pub(crate) fn allowances(compiled: &Compiled, expected: &[Files], tolerance: Option<f64>) -> Vec<f64> {
    let arrays = |i: usize| expected.iter().filter_map(move |files| Some(&files.0.get(i)?.1));
    (0..compiled.program.outputs.len()).map(|i| allowed(tolerance, arrays(i))).collect()
}

/// Compares the outputs of [`evaluate`] with what was expected.
pub(crate) fn compare(
    model: &Path,
    compiled: &Compiled,
    found: &[Array],
    expected: &Files,
    allowances: &[f64],
) -> Result<Vec<Difference>, Vec<Error>> {
    expected.steps(model, "output", &compiled.program.outputs)?;
    let pairs = found.iter().zip(&expected.0).zip(allowances);
    let (differences, errors) = split(pairs.map(|((found, (path, expected)), allowed)| {
        if found.shape != expected.shape {
            return Err(problem(path, format!("holds {expected}, the inputs make {found}")));
        }
        Ok(Difference::between(found, expected, *allowed))
    }));
    if errors.is_empty() { Ok(differences) } else { Err(errors) }
}

/// The good ones, and the errors.
fn split<T>(results: impl Iterator<Item = Result<T, Error>>) -> (Vec<T>, Vec<Error>) {
    let (mut good, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(error) => errors.push(error),
        }
    }
    (good, errors)
}
