//! Steps that a device runs: one or several kernels on one set of operands.

use aot_rt::kernels::Kernel;
use aot_rt::{Access, DType};

/// A call of a device.
///
/// Its operands are the first kernel's `x`, the last one's `y`, then the others of each
/// kernel, in order. What is between the kernels has no memory: the device keeps it.
/// Constants are as the model has them, not as our kernels read them.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Position of the device in [`Program::devices`](super::Program::devices).
    pub device: usize,
    /// Name of the device.
    pub unit: String,
    /// The kernels, each on the result of the one before.
    pub kernels: Vec<Kernel>,
    /// Number of elements between them.
    pub between: Vec<usize>,
    /// The operands.
    pub operands: Vec<CallOperand>,
    /// Operands that our own kernels read in another order, by position: their bytes in it.
    pub packed: Vec<(usize, Vec<u8>)>,
}

/// What an operand of a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOperand {
    /// The kernel's name of it; with a number where several kernels have it: `weights_2`.
    pub name: String,
    /// Type of the elements.
    pub dtype: DType,
    /// Read or written.
    pub access: Access,
}

impl Call {
    /// A call of one kernel.
    pub(super) fn new(device: usize, unit: &str, kernel: Kernel, packed: Vec<(usize, Vec<u8>)>) -> Self {
        let infos = kernel.operands().iter();
        let operands =
            infos.map(|info| CallOperand { name: info.name.into(), dtype: info.dtype, access: info.access });
        let operands = operands.collect();
        Self { device, unit: unit.to_owned(), kernels: vec![kernel], between: Vec::new(), operands, packed }
    }

    /// Lets `next` follow in the same call, on the result of `len` elements.
    pub(super) fn then(&mut self, next: &Self, len: usize) {
        let number = self.kernels.len() + 1;
        let known = self.operands.len() - 2;
        self.packed.extend(next.packed.iter().map(|(i, bytes)| (i + known, bytes.clone())));
        self.kernels.extend(&next.kernels);
        self.between.push(len);
        self.operands[1] = next.operands[1].clone();
        for operand in &next.operands[2..] {
            let name = if self.operands.iter().any(|known| known.name == operand.name) {
                format!("{}_{number}", operand.name)
            } else {
                operand.name.clone()
            };
            self.operands.push(CallOperand { name, ..operand.clone() });
        }
    }

    /// Name of the device's method: `conv2d_i8_then_add_i8`.
    #[must_use]
    pub fn name(&self) -> String {
        self.kernels.iter().map(Kernel::name).collect::<Vec<_>>().join("_then_")
    }
}
