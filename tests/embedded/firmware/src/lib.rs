//! What an image holds beside a model: it takes inputs from a file of the host, runs the
//! model, and writes results and measurements to files, all by semihosting. No formatting
//! and no panic path, so that what the test runner finds in an image is the model's.
#![no_std]

#[cfg(target_arch = "arm")]
#[path = "count_arm.rs"]
mod count;
#[cfg(target_arch = "riscv32")]
#[path = "count_riscv.rs"]
mod count;
mod host;

pub use board::{entry, exit};
use host::File;

/// A model in the way that measures it: its arrays are regions of its workspace.
pub trait Image {
    /// Where the input is expected.
    fn input(&mut self) -> &mut [u8];
    /// Runs the model.
    fn run(&mut self);
    /// Where the output is.
    fn output(&self) -> &[u8];
}

/// The program of a model: `image!("/…/runner.rs", input_1_mut, identity);`
#[macro_export]
macro_rules! image {
    ($runner:literal, $input:ident, $output:ident) => {
        include!($runner);

        impl $crate::Image for Runner {
            #[inline(always)]
            fn input(&mut self) -> &mut [u8] {
                $crate::bytes_mut(self.$input())
            }
            fn run(&mut self) {
                self.run_in_place();
            }
            #[inline(always)]
            fn output(&self) -> &[u8] {
                $crate::bytes(self.$output())
            }
        }

        #[$crate::entry]
        fn main() -> ! {
            match Runner::take() {
                Some(runner) => $crate::measure(runner),
                None => $crate::exit(false),
            }
        }
    };
}

/// The program without a model: what all images have.
#[macro_export]
macro_rules! empty_image {
    () => {
        struct Runner([u8; 1]);

        impl $crate::Image for Runner {
            #[inline(always)]
            fn input(&mut self) -> &mut [u8] {
                &mut self.0
            }
            fn run(&mut self) {}
            #[inline(always)]
            fn output(&self) -> &[u8] {
                &self.0
            }
        }

        #[$crate::entry]
        fn main() -> ! {
            $crate::measure(&mut Runner([0]))
        }
    };
}

/// Elements that may hold any bits.
pub trait Plain: Copy {}
impl Plain for i8 {}
impl Plain for u8 {}
impl Plain for i16 {}
impl Plain for i32 {}
impl Plain for f32 {}
impl Plain for u64 {}

/// The bytes of an array.
pub fn bytes<T: Plain, const LEN: usize>(array: &[T; LEN]) -> &[u8] {
    // SAFETY: `T` is a number, which has no padding.
    unsafe { core::slice::from_raw_parts(array.as_ptr().cast(), size_of_val(array)) }
}

/// The bytes of an array, exclusively.
pub fn bytes_mut<T: Plain, const LEN: usize>(array: &mut [T; LEN]) -> &mut [u8] {
    // SAFETY: `T` is a number, which has no padding and may be any bits.
    unsafe { core::slice::from_raw_parts_mut(array.as_mut_ptr().cast(), size_of_val(array)) }
}

/// Runs the model on one input after the other from the file `inputs`. Of each run the
/// output goes to `outputs`, and two words to `measured`: ticks, and bytes of stack. The
/// first run is measured for the stack, the others for ticks.
pub fn measure(model: &mut impl Image) -> ! {
    let inputs = File::open(c"inputs", host::READ);
    let outputs = File::open(c"outputs", host::WRITE);
    let measured = File::open(c"measured", host::WRITE);
    let mut first = true;
    while inputs.read(model.input()) {
        let words = if first {
            [0, board::deepest(|| model.run()).1 as u64]
        } else {
            [count::ticks(|| model.run()), 0]
        };
        first = false;
        if !outputs.write(model.output()) || !measured.write(bytes(&words)) {
            exit(false);
        }
    }
    exit(true)
}
