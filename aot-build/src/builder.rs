//! For build scripts: from a model file to Rust in `OUT_DIR`.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::codegen::{self, snake_case};
use crate::config::{Calls, Candidate, InputPlacement, Memory, Optimize, Placement, Pool, Rounding, Rule};
use crate::error::{Error, Problem};
use crate::plan::Planner;
use crate::report::{MemoryReport, memory_html};
use crate::{Config, Model, Models, compile_file};

/// Compiles a model in a build script.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), aot_build::Error> {
///     aot_build::Builder::new("models/kws.tflite").ram_limit(32_768).compile()?;
///     Ok(())
/// }
/// ```
///
/// The crate then includes it with `aot_rt::include_model!("kws")`.
///
/// Configuration comes from an `aot.toml` beside `Cargo.toml`, if there is one, and
/// from the methods here, which override it. Cargo can only watch a file that exists:
/// touch `build.rs` after adding an `aot.toml`, or name it with [`config`](Self::config).
#[must_use = "nothing is written before `compile`"]
pub struct Builder {
    path: PathBuf,
    config_file: Option<PathBuf>,
    out_dir: Option<PathBuf>,
    visibility: String,
    attributes: Vec<String>,
    memory_map: bool,
    /// What the methods here change in the configuration read.
    changes: Vec<Change>,
}

type Change = Box<dyn Fn(&mut Config)>;

/// What [`Builder::compile`] made.
#[derive(Clone, Debug)]
pub struct Built {
    /// The model: sizes, steps, plan, and the files it was made from.
    pub model: Model,
    /// The Rust file.
    pub rust: PathBuf,
    /// The constants, unless there are none.
    pub constants: Option<PathBuf>,
    /// The memory map, where it was asked for.
    pub memory_map: Option<PathBuf>,
}

