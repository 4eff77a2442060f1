//! Several models in one firmware, of which one runs at a time: one workspace, planned for all
//! of them, and one blob of constants.

use std::path::{Path, PathBuf};

use crate::codegen::{self, snake_case};
use crate::config::Pool;
use crate::error::Problem;
use crate::program::{PlacedPool, Program, distribute};
use crate::report::MemoryReport;
use crate::settings::{Settings, Written};
use crate::workspace::{self, Workspace};
use crate::{Builder, Config, Error, Model, compile, limits};

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
        SharedWorkspace { models: self.models, name: name.into(), settings: Settings::new() }
    }
}

/// Models that share one workspace, see [`Models::shared_workspace`].
#[must_use = "nothing is written before `compile`"]
pub struct SharedWorkspace {
    models: Vec<Builder>,
    name: String,
    settings: Settings,
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
    pub fn config(mut self, path: impl AsRef<Path>) -> Self {
        self.settings.config_file = Some(path.as_ref().to_owned());
        self
    }

    /// Folder to write to instead of `OUT_DIR`.
    pub fn out_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.settings.out_dir = Some(path.as_ref().to_owned());
        self
    }

    /// Visibility of the types: `"pub"` without it, `""` for none.
    pub fn visibility(mut self, visibility: impl Into<String>) -> Self {
        self.settings.visibility = visibility.into();
        self
    }

    fn change(mut self, change: impl Fn(&mut Config) + 'static) -> Self {
        self.settings.change(change);
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
        let folder = self.settings.folder().map_err(problem)?;
        let file = snake_case(&self.name);
        let config = self.settings.load(&file)?;
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
        let Written { rust, constants } =
            self.settings.write(&generated, &folder, &file, &name).map_err(problem)?;
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
    let shared = planned(&programs, config)?;
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

/// The workspace of the programs. Each keeps results apart from their operands as far as it may by
/// itself, unless they then need more together.
fn planned(programs: &[&Program], config: &Config) -> Result<Workspace, Vec<Problem>> {
    let search = compile::plan_limits(config);
    let plan =
        |programs: &[&Program]| workspace::plan(programs, &config.workspaces(), config.planner, &search);
    let apart = plan(programs)?;
    if programs.iter().all(|program| program.cell_limit.is_none()) {
        return Ok(apart);
    }
    let free: Vec<Program> =
        programs.iter().map(|program| Program { cell_limit: None, ..(*program).clone() }).collect();
    let free = plan(&free.iter().collect::<Vec<_>>())?;
    if workspace::needs(&apart.pools) > workspace::needs(&free.pools) {
        return Ok(free);
    }
    // What no plan can do without is known of all of them.
    Ok(Workspace { lower_bound: free.lower_bound, proved: free.proved, ..apart })
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
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{AveragePool2d, Padding2d};

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

    /// Whatever each may do without by itself.
    #[test]
    fn results_take_the_place_of_operands_where_models_need_that_together() {
        let (window, stride, activation) = ([3, 3], [1, 1], Default::default());
        let pool = AveragePool2d { window, stride, padding: Padding2d::Same, activation };
        let mut sketch = Sketch::new();
        let image = sketch.input("image", f32_type([1, 8, 8, 16]));
        let pooled = sketch.node("pooled", pool, &[image]);
        let config = Config::default();
        let compiled = compile::compile(sketch.finish(&[pooled]), &config).unwrap();
        let tensor = 8 * 8 * 16 * 4;
        assert!(compiled.proved && (tensor + 1..2 * tensor).contains(&compiled.arena_bytes));
        for cell_limit in [None, Some(64), Some(0)] {
            let program = Program { cell_limit, ..compiled.program.clone() };
            let shared = planned(&[&program; 2], &config).unwrap();
            assert_eq!((shared.bytes(), shared.proved), (compiled.arena_bytes, true), "{cell_limit:?}");
        }
    }

    #[test]
    fn names_differ() {
        let text = error(shared(&["Same", "Same"]));
        assert!(
            text.contains("two types would be named `Same`: that of `digits.tflite` and another"),
            "{text}"
        );
        assert!(error(shared(&["Both"])).contains("two types would be named `Both`"));
        // That of a run of the first model.
        assert!(error(shared(&["First", "FirstRun"])).contains("two types would be named `FirstRun`"));
        assert!(error(shared(&[])).contains("there are no models to share it"));
        let pool = Pool { copy: true, ..Pool::default() };
        assert!(error(shared(&["First"]).pool("dtcm", pool)).contains("only constants are copied"));
    }
}
