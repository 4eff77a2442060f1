//! What a model needs, how its memory is used, and what is wrong with it: for
//! people (`Display`) and for programs (`Serialize`).
//!
//! The keys of the serialised forms are documented in `docs/aot-tool.md` and stable:
//! keys may be added, none is renamed or removed.

mod figures;
mod html;
mod map;
mod memory;
#[cfg(feature = "tflite")]
mod operators;
mod problems;
mod program;
mod rows;
mod summary;
mod svg;
mod text;

pub use crate::error::spaced;
pub use figures::Figure;
pub use html::memory_html;
pub use map::memory_map;
pub use memory::{MemoryReport, Peak, PeakTensor, PoolReport, TensorReport};
#[cfg(feature = "tflite")]
pub use operators::{OperatorReport, Operators, TypesReport};
pub use problems::ErrorReport;
pub use program::{OperandReport, StepReport};
pub use rows::RunReport;
pub use summary::{ConfigurationReport, FileReport, PortReport, Summary};
pub use svg::memory_svg;
pub use text::{columns, label};
