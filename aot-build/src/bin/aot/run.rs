//! `aot run`: a model on arrays, through the evaluator; whole folders of cases.

use std::path::{Path, PathBuf};

use aot_build::Error;
use aot_build::report::{ErrorReport, label};
use serde::Serialize;

use crate::array::{Array, Elements};
use crate::case::{Case, Set, folders};
use crate::compare::Difference;
use crate::console::{Console, Failure};
use crate::sets::{Files, allowances, compare, evaluate};
use crate::settings::Settings;
use crate::trace::{self, Trace, TracedStep};

/// Values of an output that are shown.
const SHOWN: usize = 16;

/// Runs a model on arrays, and compares what it gives with what is expected
///
/// Arrays are .npy files, in the order of the model's inputs and outputs. Arrays with one
/// axis more in front hold a sequence: the model runs once for each index of it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Model file: .tflite or .json
    #[arg(required_unless_present = "case", requires = "input")]
    model: Option<PathBuf>,
    /// Inputs
    #[arg(long, value_name = "FILE.npy", num_args = 1..)]
    input: Vec<PathBuf>,
    /// Folder to write the outputs to, as out0.npy, out1.npy, …
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Expected outputs
    #[arg(long, value_name = "FILE.npy", num_args = 1..)]
    expect: Vec<PathBuf>,
    /// Largest difference that is accepted: units for integers (0 without this option),
    /// for floating-point numbers a fraction of the largest expected magnitude of the
    /// output, over all sets of a case (1e-5)
    #[arg(long, value_name = "T", value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Folders with meta.json, s0/in0.npy, s0/out0.npy, …, or folders of such folders:
    /// checks every set
    #[arg(long, value_name = "FOLDER", num_args = 1.., conflicts_with_all = ["model", "input", "output", "expect"])]
    case: Vec<PathBuf>,
    /// Print a checksum of what each step wrote, as `aot_rt::Checksums` has it on a target
    #[arg(long, conflicts_with = "case")]
    trace: bool,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|tolerance: &f64| *tolerance >= 0.0);
    tolerance.ok_or_else(|| "expected a number that is not negative".to_owned())
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    match &arguments.model {
        Some(model) => run_model(arguments, model, console),
        None => run_cases(arguments, console),
    }
}

#[derive(Serialize)]
struct Answer {
    outputs: Vec<Output>,
    accepted: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trace: Vec<TracedStep>,
}

#[derive(Serialize)]
struct Output {
    name: String,
    dtype: &'static str,
    shape: Vec<usize>,
    values: Values,
    difference: Option<Difference>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Values {
    Integers(Vec<i128>),
    Floats(Vec<f32>),
}

fn run_model(arguments: &Arguments, model: &Path, console: &mut Console) -> Result<(), Failure> {
    let compiled = arguments.settings.compile(model)?.compiled;
    let inputs = Files::read(&arguments.input)?;
    let mut trace = Trace::default();
    let results = evaluate(model, &compiled, &inputs, &mut |step, written| {
        if arguments.trace {
            trace.observe(step, written);
        }
    })?;
    if let Some(folder) = &arguments.output {
        for (i, result) in results.iter().enumerate() {
            result.write(&folder.join(format!("out{i}.npy")))?;
        }
    }
    let differences = if arguments.expect.is_empty() {
        vec![None; results.len()]
    } else {
        let expected = [Files::read(&arguments.expect)?];
        let allowances = allowances(&compiled, &expected, arguments.tolerance);
        let [expected] = &expected;
        let differences = compare(model, &compiled, &results, expected, &allowances)?;
        differences.into_iter().map(Some).collect()
    };
    let ports = compiled.program.outputs.iter();
    let outputs = ports.zip(&results).zip(differences).map(|((port, result), difference)| Output {
        name: port.name.clone(),
        dtype: result.dtype.name(),
        shape: result.shape.to_vec(),
        values: Values::of(result),
        difference,
    });
    let outputs: Vec<_> = outputs.collect();
    let accepted =
        outputs.iter().filter_map(|output| output.difference.as_ref()).all(Difference::is_accepted);
    let answer = Answer { outputs, accepted, trace: trace.into_steps() };
    if arguments.json {
        console.json(&answer)?
    } else {
        answer.print(console)?
    }
    if accepted { Ok(()) } else { Err(Failure::Verdict) }
}

impl Answer {
    fn print(&self, console: &mut Console) -> std::io::Result<()> {
        for Output { name, dtype, shape, values, difference } in &self.outputs {
            match difference {
                Some(difference) => console
                    .verdict(difference.is_accepted(), format_args!("{}: {difference}", label(name)))?,
                None => {
                    console.print(format_args!("{}, {dtype} {shape:?}: {}\n", label(name), values.show()))?
                }
            }
        }
        trace::print(&self.trace, console)
    }
}

impl Values {
    fn of(array: &Array) -> Self {
        match array.elements() {
            Elements::Integers(values) => Self::Integers(values.collect()),
            Elements::Floats(values) => Self::Floats(values.collect()),
        }
    }

