//! Runtime for neural networks that `aot-build` compiled into Rust.
//!
//! No standard library, no allocator. The crate holds what generated code calls:
//!
//! - [`Workspace`], static memory whose regions are checked while rustc compiles,
//! - [`Constants`], the weights of a model in flash,
//! - [`kernels`], the arithmetic, each kernel written once,
//! - [`fixed_point`], the integer arithmetic behind the quantized kernels,
//! - [`Instrument`], what can observe the steps of a run,
//! - [`Model`], the untyped face that every generated runner has.
//!
//! Users rarely name anything here but [`Model`], [`TensorInfo`] and
//! [`include_model!`].
#![no_std]

#[cfg(target_endian = "big")]
compile_error!("aot-rt: constants are stored little-endian; big-endian targets are not supported");

mod constants;
mod element;
mod first;
pub mod fixed_point;
mod instrument;
pub mod kernels;
mod model;
mod params;
mod part;
mod singleton;
mod tensor;
mod workspace;

pub use constants::Constants;
pub use element::{DType, Element};
pub use half::f16;
pub use instrument::{Action, Elements, Instrument, StepInfo};
pub use model::{IoError, Model, input_elements, output_elements};
pub use params::{Fields, Params, Value};
pub use part::{part, part_mut};
pub use singleton::Singleton;
pub use tensor::{Quantization, TensorInfo};
pub use workspace::{
    Access, Arena, Block, Operand, OperandError, Read, Region, Regions, Span, SpanError, Workspace, Write,
    block_bytes, block_bytes_mut,
};

/// Includes the code that `aot_build::Builder` wrote for the model `$name`.
///
/// ```ignore
/// aot_rt::include_model!("kws");
/// let mut kws = Kws::new();
/// ```
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        include!(concat!(
            env!(
                "OUT_DIR",
                "include_model! needs a build.rs that calls `aot_build::Builder::new(\"model.tflite\").compile()?`"
            ),
            "/",
            $name,
            ".rs"
        ));
    };
}
