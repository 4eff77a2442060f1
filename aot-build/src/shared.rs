//! Several models in one firmware, of which one runs at a time: one workspace, planned for all
//! of them, and one blob of constants.

use std::path::{Path, PathBuf};

use crate::builder::{claim, folder, load_config, write};
use crate::codegen::{self, snake_case};
use crate::config::Pool;
use crate::error::Problem;
use crate::program::{PlacedPool, Program, distribute};
use crate::report::MemoryReport;
use crate::{Builder, Config, Error, Model, compile, limits, workspace};

/// Several models, see [`Builder::models`].
#[derive(Debug)]
#[must_use = "nothing is compiled before `shared_workspace` and `compile`"]
pub struct Models {
    models: Vec<Builder>,
}

impl Models {
    pub(crate) fn new(models: Vec<Builder>) -> Self {
        Self { models }
    }

    /// Has the models share one workspace: only one of them runs at a time, and the borrow checker
    /// sees to it. What a model keeps from run to run stays while others run. Constants that are
    /// equal are stored once.
    ///
    /// ```no_run
    /// // build.rs
    /// use aot_build::Builder;
    ///
    /// fn main() -> Result<(), aot_build::Error> {
    ///     let models = [Builder::new("models/kws.tflite"), Builder::new("models/vad.tflite")];
    ///     Builder::models(models).shared_workspace("Voice").ram_limit(65_536).compile()?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// `aot_rt::include_model!("voice")` then gives the types `Voice`, `Kws` and `Vad`:
    ///
    /// ```ignore
    /// let voice = Voice::take().unwrap();
    /// let speech = voice.vad().run(&frame)[0] > 0;
    /// let mut kws = voice.kws();   // borrows `voice`: no other model can run
    /// let word = kws.run(&frame);
    /// ```
    ///
    /// `name` is that of the struct that holds the memory. Limits and pools of the shared workspace
    /// are those of `aot.toml`, where `[models.voice]` overrides them, and of the methods here;
    /// pools, folder and visibility of single models are not looked at.
    pub fn shared_workspace(self, name: impl Into<String>) -> SharedWorkspace {
        SharedWorkspace {
            models: self.models,
            name: name.into(),
            config_file: None,
            out_dir: None,
            visibility: "pub".into(),
            changes: Vec::new(),
        }
    }
}

type Change = Box<dyn Fn(&mut Config)>;

/// Models that share one workspace, see [`Models::shared_workspace`].
#[must_use = "nothing is written before `compile`"]
pub struct SharedWorkspace {
    models: Vec<Builder>,
    name: String,
    config_file: Option<PathBuf>,
    out_dir: Option<PathBuf>,
    visibility: String,
    changes: Vec<Change>,
}

/// What [`SharedWorkspace::compile`] made.
#[derive(Clone, Debug)]
pub struct BuiltModels {
    /// The models. All have the shared workspace and constants: sizes are those of both.
    pub models: Vec<Model>,
    /// The Rust file.
    pub rust: PathBuf,
    /// The constants, unless there are none.
    pub constants: Option<PathBuf>,
}

impl SharedWorkspace {
    /// Most bytes of RAM that the shared workspace may take.
    pub fn ram_limit(self, bytes: usize) -> Self {
        self.change(move |config| config.ram_limit = Some(bytes))
    }

    /// Most bytes of flash that the constants of all models may take.
    pub fn flash_limit(self, bytes: usize) -> Self {
        self.change(move |config| config.flash_limit = Some(bytes))
    }

    /// A pool of memory, see [`Builder::pool`].
    pub fn pool(self, name: impl Into<String>, pool: Pool) -> Self {
        let name = name.into();
        self.change(move |config| drop(config.pools.insert(name.clone(), pool.clone())))
    }

    /// A configuration file for the shared workspace instead of `aot.toml`.
    pub fn config(self, path: impl AsRef<Path>) -> Self {
        Self { config_file: Some(path.as_ref().to_owned()), ..self }
    }

