//! The three calling conventions give the same numbers; kernels that are bound by name can
//! be the user's own.
use std::cell::Cell;

use aot_rt::kernels::{Kernel, Mode, packed};
use aot_rt::{KernelEntry, KernelError, Tensor};

aot_macros::aot_model! { struct Direct = "models/two_layers.json"; }
aot_macros::aot_model! { struct Packed = "models/two_layers.json" { calls = "packed" } }
aot_macros::aot_model! { struct Net = "models/two_layers.json" { calls = "registry" } }

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// Counts its calls, and lets the kernel of `aot_rt` compute.
fn counted(kernel: &Kernel, mode: Mode, tensors: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    CALLS.set(CALLS.get() + 1);
    packed::fully_connected_f32(kernel, mode, tensors)
}

const OURS: &[KernelEntry] = &[KernelEntry { name: "fully_connected_f32", function: counted }];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kernels = Net::bind(&[OURS, Net::KERNELS])?;
    let mut net = Net::new();
    let y = net.run(&kernels, &[1.0, -2.0])?;

    assert_eq!(y, Direct::new().run(&[1.0, -2.0]));
    assert_eq!(y, Packed::new().run(&[1.0, -2.0]));
    assert_eq!(CALLS.get(), 2);
    Ok(())
}
