//! Tensors that are copied between the memories of devices.

use std::convert::Infallible;
use std::ops::Range;

use aot_rt::kernels::FullyConnectedF32;
use aot_rt::{Device, Elements, Instrument, StepInfo};

use crate::crossed::{Crossed, CrossedDevices, CrossedNpu};
use crate::mock::product;
use crate::not_crossed;

/// A device that notes where its tensors lie.
struct Unit {
    addresses: Range<usize>,
}

impl Unit {
    const fn new() -> Self {
        Self { addresses: Range { start: usize::MAX, end: 0 } }
    }

    fn note(&mut self, tensor: &[f32]) {
        let Range { start, end } = tensor.as_ptr_range();
        self.addresses = self.addresses.start.min(start.addr())..self.addresses.end.max(end.addr());
    }
}

impl Device for Unit {
    type Error = Infallible;
}

impl CrossedNpu for Unit {
    fn fully_connected_f32(
        &mut self,
        _: &'static StepInfo,
        _: &'static FullyConnectedF32,
        x: &[f32],
        y: &mut [f32],
        weights: &[f32],
        _: &[f32],
    ) -> Result<(), Infallible> {
        y.copy_from_slice(&product(x, weights));
        self.note(x);
        self.note(y);
        Ok(())
    }
}

/// Notes the copies and what they make.
struct Copies(Vec<(&'static str, Vec<u8>)>);

impl Instrument for Copies {
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        if step.operator == "copy" {
            let [Elements::I8(bytes)] = outputs else { panic!("{outputs:?}") };
            self.0.push((step.node, bytes.iter().map(|byte| byte.cast_unsigned()).collect()));
        }
    }
}

const INPUTS: [[f32; 4]; 3] = [[1.0, -2.0, 3.0, 0.5], [0.0; 4], [-7.0, 0.25, 1e6, -1.5]];

#[test]
fn the_results_are_those_of_one_memory() {
    let (mut net, mut devices) = (Crossed::new(), CrossedDevices::new(Unit::new(), Unit::new()));
    let mut plain = not_crossed::Crossed::new();
    for x in &INPUTS {
        let Ok(found) = net.run(&mut devices, x);
        let expected = plain.run(x);
        assert_eq!(found.difference.map(f32::to_bits), expected.difference.map(f32::to_bits));
        assert_eq!(found.scores.map(f32::to_bits), expected.scores.map(f32::to_bits));
    }
    let [left, right] = [devices.left(), devices.right()].map(|unit| unit.addresses.clone());
    assert!(left.end <= right.start || right.end <= left.start, "{left:?}, {right:?}");
    assert!(left.len() <= Crossed::LEFT_RAM_BYTES && right.len() <= Crossed::RIGHT_RAM_BYTES);
}

#[test]
fn copies_are_steps() {
    // One for both readers of `first`, one for `within`, which comes back.
    let copies = Crossed::STEPS.iter().filter(|step| step.operator == "copy");
    let copies: Vec<_> = copies.map(|step| (step.node, step.kernel, step.device, step.bytes)).collect();
    assert_eq!(copies, [("first", Some("copy_i8"), None, 32), ("within", Some("copy_i8"), None, 32)]);
    assert!(not_crossed::Crossed::STEPS.iter().all(|step| step.operator != "copy"));
}

#[test]
fn an_instrument_sees_what_is_copied() {
    let mut devices = CrossedDevices::new(Unit::new(), Unit::new());
    let mut copies = Copies(Vec::new());
    let Ok(_) = Crossed::new().run_with(&mut copies, &mut devices, &INPUTS[0]);
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    let first = product(&INPUTS[0], &crate::weights::FIRST.concat());
    let within = product(&first, &crate::weights::WITHIN.concat());
    assert_eq!(copies.0, [("first", bytes(&first)), ("within", bytes(&within))]);
}
