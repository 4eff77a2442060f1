//! `aot bundle`: a crate that holds a model and all that it needs, to be handed on.
//!
//! ```text
//! DIR/Cargo.toml, README.md, metadata.json
//!     src/lib.rs, constants.bin        the generated code
//!     reference/in0.npy, out0.npy, …   what the evaluator makes of some inputs
//!     tests/reference.rs               compares the generated code with it, bit for bit
//!     aot-rt/                          the runtime, as this tool was built with it
//! ```

mod inputs;
mod texts;

use std::path::{Path, PathBuf};

use aot_build::codegen::{self, Generated, snake_case};
use aot_build::error::Problem;
use aot_build::report::Summary;
use aot_build::{Error, Model};
use serde::Serialize;

use crate::array::Array;
use crate::console::{Console, Failure, problem};
use crate::sets::{Files, evaluate};
use crate::settings::{Settings, write_file};

/// Writes a crate that holds a model and all that it needs: generated source, runtime,
/// metadata, and a test on reference inputs and outputs
///
/// The crate builds and tests itself without `aot-build`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Model file: .tflite or .json
    model: PathBuf,
    /// Folder to write the crate to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Inputs of the reference, as `aot run` takes them; drawn at random without this option
    #[arg(long, value_name = "FILE.npy", num_args = 1.., conflicts_with = "seed")]
    input: Vec<PathBuf>,
    /// Seed of the inputs that are drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write into a folder that is not empty, over the files there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Answer {
    folder: PathBuf,
    package: String,
    type_name: String,
    runs: usize,
    files: Vec<String>,
}

/// What a bundle is written from.
struct Bundle {
    summary: Summary,
    generated: Generated,
    /// How the runner's `run` is declared.
    run: String,
    /// Name of the package: `model-kws`.
    package: String,
    reference: Reference,
}

/// Inputs, and what the evaluator makes of them: one run, or several with one axis more in front.
struct Reference {
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    runs: usize,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let folder = &arguments.output;
    if !arguments.force && !is_empty(folder)? {
        let message = "the folder is not empty; `--force` writes over the files in it";
        return Err(problem(folder, message).into());
    }
    let model = arguments.settings.compile(&arguments.model)?;
    let bundle = Bundle::new(arguments, &model)?;
    let files = bundle.files();
    for (name, contents) in &files {
        write_file(&folder.join(name), contents)?;
    }
    let answer = Answer {
        folder: folder.clone(),
        package: bundle.package,
        type_name: bundle.generated.type_name,
        runs: bundle.reference.runs,
        files: files.into_iter().map(|(name, _)| name).collect(),
    };
    if arguments.json {
        console.json(&answer)?;
    } else {
        let Answer { package, type_name, files, .. } = &answer;
        let (folder, files) = (folder.display(), files.len());
        console.print(format_args!("{folder}: package {package}, type {type_name}, {files} files\n"))?;
    }
    Ok(())
}

/// Whether a folder holds nothing, or is not there.
fn is_empty(folder: &Path) -> Result<bool, Error> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(problem(folder, format!("the folder cannot be listed: {error}"))),
    }
}

impl Bundle {
    fn new(arguments: &Arguments, model: &Model) -> Result<Self, Vec<Error>> {
        let at = |problem| vec![Error::new(&arguments.model, vec![problem])];
        if let Some(device) = model.compiled.program.devices.first() {
            let message = format!(
                "the model has steps for the device `{}`; a bundle runs without devices",
                device.name
            );
            return Err(at(Problem::new(message).help("leave out the key `devices`")));
        }
        let generated = codegen::generate(model, &[]).map_err(at)?;
        let package = format!("model-{}", snake_case(&model.type_name).replace('_', "-"));
        let reference = Reference::new(arguments, model)?;
        let run = codegen::declaration_of_run(model).map_err(at)?;
        Ok(Self { summary: Summary::new(model), generated, run, package, reference })
    }

    /// All files: path in the bundle, and contents.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![
            ("Cargo.toml".to_owned(), self.manifest().into_bytes()),
            ("README.md".to_owned(), self.readme().into_bytes()),
            ("metadata.json".to_owned(), self.metadata().into_bytes()),
            ("src/lib.rs".to_owned(), self.library().into_bytes()),
            ("tests/reference.rs".to_owned(), self.test().into_bytes()),
        ];
        if !self.generated.constants.is_empty() {
            files.push(("src/constants.bin".to_owned(), self.generated.constants.clone()));
        }
        let Reference { inputs, outputs, .. } = &self.reference;
        for (name, arrays) in [("in", inputs), ("out", outputs)] {
            let arrays = arrays.iter().enumerate();
            files.extend(arrays.map(|(i, array)| (format!("reference/{name}{i}.npy"), array.to_npy())));
        }
        for (path, text) in aot_rt::SOURCE {
            let text = if *path == "Cargo.toml" { texts::runtime_manifest(text) } else { (*text).to_owned() };
            files.push((format!("aot-rt/{path}"), text.into_bytes()));
        }
        files
    }
}

impl Reference {
    fn new(arguments: &Arguments, model: &Model) -> Result<Self, Vec<Error>> {
        let compiled = &model.compiled;
        let inputs = match &arguments.input[..] {
            [] => inputs::draw(compiled, arguments.seed),
            files => Files::read(files)?,
        };
        let outputs = evaluate(&arguments.model, compiled, &inputs, &mut |_, _| ())?;
        let inputs = inputs.into_arrays();
        let first = inputs.iter().chain(&outputs).next();
        let port = compiled.program.inputs.iter().chain(&compiled.program.outputs).next();
        let runs = first.zip(port).and_then(|(array, port)| array.sequence_of(&port.ty));
        Ok(Self { inputs, outputs, runs: runs.unwrap_or(1) })
    }
}
