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

#[cfg(test)]
mod conventions;
#[cfg(test)]
mod crossings;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod kernels;
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
