//! Macro.
