//! Runtime for neural networks that `aot-build` compiled into Rust.
//!
//! No standard library, no allocator. The crate holds what generated code calls:
//!
//! - [`Workspace`], static memory whose regions are checked while rustc compiles,
//! - [`Constants`], the weights of a model in flash,
//! - [`kernels`], the arithmetic, each kernel written once,
//! - [`fixed_point`], the integer arithmetic behind the quantized kernels,
//! - [`Instrument`], what can observe the steps of a run,
//! - [`Device`], what can run steps beside the CPU, and [`DeviceMemory`], where the CPU does not
//!   reach its memory,
//! - [`Tensor`], [`PackedKernel`] and [`KernelEntry`], for kernels that are bound by name,
//! - [`UntilError`] and [`yield_now`], for runs that go step by step,
//! - [`Model`], the untyped face that every generated runner has,
//! - [`metadata`], the types of what the compiler knows of a model.
//!
//! Users rarely name anything here but [`Model`], [`TensorInfo`] and
//! [`include_model!`].
#![no_std]

#[cfg(target_endian = "big")]
compile_error!("aot-rt: constants are stored little-endian; big-endian targets are not supported");

mod aligned;
mod constants;
mod device;
mod device_memory;
mod element;
mod first;
pub mod fixed_point;
mod instrument;
pub mod kernels;
pub mod metadata;
mod model;
mod nibbles;
mod packed;
mod packed_device;
mod params;
mod part;
mod registry;
mod section;
mod singleton;
#[cfg(feature = "source")]
mod source;
mod stepping;
mod tensor;
mod workspace;

pub use aligned::{Align32, Align64, Align128, Align256, Align512, Align1024, Align2048, Align4096, Aligned};
pub use constants::Constants;
pub use device::{Activate, Device, DeviceCall, DeviceError, ManagedDevice};
pub use device_memory::{DeviceMemory, DeviceOperand, DeviceTensor};
pub use element::{DType, Element};
pub use half::{bf16, f16};
pub use instrument::{
    Action, Checksum, Checksums, Elements, Instrument, Profiler, Saturated, Saturation, Spent, StepInfo,
};
pub use model::{IoError, Model, input_elements, output_elements};
pub use nibbles::{pack_i4, unpack_i4};
pub use packed::{KernelError, PackedKernel, Tensor};
pub use packed_device::{BoundDevice, BoundError, DeviceEntry, DeviceKernel, PackedDevice};
pub use params::{Fields, Params, Value};
pub use part::{part, part_mut};
pub use registry::{CallError, KernelEntry, Missing, bind};
pub use section::{Placed, PlacedFlag, PlacedMemory};
pub use singleton::Singleton;
#[cfg(feature = "source")]
pub use source::SOURCE;
pub use stepping::{StepError, UntilError, YieldNow, is_next, yield_now};
pub use tensor::{Quantization, TensorInfo};
pub use workspace::{
    Access, Arena, Block, Read, Region, Regions, Span, SpanError, Workspace, Write, block_bytes,
    block_bytes_mut,
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