impl Builder {
    /// The model file at `path`, relative to the folder of `Cargo.toml`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            config_file: None,
            out_dir: None,
            visibility: "pub".into(),
            attributes: Vec::new(),
            memory_map: false,
            changes: Vec::new(),
        }
    }

    /// Name of the type, and in `snake_case` of the files: `KeywordSpotter` is
    /// included as `keyword_spotter`. Without it, both are named after the model file.
    pub fn name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.change(move |config| config.name = Some(name.clone()))
    }

    /// What the code is optimised for.
    pub fn optimize(self, optimize: Optimize) -> Self {
        self.change(move |config| config.optimize = optimize)
    }

    /// How steps call their kernels.
    pub fn calls(self, calls: Calls) -> Self {
        self.change(move |config| config.calls = calls)
    }

    /// How often the integer arithmetic rounds.
    pub fn rounding(self, rounding: Rounding) -> Self {
        self.change(move |config| config.rounding = rounding)
    }

    /// Where the inputs are.
    pub fn inputs(self, placement: InputPlacement) -> Self {
        self.change(move |config| config.inputs = placement)
    }

    /// Where the outputs are.
    pub fn outputs(self, placement: Placement) -> Self {
        self.change(move |config| config.outputs = placement)
    }

    /// How much time may be given for less RAM.
    pub fn memory(self, memory: Memory) -> Self {
        self.change(move |config| config.memory = memory)
    }

    /// How places in the workspace are chosen.
    pub fn planner(self, planner: Planner) -> Self {
        self.change(move |config| config.planner = planner)
    }

    /// Tensors, by their names in the model file, that can be read after a run.
    pub fn keep<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.change(move |config| config.keep.clone_from(&names))
    }

    /// Most bytes of RAM that the workspace may take.
    pub fn ram_limit(self, bytes: usize) -> Self {
        self.change(move |config| config.ram_limit = Some(bytes))
    }

    /// Most bytes of flash that the constants may take.
    pub fn flash_limit(self, bytes: usize) -> Self {
        self.change(move |config| config.flash_limit = Some(bytes))
    }

    /// A pool of memory: of activations or of constants. What the configuration says of a pool of
    /// this name is replaced.
    pub fn pool(self, name: impl Into<String>, pool: Pool) -> Self {
        let name = name.into();
        self.change(move |config| drop(config.pools.insert(name.clone(), pool.clone())))
    }

    /// Most multiply-accumulates of a step of a run that goes step by step: larger steps are
    /// divided.
    pub fn max_step_macs(self, macs: NonZeroU64) -> Self {
        self.change(move |config| config.max_step_macs = Some(macs))
    }

    /// The first extent of inputs for which the file leaves it open.
    pub fn batch(self, batch: NonZeroUsize) -> Self {
        self.change(move |config| config.batch = Some(batch))
    }

    /// The shapes of all inputs, where the file leaves extents open.
    pub fn shapes(self, shapes: impl IntoIterator<Item = Vec<usize>>) -> Self {
        let shapes: Vec<_> = shapes.into_iter().collect();
        self.change(move |config| config.shapes.clone_from(&shapes))
    }

    /// The signature to compile: a subgraph of the file, with its inputs and outputs.
    pub fn signature(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.change(move |config| config.signature = Some(name.clone()))
    }

    /// The subgraph to compile, where no signature leads to it.
    pub fn subgraph(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.change(move |config| config.subgraph = Some(name.clone()))
    }

    /// A device called `name` that runs the nodes for which `takes` is true, as the passes
    /// left them. The configuration may say more of it, under `[devices.NAME]`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), aot_build::Error> {
    /// aot_build::Builder::new("models/kws.tflite")
    ///     .device("npu", |node| node.operator() == "conv2d" && node.name() != "first")
    ///     .compile()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn device(
        self,
        name: impl Into<String>,
        takes: impl Fn(&Candidate<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (name, rule) = (name.into(), Rule::new(takes));
        self.change(move |config| config.device_mut(&name).rule = Some(rule.clone()))
    }

    /// A configuration file instead of `aot.toml`, relative to the folder of
    /// `Cargo.toml`.
    pub fn config(self, path: impl AsRef<Path>) -> Self {
        Self { config_file: Some(path.as_ref().to_owned()), ..self }
    }

    /// Folder to write to instead of `OUT_DIR`.
    pub fn out_dir(self, path: impl AsRef<Path>) -> Self {
        Self { out_dir: Some(path.as_ref().to_owned()), ..self }
    }

    /// Visibility of the type: `"pub"` without it, `""` for none.
    pub fn visibility(self, visibility: impl Into<String>) -> Self {
        Self { visibility: visibility.into(), ..self }
    }

    /// An attribute or documentation of the type: `#[repr(align(32))]`,
    /// `/// Finds keywords.`
    pub fn attribute(mut self, attribute: impl Into<String>) -> Self {
        self.attributes.push(attribute.into());
        self
    }

    /// Writes a page beside the Rust file, with the extension `html`, that shows which
    /// tensor lies where in the workspace, from which step to which.
    pub fn memory_map(self) -> Self {
        Self { memory_map: true, ..self }
    }

    /// Several models that are compiled together, see
    /// [`shared_workspace`](crate::Models::shared_workspace).
    pub fn models(models: impl IntoIterator<Item = Self>) -> Models {
        Models::new(models.into_iter().collect())
    }

    fn change(mut self, change: impl Fn(&mut Config) + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// Compiles the model and writes the files, unless they are there already. Tells
    /// cargo which files to watch.
    ///
    /// # Errors
    ///
    /// All problems of the model and of its configuration; a file that cannot be
    /// written.
    pub fn compile(self) -> Result<Built, Error> {
        let path = root().join(&self.path);
        let problem = |problem| Error::new(&path, vec![problem]);
        let folder = folder(self.out_dir.as_deref()).map_err(problem)?;
        let model = self.compiled(|_| ())?;
        let name = model.config.name.as_deref().map_or_else(|| stem(&path), snake_case);
        let generated = codegen::generate(&model, &self.attributes).map_err(problem)?;
        let [rust, binary, page] =
            ["rs", "bin", "html"].map(|extension| folder.join(format!("{name}.{extension}")));
        claim(&rust, &model.type_name, &path.display().to_string()).map_err(problem)?;
        let include = format!("include_bytes!({:?})", format!("{name}.bin"));
        write(&rust, generated.file(&self.visibility, &include).as_bytes()).map_err(problem)?;
        let constants = (!generated.constants.is_empty()).then_some(binary);
        if let Some(file) = &constants {
            write(file, &generated.constants).map_err(problem)?;
        }
        let memory_map = self.memory_map.then_some(page);
        if let Some(file) = &memory_map {
            let report = MemoryReport::new(&model.compiled);
            write(file, memory_html(&model.source.file, &report).as_bytes()).map_err(problem)?;
        }
        Ok(Built { model, rust, constants, memory_map })
    }

    /// The attributes of the type.
    pub(crate) fn attributes(&self) -> &[String] {
        &self.attributes
    }

    /// The model as it is configured, and then as `last` says.
    pub(crate) fn compiled(&self, last: impl FnOnce(&mut Config)) -> Result<Model, Error> {
        let path = root().join(&self.path);
        watch(&path);
        let mut config = load_config(self.config_file.as_deref(), &stem(&path))?;
        for change in &self.changes {
            change(&mut config);
        }
        last(&mut config);
        let model = compile_file(&path, &config)?;
        let others = model.source.files.iter().filter(|file| file.path != path);
        others.for_each(|file| watch(&file.path));
        Ok(model)
    }
}

