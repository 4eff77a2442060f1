//! Runs a model, and keeps what it and its steps give.

use std::hash::{DefaultHasher, Hash, Hasher};

use aot_rt::{Elements, Instrument, IoError, Model, StepInfo, TensorInfo};

use crate::Aligned;

/// What some runs gave.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Each step that ran, or a row of it: its name, and a hash of what it wrote.
    steps: Vec<(&'static str, u64)>,
    /// The outputs of each run.
    pub(crate) outputs: Vec<Vec<Vec<u8>>>,
}

impl Instrument for Trace {
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        let mut hasher = DefaultHasher::new();
        for elements in outputs {
            hash(*elements, &mut hasher);
        }
        self.steps.push((step.name, hasher.finish()));
    }
}

fn hash(elements: Elements<'_>, hasher: &mut DefaultHasher) {
    match elements {
        Elements::I8(x) => x.hash(hasher),
        Elements::U8(x) | Elements::Bool(x) => x.hash(hasher),
        Elements::I16(x) => x.hash(hasher),
        Elements::I32(x) => x.hash(hasher),
        Elements::U32(x) => x.hash(hasher),
        Elements::I64(x) => x.hash(hasher),
        Elements::U64(x) => x.hash(hasher),
        Elements::F16(x) => x.iter().for_each(|x| x.to_bits().hash(hasher)),
        Elements::BF16(x) => x.iter().for_each(|x| x.to_bits().hash(hasher)),
        Elements::F32(x) => x.iter().for_each(|x| x.to_bits().hash(hasher)),
    }
}

/// What runs and their steps give.
pub(crate) fn observed<M: Model>(runner: &mut M, inputs: &[Vec<Vec<u8>>]) -> Trace {
    let mut trace = Trace::default();
    let outputs = outputs(runner, inputs, &mut trace);
    trace.outputs = outputs;
    assert!(!trace.steps.is_empty(), "{}: no step", M::NAME);
    trace
}

/// What runs give, observed by `instrument`.
pub(crate) fn outputs<M: Model>(
    runner: &mut M,
    inputs: &[Vec<Vec<u8>>],
    instrument: &mut impl Instrument,
) -> Vec<Vec<Vec<u8>>> {
    by(runner, inputs, |runner, inputs, outputs| runner.run_bytes_with(instrument, inputs, outputs))
}

/// What runs give that `run` does.
pub(crate) fn by<M: Model>(
    runner: &mut M,
    inputs: &[Vec<Vec<u8>>],
    mut run: impl FnMut(&mut M, &[&[u8]], &mut [&mut [u8]]) -> Result<(), IoError>,
) -> Vec<Vec<Vec<u8>>> {
    let mut run = |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| run(runner, inputs, outputs);
    inputs.iter().map(|inputs| with_arrays::<M>(inputs, &mut run)).collect()
}

/// Gives a run aligned arrays, and its outputs back.
fn with_arrays<M: Model>(
    inputs: &[Vec<u8>],
    run: impl FnOnce(&[&[u8]], &mut [&mut [u8]]) -> Result<(), IoError>,
) -> Vec<Vec<u8>> {
    let mut inputs: Vec<_> = inputs.iter().map(|input| Aligned::new(input)).collect();
    let inputs: Vec<&[u8]> = inputs.iter_mut().map(|input| &*input.bytes()).collect();
    let lens = M::OUTPUTS.iter().map(TensorInfo::bytes);
    let mut outputs: Vec<_> = lens.map(|len| Aligned::new(&vec![0; len])).collect();
    let mut outputs: Vec<_> = outputs.iter_mut().map(Aligned::bytes).collect();
    run(&inputs, &mut outputs).expect("the arrays are as described");
    outputs.iter().map(|output| output.to_vec()).collect()
}
