//! A published int8 model whose convolutions, or all of whose layers, are the user's.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use aot_build::weights::npy;
use aot_rt::fixed_point::{Multiplier, Rounding};
use aot_rt::kernels::{
    self, Apart, AveragePool2dI8, Conv2dI8, DepthwiseConv2dI8, FullyConnectedI8, SoftmaxI8,
};
use aot_rt::{Device, StepInfo};

use crate::published::{
    Convolutions, ConvolutionsDevices, ConvolutionsNpu, Everything, EverythingDevices, EverythingNpu,
};

/// Convolutions as the specification has them, cell by cell.
struct Plain {
    calls: usize,
}

impl Device for Plain {
    type Error = Infallible;
}

/// The operands behind `x` and `y`.
struct Layer<'a> {
    weights: &'a [i8],
    bias: &'a [i32],
    multipliers: &'a [i32],
    shifts: &'a [i8],
}

fn convolution(p: &Conv2dI8, x: &[i8], y: &mut [i8], layer: &Layer<'_>) {
    let window = &p.window;
    let ([height, width], [out_height, out_width]) = (window.input, window.output);
    assert_eq!((window.batch, p.groups), (1, 1));
    let at = |out: usize, axis: usize, cell: usize| {
        (out * window.stride[axis] + cell * window.dilation[axis]).checked_sub(window.padding[axis])
    };
    let [rows, columns] = window.kernel;
    let filter = rows * columns * p.in_channels;
    for (i, y) in y.iter_mut().enumerate() {
        let channel = i % p.out_channels;
        let [down, right] = [i / p.out_channels / out_width % out_height, i / p.out_channels % out_width];
        let mut sum = layer.bias.get(channel).copied().unwrap_or(0);
        for cell in 0..rows * columns {
            let (Some(row), Some(column)) = (at(down, 0, cell / columns), at(right, 1, cell % columns))
            else {
                continue;
            };
            if row >= height || column >= width {
                continue;
            }
            for c in 0..p.in_channels {
                let x = i32::from(x[(row * width + column) * p.in_channels + c]) - p.input_zero_point;
                sum += x * i32::from(layer.weights[channel * filter + cell * p.in_channels + c]);
            }
        }
        let multiplier =
            Multiplier { multiplier: layer.multipliers[channel], shift: layer.shifts[channel].into() };
        let sum = multiplier.apply(sum, Rounding::Double) + p.output.zero_point;
        *y = i8::try_from(sum.clamp(p.output.min, p.output.max)).unwrap();
    }
}

macro_rules! conv2d_i8 {
    () => {
        fn conv2d_i8(
            &mut self,
            _: &'static StepInfo,
            params: &'static Conv2dI8,
            x: &[i8],
            y: &mut [i8],
            weights: &[i8],
            bias: &[i32],
            multipliers: &[i32],
            shifts: &[i8],
        ) -> Result<(), Infallible> {
            self.calls += 1;
            convolution(params, x, y, &Layer { weights, bias, multipliers, shifts });
            Ok(())
        }
    };
}

impl ConvolutionsNpu for Plain {
    conv2d_i8!();
}

impl EverythingNpu for Plain {
    conv2d_i8!();

    fn average_pool2d_i8(
        &mut self,
        _: &'static StepInfo,
        params: &'static AveragePool2dI8,
        x: &[i8],
        y: &mut [i8],
    ) -> Result<(), Infallible> {
        self.calls += 1;
        kernels::average_pool2d_i8(params, Apart { x, y });
        Ok(())
    }

    fn depthwise_conv2d_i8(
        &mut self,
        _: &'static StepInfo,
        params: &'static DepthwiseConv2dI8,
        x: &[i8],
        y: &mut [i8],
        weights: &[i8],
        bias: &[i32],
        multipliers: &[i32],
        shifts: &[i8],
    ) -> Result<(), Infallible> {
        self.calls += 1;
        kernels::depthwise_conv2d_i8(params, Apart { x, y }, weights, bias, multipliers, shifts);
        Ok(())
    }

    fn fully_connected_i8(
        &mut self,
        _: &'static StepInfo,
        params: &'static FullyConnectedI8,
        x: &[i8],
        y: &mut [i8],
        weights: &[i8],
        bias: &[i32],
        multipliers: &[i32],
        shifts: &[i8],
    ) -> Result<(), Infallible> {
        self.calls += 1;
        kernels::fully_connected_i8(params, x, y, weights, bias, multipliers, shifts);
        Ok(())
    }

    fn softmax_i8(
        &mut self,
        _: &'static StepInfo,
        params: &'static SoftmaxI8,
        x: &[i8],
        y: &mut [i8],
    ) -> Result<(), Infallible> {
        self.calls += 1;
        kernels::softmax_i8(params, Apart { x, y });
        Ok(())
    }
}

/// Inputs, and what the reference gives for them.
fn sets() -> Vec<[Vec<i8>; 2]> {
    let folder = Path::new(env!("KWS_FOLDER"));
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |folder: &PathBuf, name: &str| {
        let file = std::fs::read(folder.join(name)).unwrap();
        let array = npy::read(&file).unwrap();
        array.bytes.iter().map(|byte| byte.cast_signed()).collect()
    };
    let folders = entries.filter(|folder| folder.join("in0.npy").is_file());
    folders.map(|folder| [read(&folder, "in0.npy"), read(&folder, "out0.npy")]).collect()
}

#[test]
fn the_reference_gives_the_same_bits() {
    let mut convolutions = ConvolutionsDevices::new(Plain { calls: 0 });
    let mut everything = EverythingDevices::new(Plain { calls: 0 });
    let (mut some, mut all) = (Convolutions::new(), Everything::new());
    let sets = sets();
    assert!(!sets.is_empty());
    for [x, expected] in &sets {
        let x = x[..].try_into().unwrap();
        let Ok(y) = some.run(&mut convolutions, x);
        assert_eq!(y[..], expected[..]);
        let Ok(y) = all.run(&mut everything, x);
        assert_eq!(y[..], expected[..]);
    }
    let on_device = Convolutions::STEPS.iter().filter(|step| step.device == Some("npu")).count();
    assert_eq!(convolutions.npu().calls, on_device * sets.len());
    assert_eq!(everything.npu().calls, Everything::STEPS.len() * sets.len());
}
