//! `aot plan`: which tensor lies where, from which step to which.

use std::path::{Path, PathBuf};

use aot_build::plan::Planner;
use aot_build::report::{MemoryReport, memory_html, memory_map, memory_svg};

use crate::console::{Console, Failure};
use crate::intervals;
use crate::settings::{Settings, write_file};

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
    /// Write a drawing of the memory: time across, addresses up, names on hover
    #[arg(long, value_name = "FILE.svg", conflicts_with = "intervals")]
    svg: Option<PathBuf>,
    /// Write a page with the drawing and the tables
    #[arg(long, value_name = "FILE.html", conflicts_with = "intervals")]
    html: Option<PathBuf>,
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
    write_drawings(arguments, file, &report)?;
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

fn write_drawings(arguments: &Arguments, model: &Path, report: &MemoryReport) -> Result<(), Failure> {
    if let Some(file) = &arguments.svg {
        write_file(file, memory_svg(report).as_bytes())?;
    }
    if let Some(file) = &arguments.html {
        let name = model.file_name().unwrap_or_default().to_string_lossy();
        write_file(file, memory_html(&name, report).as_bytes())?;
    }
    Ok(())
}