    /// Folder to write to instead of `OUT_DIR`.
    pub fn out_dir(self, path: impl AsRef<Path>) -> Self {
        Self { out_dir: Some(path.as_ref().to_owned()), ..self }
    }

    /// Visibility of the types: `"pub"` without it, `""` for none.
    pub fn visibility(self, visibility: impl Into<String>) -> Self {
        Self { visibility: visibility.into(), ..self }
    }

    fn change(mut self, change: impl Fn(&mut Config) + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// Compiles the models and writes the files, unless they are there already. Tells cargo which
    /// files to watch.
    ///
    /// # Errors
    ///
    /// All problems of the first model that has any; of the shared workspace; a file that cannot be
    /// written.
    pub fn compile(self) -> Result<BuiltModels, Error> {
        let name = format!("shared workspace {}", self.name);
        let problem = |problem| Error::new(&name, vec![problem]);
        let folder = folder(self.out_dir.as_deref()).map_err(problem)?;
        let file = snake_case(&self.name);
        let mut config = load_config(self.config_file.as_deref(), &file)?;
        self.changes.iter().for_each(|change| change(&mut config));
        let models = self
            .models
            .iter()
            .map(|builder| builder.compiled(|of_model| of_model.pools = config.pools_of(of_model)));
        let mut models = models.collect::<Result<Vec<_>, _>>()?;
        let type_name = codegen::type_name(Some(&self.name), "").map_err(problem)?;
        check_names(&type_name, &models).map_err(problem)?;
        join(&mut models, &config).map_err(|problems| Error::new(&name, problems))?;
        let problems = check(&models, &config);
        if !problems.is_empty() {
            return Err(Error::new(&name, problems));
        }
        let attributes: Vec<_> = self.models.iter().map(Builder::attributes).collect();
        let generated = codegen::generate_shared(&type_name, &models, &attributes).map_err(problem)?;
        limits::check_source(generated.body.len(), &config).map_err(problem)?;
        let [rust, binary] = ["rs", "bin"].map(|extension| folder.join(format!("{file}.{extension}")));
        claim(&rust, &type_name, &name).map_err(problem)?;
        let include = format!("include_bytes!({:?})", format!("{file}.bin"));
        write(&rust, generated.file(&self.visibility, &include).as_bytes()).map_err(problem)?;
        let constants = (!generated.constants.is_empty()).then_some(binary);
        if let Some(file) = &constants {
            write(file, &generated.constants).map_err(problem)?;
        }
        Ok(BuiltModels { models, rust, constants })
    }
}

impl std::fmt::Debug for SharedWorkspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedWorkspace").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Every type needs a name of its own.
fn check_names(shared: &str, models: &[Model]) -> Result<(), Problem> {
    if models.is_empty() {
        return Err(Problem::new("there are no models to share it"));
    }
    for (i, model) in models.iter().enumerate() {
        let name = &model.type_name;
        if name == shared || models[..i].iter().any(|other| other.type_name == *name) {
            let file = &model.source.file;
            let message = format!("two types would be named `{name}`: that of `{file}` and another");
            return Err(Problem::new(message).help("give one of them another name with `Builder::name`"));
        }
    }
    Ok(())
}

/// Plans the workspace of all models together, and puts their constants into one blob.
fn join(models: &mut [Model], config: &Config) -> Result<(), Vec<Problem>> {
    let devices = models.iter().flat_map(|model| &model.config.devices);
    let problems = config.check_reach(devices.map(|device| device.name.as_str()));
    if !problems.is_empty() {
        return Err(problems);
    }
    models.iter_mut().for_each(|model| model.config.pools.clone_from(&config.pools));
    let programs: Vec<&Program> = models.iter().map(|model| &model.compiled.program).collect();
    let search = compile::plan_limits(config);
    let shared = workspace::plan(&programs, &config.workspaces(), config.planner, &search)?;
    let bytes = shared.bytes();
    let mut programs: Vec<&mut Program> =
        models.iter_mut().map(|model| &mut model.compiled.program).collect();
    let constant_pools = distribute(&mut programs, &config.constant_pools())?;
    for (model, offsets) in models.iter_mut().zip(shared.offsets) {
        let compiled = &mut model.compiled;
        compiled.offsets = offsets;
        compiled.arena_bytes = bytes;
        (compiled.lower_bound, compiled.proved) = (shared.lower_bound, shared.proved);
        compiled.workspaces.clone_from(&shared.pools);
        compiled.constant_pools.clone_from(&constant_pools);
    }
    Ok(())
}

/// What the models need together beyond the limits.
fn check(models: &[Model], config: &Config) -> Vec<Problem> {
    let Some(Model { compiled, .. }) = models.first() else { return Vec::new() };
    let mut problems = Vec::new();
    let exceeded = |problem: Problem, pool: Option<&str>| {
        problem.items(models.iter().map(|model| alive(model, pool)).collect())
    };
    let limit = config.ram_limit.unwrap_or(Config::ADDRESSABLE);
    if compiled.arena_bytes > limit {
        problems.push(exceeded(limits::exceeded("ram_limit", compiled.arena_bytes, "RAM", limit), None));
    }
    let is_over = |pool: &&PlacedPool| pool.excess() > 0;
    for pool in compiled.workspaces.iter().filter(is_over) {
        problems.push(exceeded(limits::exceeded_pool(pool), Some(&pool.name)));
    }
    problems.extend(compiled.constant_pools.iter().filter(is_over).map(limits::exceeded_pool));
    let constants = compiled.program.constants.bytes().len();
    let limit = config.flash_limit.unwrap_or(Config::ADDRESSABLE);
    if constants > limit {
        problems.push(limits::exceeded("flash_limit", constants, "flash for constants", limit));
    }
    problems
}

/// What of a model is alive at its peak: `` model `Kws`: at step 3 `conv2d_3` are alive: .. ``.
fn alive(model: &Model, pool: Option<&str>) -> String {
    let report = MemoryReport::new(&model.compiled);
    let peak = pool.map_or_else(|| report.peak.clone(), |pool| report.peak_of(pool));
    format!("model `{}`: {}", model.type_name, limits::alive(&report, &peak))
}

#[cfg(all(test, feature = "tflite"))]
mod tests {
    use super::*;

