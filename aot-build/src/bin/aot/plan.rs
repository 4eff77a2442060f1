//! `aot plan`: which tensor lies where, from which step to which.

use std::path::PathBuf;

use aot_build::plan::Planner;
use aot_build::report::{MemoryReport, memory_map};

use crate::console::{Console, Failure};
use crate::intervals;
use crate::settings::Settings;

/// Shows where every tensor lies, from which step to which
///
/// With `--intervals`, plans a bare problem instead of a model.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Model file: .tflite or .json
    #[arg(required_unless_present = "intervals", conflicts_with = "intervals")]
    model: Option<PathBuf>,
    /// Draw the memory: time across, addresses up
    #[arg(long, conflicts_with_all = ["intervals", "json"])]
    map: bool,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Problem to plan: lines of `id,lower,upper,size` (steps, the end excluded) and
    /// perhaps `alignment`, below a line with these names
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["config", "set"])]
    intervals: Option<PathBuf>,
    /// Bytes that there are; fails when no plan is found
    #[arg(long, value_name = "BYTES", requires = "intervals")]
    capacity: Option<usize>,
    /// Method: none, storage_tokens, greedy_by_size, greedy_by_conflicts, hill_climb or
    /// optimal
    #[arg(long, value_name = "NAME", default_value_t, requires = "intervals")]
    planner: Planner,
    /// Search on for about so long when the plan is not proved optimal
    #[arg(long, value_name = "SECONDS", requires = "intervals", value_parser = intervals::seconds)]
    time_limit: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    if let Some(file) = &arguments.intervals {
        let request = intervals::Request {
            file,
            capacity: arguments.capacity,
            planner: arguments.planner,
            time_limit: arguments.time_limit,
        };
        return request.run(arguments.json, console);
    }
    // Without `--intervals` the command line names a model.
    let Some(file) = &arguments.model else { return Ok(()) };
    let report = MemoryReport::new(&arguments.settings.compile(file)?.compiled);
    if arguments.json {
        console.json(&report)?;
        return Ok(());
    }
    console.print(&report)?;
    if arguments.map {
        console.print(format_args!("\n{}", memory_map(&report)))?;
    }
    Ok(())
}
