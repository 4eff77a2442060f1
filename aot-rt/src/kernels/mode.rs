//! What is known of a kernel beside its arithmetic: its operands, and how they may lie.

use super::overlap::Overlap;
use crate::{Access, DType};

/// Name, type and access of a kernel's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandInfo {
    /// Name of the kernel's argument.
    pub name: &'static str,
    /// Type of the elements.
    pub dtype: DType,
    /// Read; or written and perhaps read, as a state is that is brought up to date.
    pub access: Access,
}

/// How a kernel's operands `x` and `y` lie in memory, and what of `y` is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each in a place of its own.
    Apart,
    /// `y` takes the place of `x`, element by element: one operand, `y`, is both.
    InPlace,
    /// In one region, in which they overlap: one operand, the region, is both.
    Overlapping(Overlap),
    /// In rings of so many rows, of which one row of `y` is computed.
    Row {
        /// Rows that there is room for, of `x` and of `y`.
        rings: [usize; 2],
        /// The row of `y`.
        row: usize,
    },
}

/// Which [`Mode`]s a kernel knows beside [`Mode::Apart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// None.
    Plain,
    /// [`Mode::InPlace`].
    Elementwise,
    /// [`Mode::Row`]; it adds to what `y` holds.
    Accumulating,
    /// [`Mode::Row`]; it has a window, but `x` and `y` are of different types.
    Widening,
    /// [`Mode::Overlapping`] and [`Mode::Row`].
    Window,
    /// [`Mode::Row`] only; all rows go into the one of `y`.
    Reducing,
}
