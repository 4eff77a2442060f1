//! The compiler: reads a trained network, optimises it, plans its memory, and
//! generates Rust.
//!
//! The crate is a library: it never exits, and prints nothing but what [`Builder`]
//! tells cargo. The macro `aot_model!`, build scripts and the `aot` tool share it.

pub mod codegen;
pub mod config;
pub mod error;
pub mod eval;
#[cfg(feature = "json")]
pub mod export;
pub mod graph;
pub mod import;
pub mod ops;
pub mod passes;
pub mod plan;
pub mod program;
pub mod report;
pub mod schedule;
mod streaming;
#[cfg(feature = "json")]
pub mod weights;

mod builder;
mod compile;
mod devices;
mod hash;
mod limits;
mod model;
mod nearest;
mod shared;
mod workspace;

pub use builder::{Builder, Built};
pub use compile::{Compiled, compile};
pub use config::Config;
pub use error::{Error, Problem};
pub use model::{Model, SourceInfo, compile_file};
pub use shared::{BuiltModels, Models, SharedWorkspace};