    /// The first ones.
    fn show(&self) -> String {
        let (shown, all): (Vec<_>, _) = match self {
            Self::Integers(values) => {
                (values.iter().take(SHOWN).map(i128::to_string).collect(), values.len())
            }
            Self::Floats(values) => {
                (values.iter().take(SHOWN).map(|value| format!("{value:?}")).collect(), values.len())
            }
        };
        let rest = if all > SHOWN { ", …" } else { "" };
        format!("{}{rest}", shown.join(", "))
    }
}

#[derive(Serialize)]
struct CasesAnswer {
    cases: Vec<CaseAnswer>,
    accepted: bool,
}

#[derive(Serialize)]
struct CaseAnswer {
    case: PathBuf,
    accepted: bool,
    sets: Vec<SetAnswer>,
    /// Why it could not be run, or not to the end.
    #[serde(serialize_with = "reports")]
    errors: Vec<Error>,
}

#[derive(Serialize)]
struct SetAnswer {
    set: String,
    accepted: bool,
    outputs: Vec<SetOutput>,
}

#[derive(Serialize)]
struct SetOutput {
    name: String,
    difference: Difference,
}

fn reports<S: serde::Serializer>(errors: &[Error], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(ErrorReport::new))
}

fn run_cases(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let mut cases = Vec::new();
    for case in arguments.case.iter().flat_map(|path| folders(path)) {
        let mut answer = CaseAnswer { case, accepted: true, sets: Vec::new(), errors: Vec::new() };
        match run_case(arguments, &mut answer, console) {
            Err(Failure::Problems(errors)) => {
                errors.iter().for_each(|error| console.problems(error));
                answer.errors = errors;
            }
            result => result?,
        }
        answer.accepted = answer.errors.is_empty() && answer.sets.iter().all(|set| set.accepted);
        cases.push(answer);
    }
    let answer = CasesAnswer { accepted: cases.iter().all(|case| case.accepted), cases };
    if arguments.json {
        console.json(&answer)?
    } else {
        answer.print(console)?
    }
    if answer.accepted { Ok(()) } else { Err(Failure::Verdict) }
}

/// Runs every set, and says how it went as soon as it is known.
fn run_case(arguments: &Arguments, answer: &mut CaseAnswer, console: &mut Console) -> Result<(), Failure> {
    let Case { model, sets } = Case::find(&answer.case)?;
    let compiled = arguments.settings.compile(&model)?.compiled;
    let expected = sets.iter().map(|set| Files::read(&set.expected)).collect::<Result<Vec<_>, _>>()?;
    let allowances = allowances(&compiled, &expected, arguments.tolerance);
    for (Set { name, inputs, .. }, expected) in sets.into_iter().zip(&expected) {
        let results = evaluate(&model, &compiled, &Files::read(&inputs)?, &mut |_, _| ())?;
        let differences = compare(&model, &compiled, &results, expected, &allowances)?;
        let ports = compiled.program.outputs.iter();
        let outputs = ports
            .zip(differences)
            .map(|(port, difference)| SetOutput { name: port.name.clone(), difference });
        let outputs: Vec<_> = outputs.collect();
        let accepted = outputs.iter().all(|output| output.difference.is_accepted());
        if !arguments.json {
            let shown: Vec<_> = outputs
                .iter()
                .map(|SetOutput { name, difference }| format!("{}: {difference}", label(name)))
                .collect();
            let set = answer.case.join(&name);
            console.verdict(accepted, format_args!("{}: {}", set.display(), shown.join("; ")))?;
        }
        answer.sets.push(SetAnswer { set: name, accepted, outputs });
    }
    Ok(())
}

impl CasesAnswer {
    fn print(&self, console: &mut Console) -> std::io::Result<()> {
        let sets = || self.cases.iter().flat_map(|case| &case.sets);
        let beyond = sets().filter(|set| !set.accepted).count();
        let broken = self.cases.iter().filter(|case| !case.errors.is_empty()).count();
        let text = format!(
            "cases: {}, sets: {}, beyond the tolerance: {beyond}, cases not run to the end: {broken}",
            self.cases.len(),
            sets().count()
        );
        console.verdict(self.accepted, text)
    }
}