/// The configuration in `aot.toml`, or another file, for what is called `name` there.
pub(crate) fn load_config(file: Option<&Path>, name: &str) -> Result<Config, Error> {
    let path = root().join(file.unwrap_or(Path::new("aot.toml")));
    // Cargo would run the script every time if it watched a file that is not there.
    if file.is_none() && !path.exists() {
        return Ok(Config::default());
    }
    watch(&path);
    Config::load(&path, name)
}

/// The folder of `Cargo.toml`.
fn root() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default()
}

/// Where to write: what was asked for, or `OUT_DIR`.
pub(crate) fn folder(asked: Option<&Path>) -> Result<PathBuf, Problem> {
    asked.map(Path::to_owned).or_else(|| env::var_os("OUT_DIR").map(PathBuf::from)).ok_or_else(no_folder)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("path", &self.path).finish_non_exhaustive()
    }
}

fn no_folder() -> Problem {
    Problem::new("OUT_DIR is not set: where to write is not known")
        .help("call this in a build script, or name a folder with `out_dir`")
}

/// Has cargo run the build script again when `path` changes.
fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// The files of code that this process has written, in lower case as some file systems see
/// them: of which type, and of what.
static WRITTEN: Mutex<BTreeMap<String, (String, String)>> = Mutex::new(BTreeMap::new());

/// Notes that `file` is for the type of `what`, so that nothing else is written there.
pub(crate) fn claim(file: &Path, type_name: &str, what: &str) -> Result<(), Problem> {
    let owner = || (type_name.to_owned(), what.to_owned());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let first = written.entry(file.to_string_lossy().to_lowercase()).or_insert_with(owner);
    if *first == owner() {
        return Ok(());
    }
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    let message = format!("`{type_name}` and `{}` of {} are both written to `{file}`", first.0, first.1);
    Err(Problem::new(message).help("give one of them another `name`: in `snake_case`, it is the file's"))
}

/// Writes a file, unless it has these contents: rustc need not run again for it.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<(), Problem> {
    if fs::read(path).is_ok_and(|found| found == contents) {
        return Ok(());
    }
    fs::write(path, contents)
        .map_err(|error| Problem::new(format!("cannot write `{}`: {error}", path.display())))
}

