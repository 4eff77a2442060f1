//! A kernel that refuses, in runs of rows.

use aot_rt::kernels::{Kernel, Mode};
use aot_rt::{KernelEntry, KernelError, Tensor};

use crate::generated::digits_int8_registry_rows::Runner;

const ROW: [i8; 8] = [1, -2, 30, -40, 50, -60, 70, -80];

/// Refuses.
fn refuse(_: &Kernel, _: Mode, _: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    Err(KernelError::Unsupported)
}

#[test]
fn rows_start_anew_when_a_kernel_refuses() {
    let own = Runner::bind(&[Runner::KERNELS]).expect("the model has its own kernels");
    let image: Vec<i8> = ROW.repeat(8);
    let mut expected = [0; 10];
    let image = image.as_slice().try_into().expect("there are 64 pixels");
    Runner::new().run(&own, image, &mut expected).expect("its own kernels do not refuse");

    for entry in Runner::KERNELS {
        let refusing = [KernelEntry { name: entry.name, function: refuse }];
        let kernels = Runner::bind(&[&refusing, Runner::KERNELS]).expect("there are all kernels");
        let mut runner = Runner::new();
        let mut scores = [0; 10];
        // In some row, the kernel is called.
        let refused = (0..8).find_map(|_| runner.feed_row(&kernels, &ROW, &mut scores).err());
        let error = refused.expect("each kernel is called");
        assert_eq!((error.step.kernel, error.error), (Some(entry.name), KernelError::Unsupported));
        // The next row is the first.
        for row in 0..8 {
            let last = runner.feed_row(&own, &ROW, &mut scores).expect("its own kernels do not refuse");
            assert_eq!(last, row == 7);
        }
        assert_eq!(scores, expected, "{}", entry.name);
    }
}
