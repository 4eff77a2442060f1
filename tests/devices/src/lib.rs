//! Models that run on devices, as a library exports them: nothing generated may warn.
#![deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]

/// Three devices, activated by each run.
pub mod per_run {
    aot_rt::include_model!("per_run");
}

/// Three devices, activated by the first run.
pub mod first_use {
    aot_rt::include_model!("first_use");
}

/// Three devices, activated by the caller.
pub mod caller {
    aot_rt::include_model!("caller");
}

/// Three devices, on the caller's arrays.
pub mod arrays {
    aot_rt::include_model!("arrays");
}

/// Three devices with one method.
pub mod packed {
    aot_rt::include_model!("packed");
}

/// Three devices, and the CPU, with kernels that are bound by name.
pub mod bound {
    aot_rt::include_model!("bound");
}

/// A device in a loop.
pub mod loops {
    aot_rt::include_model!("loops");
}

/// Two devices that share no memory.
pub mod crossed {
    aot_rt::include_model!("crossed");
}

/// The same model without devices.
pub mod not_crossed {
    aot_rt::include_model!("not_crossed");
}

/// Three devices, two of which have memory that the CPU does not reach.
pub mod sealed {
    aot_rt::include_model!("sealed");
}

/// The same with one method for each device.
pub mod sealed_packed {
    aot_rt::include_model!("sealed_packed");
}

/// The same with kernels that are bound by name.
pub mod sealed_bound {
    aot_rt::include_model!("sealed_bound");
}

/// The same model without devices.
pub mod open {
    aot_rt::include_model!("open");
}

/// A device without memory that the CPU reaches, on the caller's arrays.
pub mod far {
    aot_rt::include_model!("far");
}

/// A device with memory of its own and memory that the CPU reaches.
pub mod mixed {
    aot_rt::include_model!("mixed");
}

/// A device with two pools of its own, and one that copies.
pub mod moved {
    aot_rt::include_model!("moved");
}

/// Three devices, two of which have memory of their own, one of these in a branch.
pub mod sealed_branches {
    aot_rt::include_model!("sealed_branches");
}

/// A device with memory of its own in a loop.
pub mod sealed_loops {
    aot_rt::include_model!("sealed_loops");
}

/// Models that share the memory of the CPU and of a device.
pub mod sealed_shared {
    aot_rt::include_model!("memory");
}

/// A model that keeps a state.
pub mod sums {
    aot_rt::include_model!("sums");
}

/// A device behind a run of rows.
pub mod rows {
    aot_rt::include_model!("rows");
}

/// A device for one operator, beside kernels that are given descriptions of their tensors.
pub mod beside_packed {
    aot_rt::include_model!("beside_packed");
}

/// A device for one node.
pub mod one_node {
    aot_rt::include_model!("one_node");
}

/// A device for one operator.
pub mod one_operator {
    aot_rt::include_model!("one_operator");
}

/// A device for all that a model computes.
pub mod whole_model {
    aot_rt::include_model!("whole_model");
}

#[cfg(has_kws)]
mod published {
    aot_rt::include_model!("convolutions");
    aot_rt::include_model!("everything");
}

/// The examples of the page compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/devices.md")]
struct Page;

#[cfg(test)]
mod conventions;
#[cfg(test)]
mod crossings;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod kernels;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod memory_control;
#[cfg(test)]
mod memory_conventions;
#[cfg(test)]
mod memory_faults;
#[cfg(test)]
mod memory_pools;
#[cfg(test)]
mod mock;
#[cfg(test)]
mod order;
#[cfg(all(test, has_kws))]
mod reference;
#[cfg(test)]
mod rows_fed;
#[cfg(test)]
mod stepping;
#[cfg(test)]
mod weights;
