//! Devices with own memory on the caller's arrays, beside memory that the CPU reaches, and with two
//! pools.

use std::cell::RefCell;
use std::convert::Infallible;

use aot_rt::kernels::FullyConnectedF32;
use aot_rt::{Device, DeviceMemory, DeviceOperand, DeviceTensor, StepInfo};

use crate::memory::{INPUTS, Memory};
use crate::mock::product;
use crate::weights::{FIRST, LAST, WITHIN};
use crate::{far, mixed, moved};

/// A device that has only its own memory, on one pool or two.
struct Banks(Vec<Memory>);

impl Banks {
    fn of(pools: &[(&'static str, usize)]) -> Self {
        Self(pools.iter().map(|(pool, bytes)| Memory::new(pool, *bytes)).collect())
    }

    fn bank(&mut self, at: DeviceTensor) -> &mut Memory {
        self.0.iter_mut().find(|memory| memory.pool == at.pool).expect("the pool is the device's")
    }

    fn product(&mut self, x: DeviceTensor, y: DeviceTensor, weights: &[f32]) {
        let x = self.bank(x).load(x);
        self.bank(y).store(y, &product(&x, weights));
    }
}

impl Device for Banks {
    type Error = Infallible;
}

impl DeviceMemory for Banks {
    fn copy_in(&mut self, _: &'static StepInfo, to: DeviceTensor, from: &[u8]) -> Result<(), Infallible> {
        self.bank(to).copy_in(to, from);
        Ok(())
    }

    fn copy_out(
        &mut self,
        _: &'static StepInfo,
        from: DeviceTensor,
        to: &mut [u8],
    ) -> Result<(), Infallible> {
        self.bank(from).copy_out(from, to);
        Ok(())
    }
}

impl far::FarNpu for Banks {
    fn fully_connected_f32(
        &mut self,
        _: &'static StepInfo,
        _: &'static FullyConnectedF32,
        x: DeviceTensor,
        y: DeviceTensor,
        weights: &[f32],
        _: &[f32],
    ) -> Result<(), Infallible> {
        self.product(x, y, weights);
        Ok(())
    }
}

fn chain(x: &[f32]) -> Vec<f32> {
    let weights = [FIRST.concat(), WITHIN.concat(), LAST.concat()];
    weights.iter().fold(x.to_vec(), |x, weights| product(&x, weights))
}

#[test]
fn arrays_of_the_caller_are_copied() {
    let mut devices = far::FarDevices::new(Banks::of(&[("npu_sram", far::Far::NPU_SRAM_BYTES)]));
    assert_eq!((far::Far::ARENA_BYTES, far::Far::NPU_SRAM_BYTES), (0, 32));
    for x in &INPUTS {
        let mut y = [0.0; 2];
        let Ok(()) = far::Far::new().run(&mut devices, x, &mut y);
        assert_eq!(y[..], chain(x));
        let mut y = [0.0; 2];
        let Ok(()) = far::Far::new().start(&mut devices, x, &mut y).finish() else { panic!("nothing fails") };
        assert_eq!(y[..], chain(x));
    }
}

/// A device that reaches the CPU's memory and has its own.
struct Both(Memory);

impl Device for Both {
    type Error = Infallible;
}

/// Nothing is copied: what the CPU uses, too, is in memory that both reach.
impl mixed::MixedNpu for Both {
    fn fully_connected_f32(
        &mut self,
        step: &'static StepInfo,
        _: &'static FullyConnectedF32,
        x: DeviceOperand<&[f32]>,
        y: DeviceOperand<&mut [f32]>,
        weights: &[f32],
        _: &[f32],
    ) -> Result<(), Infallible> {
        assert_eq!(matches!(x, DeviceOperand::Slice(_)), step.node == "first");
        assert_eq!(matches!(y, DeviceOperand::Slice(_)), step.node == "last");
        let x = match x {
            DeviceOperand::Slice(x) => x.to_vec(),
            DeviceOperand::Tensor(x) => self.0.load(x),
        };
        let result = product(&x, weights);
        match y {
            DeviceOperand::Slice(y) => y.copy_from_slice(&result),
            DeviceOperand::Tensor(y) => self.0.store(y, &result),
        }
        Ok(())
    }
}

#[test]
fn what_a_device_alone_uses_is_where_that_costs_least() {
    type Net = mixed::Mixed;
    assert_eq!((Net::NPU_SRAM_BYTES, Net::STEPS.len()), (32, 3));
    let mut devices = mixed::MixedDevices::new(Both(Memory::new("npu_sram", Net::NPU_SRAM_BYTES)));
    for x in &INPUTS {
        let Ok(y) = Net::new().run(&mut devices, x).copied();
        assert_eq!(y[..], chain(x));
    }
}

/// Memory that two devices share: one computes, the other one copies.
#[derive(Clone, Copy)]
struct Shared<'b>(&'b RefCell<Banks>);

impl moved::MovedNpu for Shared<'_> {
    fn fully_connected_f32(
        &mut self,
        _: &'static StepInfo,
        _: &'static FullyConnectedF32,
        x: DeviceTensor,
        y: DeviceTensor,
        weights: &[f32],
        _: &[f32],
    ) -> Result<(), Infallible> {
        self.0.borrow_mut().product(x, y, weights);
        Ok(())
    }
}

impl Device for Shared<'_> {
    type Error = Infallible;
}

impl DeviceMemory for Shared<'_> {
    fn copy_in(&mut self, step: &'static StepInfo, to: DeviceTensor, from: &[u8]) -> Result<(), Infallible> {
        assert_eq!(step.device, Some("dma"));
        self.0.borrow_mut().copy_in(step, to, from)
    }

    fn copy_out(
        &mut self,
        step: &'static StepInfo,
        from: DeviceTensor,
        to: &mut [u8],
    ) -> Result<(), Infallible> {
        assert_eq!(step.device, Some("dma"));
        self.0.borrow_mut().copy_out(step, from, to)
    }
}

impl moved::MovedDma for Shared<'_> {}

#[test]
fn a_device_that_only_copies() {
    type Net = moved::Moved;
    assert_eq!((Net::BANK_A_BYTES, Net::BANK_B_BYTES), (16, 16));
    let banks = RefCell::new(Banks::of(&[("bank_a", 16), ("bank_b", 16)]));
    let mut devices = moved::MovedDevices::new(Shared(&banks), Shared(&banks));
    for x in &INPUTS {
        let Ok(y) = Net::new().run(&mut devices, x).copied();
        assert_eq!(y[..], chain(x));
    }
}