#[cfg(all(test, feature = "tflite"))]
mod tests {
    use super::*;

    const DIGITS: &str = "../examples/digits/model/digits.tflite";

    /// A folder of this test's own.
    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("aot-build-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn files_are_named_after_the_model_and_written_once() {
        let folder = folder("written");
        let built = Builder::new(DIGITS).out_dir(&folder).compile().unwrap();
        assert_eq!(built.rust, folder.join("digits.rs"));
        assert_eq!(built.constants, Some(folder.join("digits.bin")));
        assert_eq!(built.memory_map, None);
        let text = fs::read_to_string(&built.rust).unwrap();
        assert!(
            text.contains("include_bytes!(\"digits.bin\")")
                && text.contains("pub use aot_digits::{Digits, DigitsRun}")
        );

        let written = || fs::metadata(&built.rust).unwrap().modified().unwrap();
        let before = written();
        Builder::new(DIGITS).out_dir(&folder).compile().unwrap();
        assert_eq!(written(), before);

        let named = Builder::new(DIGITS).out_dir(&folder).name("HandWriting").visibility("");
        let named = named.inputs(InputPlacement::Caller).attribute("/// Mine.").compile().unwrap();
        assert_eq!(named.rust, folder.join("hand_writing.rs"));
        let text = fs::read_to_string(&named.rust).unwrap();
        assert!(
            text.contains("\nuse aot_hand_writing::{HandWriting, HandWritingRun};")
                && text.contains("    /// Mine.\n")
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn no_model_writes_over_another() {
        let folder = folder("twice");
        let builder = |name: &str| Builder::new(DIGITS).out_dir(&folder).name(name);
        builder("Ocr").compile().unwrap();
        builder("Ocr").compile().unwrap();
        let error = builder("OCR").compile().unwrap_err().to_string();
        assert!(error.contains("digits.tflite: `OCR` and `Ocr` of "), "{error}");
        assert!(
            error.contains("digits.tflite are both written to `ocr.rs`\n  = help: give one of them"),
            "{error}"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_tensor_is_kept() {
        let folder = folder("kept");
        let built = Builder::new(DIGITS).out_dir(&folder).keep(["digits_1/pool2_1/MaxPool2d"]);
        let text = fs::read_to_string(built.compile().unwrap().rust).unwrap();
        assert!(text.contains("pub fn kept_digits_1_pool2_1_max_pool2d(&self) -> &[i8; 256] {"), "{text}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_memory_map_lies_beside_the_code() {
        let folder = folder("memory_map");
        let built = Builder::new(DIGITS).out_dir(&folder).memory_map().compile().unwrap();
        assert_eq!(built.memory_map, Some(folder.join("digits.html")));
        let page = fs::read_to_string(folder.join("digits.html")).unwrap();
        assert!(page.contains("<title>Memory of digits.tflite</title>"), "{page}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_configures_and_methods_override_it() {
        let folder = folder("configured");
        let file = folder.join("aot.toml");
        fs::write(&file, "ram_limit = 1\n[models.digits]\noptimize = \"size\"").unwrap();
        let builder = || Builder::new(DIGITS).out_dir(&folder).config(&file);
        let error = builder().compile().unwrap_err().to_string();
        assert!(error.contains("digits.tflite: key `ram_limit`: needs "), "{error}");
        let built = builder().ram_limit(1 << 20).compile().unwrap();
        assert_eq!(built.model.config.optimize, Optimize::Size);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn problems_name_the_file() {
        let missing = Builder::new("no/such.tflite").out_dir(".").compile().unwrap_err();
        assert!(format!("{missing:?}").contains("no/such.tflite: the file cannot be read"), "{missing:?}");
        let error = Builder::new(DIGITS).out_dir("no/such/folder").compile().unwrap_err().to_string();
        assert!(error.contains("cannot write `no/such/folder/digits.rs`"), "{error}");
    }
}
