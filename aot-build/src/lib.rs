//! Compiler.

pub mod plan;