    const DIGITS: &str = "../examples/digits/model/digits.tflite";

    fn shared(names: &[&str]) -> SharedWorkspace {
        let models = names.iter().map(|name| Builder::new(DIGITS).name(*name));
        Builder::models(models).shared_workspace("Both").out_dir(std::env::temp_dir())
    }

    fn error(workspace: SharedWorkspace) -> String {
        workspace.compile().unwrap_err().to_string()
    }

    #[test]
    fn limits_name_models_and_tensors() {
        let text = error(shared(&["First", "Second"]).ram_limit(100));
        let lines: Vec<_> = text.lines().collect();
        let start = "shared workspace Both: key `ram_limit`: needs 1 168 bytes of RAM, the limit is 100 (1 068 too many)";
        assert_eq!(lines[0], start);
        for (line, model) in lines[1..].iter().zip(["First", "Second"]) {
            let start = format!("  - model `{model}`: at step ");
            assert!(line.starts_with(&start) && line.contains("are alive: `"), "{text}");
        }
        assert_eq!(lines.len(), 3);
        let text = error(shared(&["First", "Second"]).flash_limit(9_001));
        let constants = "key `flash_limit`: needs 9 002 bytes of flash for constants, the limit is 9 001";
        assert!(text.contains(constants), "{text}");
    }

    #[test]
    fn names_differ() {
        let text = error(shared(&["Same", "Same"]));
        assert!(
            text.contains("two types would be named `Same`: that of `digits.tflite` and another"),
            "{text}"
        );
        assert!(error(shared(&["Both"])).contains("two types would be named `Both`"));
        assert!(error(shared(&[])).contains("there are no models to share it"));
        let pool = Pool { copy: true, ..Pool::default() };
        assert!(error(shared(&["First"]).pool("dtcm", pool)).contains("only constants are copied"));
    }
}
