//! Kernels that are bound by name when a program starts.

use core::fmt;

use crate::kernels::{Kernel, Mode};
use crate::{KernelError, PackedKernel, StepInfo, Tensor};

/// A kernel under its name, in a table from which generated code is bound.
#[derive(Clone, Copy, Debug)]
pub struct KernelEntry {
    /// The name that steps ask for: [`Kernel::name`], such as `"conv2d_i8"`.
    pub name: &'static str,
    /// What runs.
    pub function: PackedKernel,
}

/// Kernels that no table has: those of the `N` that a model needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing<const N: usize>([Option<&'static str>; N]);

impl<const N: usize> Missing<N> {
    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied().flatten()
    }
}

impl<const N: usize> fmt::Display for Missing<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no table has the kernels")?;
        for (i, name) in self.names().enumerate() {
            write!(f, "{} `{name}`", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl<const N: usize> core::error::Error for Missing<N> {}

/// The kernels called `names`, each from the first of `tables` that has it; for generated
/// code.
///
/// # Errors
///
/// When some are in no table: all of them.
pub fn bind<const N: usize>(
    names: [&'static str; N],
    tables: &[&[KernelEntry]],
) -> Result<[PackedKernel; N], Missing<N>> {
    let find = |name| {
        let mut entries = tables.iter().copied().flatten();
        entries.find(|entry| entry.name == name).map(|entry| entry.function)
    };
    // All are there.
    Ok(find_all(names, find)?.map(|found| found.unwrap_or(absent)))
}

/// What `find` gives for each name, if that is something for all.
pub(crate) fn find_all<T, const N: usize>(
    names: [&'static str; N],
    find: impl Fn(&'static str) -> Option<T>,
) -> Result<[Option<T>; N], Missing<N>> {
    let found = names.map(find);
    let mut missing = Missing(names.map(Some));
    for (missing, found) in missing.0.iter_mut().zip(&found) {
        if found.is_some() {
            *missing = None;
        }
    }
    if missing.names().next().is_some() { Err(missing) } else { Ok(found) }
}

/// Stands where a kernel is missing, and is never called.
fn absent(_: &Kernel, _: Mode, _: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    Err(KernelError::Kernel)
}

/// A step whose kernel did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The step.
    pub step: &'static StepInfo,
    /// Why.
    pub error: KernelError,
}

impl CallError {
    /// What came of the call of a step's kernel, for generated code.
    ///
    /// # Errors
    ///
    /// When the kernel did not run.
    pub fn check(step: &'static StepInfo, called: Result<(), KernelError>) -> Result<(), Self> {
        called.map_err(|error| Self { step, error })
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step `{}`: {}", self.step.name, self.error)
    }
}

impl core::error::Error for CallError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString as _;
    use std::vec::Vec;

    use super::*;

    fn refuses(_: &Kernel, _: Mode, _: &mut [Tensor<'_>]) -> Result<(), KernelError> {
        Err(KernelError::Unsupported)
    }

    const fn entry(name: &'static str, function: PackedKernel) -> KernelEntry {
        KernelEntry { name, function }
    }

    #[test]
    fn earlier_tables_come_first() {
        let tables: [&[KernelEntry]; 2] = [&[entry("a", refuses)], &[entry("b", absent), entry("a", absent)]];
        let bound = bind(["a", "b"], &tables).unwrap();
        let run = |kernel: PackedKernel| {
            let copy = Kernel::CopyI8(crate::kernels::CopyI8 { len: 0 });
            kernel(&copy, Mode::Apart, &mut [])
        };
        assert_eq!(bound.map(run), [Err(KernelError::Unsupported), Err(KernelError::Kernel)]);
    }

    #[test]
    fn all_that_is_missing_is_listed() {
        let missing = bind(["a", "b", "c"], &[&[entry("b", absent)]]).unwrap_err();
        assert_eq!(missing.names().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(missing.to_string(), "no table has the kernels `a`, `c`");
        assert_eq!(bind([], &[]).map(|bound| bound.len()), Ok(0));
    }
}
