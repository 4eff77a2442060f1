//! Models that share one workspace, and models in pools of memory, as a library exports them:
//! nothing in them may warn, used or not, and nothing is `unsafe`.
#![deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]
#![forbid(unsafe_code)]

/// Three models in one workspace.
pub mod three {
    aot_rt::include_model!("three");
}

/// The same in pools, with link sections.
pub mod placed {
    aot_rt::include_model!("placed");
}

/// One of two is fed row by row.
pub mod fed {
    aot_rt::include_model!("fed");
}

/// Each model alone.
pub mod alone {
    aot_rt::include_model!("alone_digits");
    aot_rt::include_model!("alone_filter");
    aot_rt::include_model!("alone_twin");
}

/// Models in pools of memory, with link sections and copies of constants.
pub mod pools {
    include!(concat!(env!("OUT_DIR"), "/pools.rs"));
}

/// The examples of the page compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/memory.md")]
struct Page;

#[cfg(test)]
mod pools_tests;
#[cfg(test)]
mod sections;
#[cfg(test)]
mod tests;
