//! Devices whose memory the CPU does not reach: only what is copied to it is there.

use aot_rt::kernels::BinaryF32;
use aot_rt::metadata::PoolKind;
use aot_rt::{DType, Device, DeviceCall, DeviceMemory, DeviceTensor, Elements, Instrument, StepInfo};

use crate::mock::{Fault, Log, Mock, product};
use crate::weights::{FIRST, LAST, WITHIN};
use crate::{open, sealed};

pub(crate) const X: [f32; 4] = [1.0, -2.0, 3.0, 5.0];

/// What memory holds that nobody has written.
const UNKNOWN: u8 = 0xa5;

/// Memory of a device.
pub(crate) struct Memory {
    pub(crate) pool: &'static str,
    bytes: Vec<u8>,
}

impl Memory {
    pub(crate) fn new(pool: &'static str, bytes: usize) -> Self {
        Self { pool, bytes: vec![UNKNOWN; bytes] }
    }

    fn bytes(&mut self, at: DeviceTensor) -> &mut [u8] {
        assert_eq!(at.pool, self.pool);
        &mut self.bytes[at.range()]
    }

    pub(crate) fn load(&mut self, from: DeviceTensor) -> Vec<f32> {
        assert_eq!(from.dtype, DType::F32);
        let values: Vec<f32> =
            self.bytes(from).as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(values.len(), from.len);
        values
    }

    pub(crate) fn store(&mut self, to: DeviceTensor, values: &[f32]) {
        assert_eq!((to.dtype, to.len), (DType::F32, values.len()));
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.bytes(to).copy_from_slice(&bytes);
    }

    pub(crate) fn copy_in(&mut self, to: DeviceTensor, from: &[u8]) {
        assert_eq!(to.dtype, DType::U8);
        self.bytes(to).copy_from_slice(from);
    }

    pub(crate) fn copy_out(&mut self, from: DeviceTensor, to: &mut [u8]) {
        assert_eq!(from.dtype, DType::U8);
        to.copy_from_slice(self.bytes(from));
    }
}

/// A device with its own memory, which it forgets when it is put to rest.
pub(crate) struct Unit<'l> {
    pub(crate) mock: Mock<'l>,
    pub(crate) memory: Memory,
}

impl<'l> Unit<'l> {
    pub(crate) fn new(name: &'static str, pool: &'static str, bytes: usize, log: &'l Log) -> Self {
        Self { mock: Mock { name, log }, memory: Memory::new(pool, bytes) }
    }
}

impl Device for Unit<'_> {
    type Error = Fault;

    fn activate(&mut self) -> Result<(), Fault> {
        self.mock.activate()
    }

    fn open(&mut self, step: &'static StepInfo) -> Result<(), Fault> {
        self.mock.open(step)
    }

    fn close(&mut self, step: &'static StepInfo) -> Result<(), Fault> {
        self.mock.close(step)
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        self.memory.bytes.fill(UNKNOWN);
        self.mock.deactivate()
    }
}

impl DeviceMemory for Unit<'_> {
    fn copy_in(&mut self, step: &'static StepInfo, to: DeviceTensor, from: &[u8]) -> Result<(), Fault> {
        self.mock.note(DeviceCall::CopyIn, Some(step))?;
        self.memory.copy_in(to, from);
        Ok(())
    }

    fn copy_out(&mut self, step: &'static StepInfo, from: DeviceTensor, to: &mut [u8]) -> Result<(), Fault> {
        self.mock.note(DeviceCall::CopyOut, Some(step))?;
        self.memory.copy_out(from, to);
        Ok(())
    }
}

/// Drivers of units that multiply by matrices in their own memory.
macro_rules! products {
    ($($interface:path)*) => {$(
        impl $interface for crate::memory::Unit<'_> {
            fn fully_connected_f32(
                &mut self,
                step: &'static aot_rt::StepInfo,
                _: &'static aot_rt::kernels::FullyConnectedF32,
                x: aot_rt::DeviceTensor,
                y: aot_rt::DeviceTensor,
                weights: &[f32],
                _: &[f32],
            ) -> Result<(), crate::mock::Fault> {
                self.mock.kernel(step)?;
                let x = self.memory.load(x);
                self.memory.store(y, &crate::mock::product(&x, weights));
                Ok(())
            }
        }
    )*};
}
pub(crate) use products;

products!(sealed::SealedNpu);

impl sealed::SealedAux for Mock<'_> {
    fn add_f32(
        &mut self,
        step: &'static StepInfo,
        _: &'static BinaryF32,
        x: &[f32],
        y: &mut [f32],
        b: &[f32],
    ) -> Result<(), Fault> {
        self.kernel(step)?;
        for ((y, x), b) in y.iter_mut().zip(x).zip(b) {
            *y = x + b;
        }
        Ok(())
    }
}

/// Bytes of the devices' memory are constants of the runner.
pub(crate) fn units(log: &Log) -> (Unit<'_>, Unit<'_>, Mock<'_>) {
    (
        Unit::new("npu", "npu_sram", sealed::Sealed::NPU_SRAM_BYTES, log),
        Unit::new("dsp", "dsp_sram", sealed::Sealed::DSP_SRAM_BYTES, log),
        Mock { name: "aux", log },
    )
}

fn devices(log: &Log) -> sealed::SealedDevices<Unit<'_>, Unit<'_>, Mock<'_>> {
    let (npu, dsp, aux) = units(log);
    sealed::SealedDevices::new(npu, dsp, aux)
}

/// What the model computes, said plainly.
pub(crate) fn expected(flag: bool) -> Vec<f32> {
    let within = product(&product(&X, &FIRST.concat()), &WITHIN.concat());
    let sum: Vec<f32> = within.iter().zip(&X).map(|(a, b)| a + b).collect();
    let back = product(&sum, &FIRST.concat());
    let chosen = product(&back, &if flag { WITHIN } else { FIRST }.concat());
    product(&chosen, &LAST.concat()).iter().map(|y| -y).collect()
}

pub(crate) const INPUTS: [[f32; 4]; 3] = [X, [0.0; 4], [-7.0, 0.25, 1e6, -1.5]];

#[test]
fn the_results_are_those_of_one_memory() {
    let log = Log::default();
    let mut devices = devices(&log);
    let (mut net, mut plain) = (sealed::Sealed::new(), open::Sealed::new());
    for x in &INPUTS {
        for flag in [[0], [1]] {
            let found = *net.run(&mut devices, sealed::SealedInputs { x, flag: &flag }).unwrap();
            let expected = plain.run(open::SealedInputs { x, flag: &flag });
            assert_eq!(found.map(f32::to_bits), expected.map(f32::to_bits));
        }
    }
    let y = net.run(&mut devices, sealed::SealedInputs { x: &X, flag: &[1] }).unwrap();
    assert_eq!(y[..], expected(true));
}

/// Opened, done and closed, for each step of a device.
pub(crate) const STEPS: [&str; 12] = [
    "npu copyin x",
    "npu kernel first",
    "npu copyout first",
    "dsp copyin first",
    "dsp kernel within",
    "dsp copyout within",
    "aux kernel sum",
    "npu copyin sum",
    "npu kernel back",
    "npu kernel yes",
    "npu kernel last",
    "npu copyout last",
];

/// The log of a run.
pub(crate) fn order() -> Vec<String> {
    let hooks = |hook: &str, names: [&str; 3]| names.map(|name| format!("{name}.{hook}"));
    let mut order = hooks("activate", ["npu", "dsp", "aux"]).to_vec();
    for step in STEPS {
        let words: Vec<_> = step.split(' ').collect();
        order.extend(["open", words[1], "close"].map(|call| format!("{}.{call} {}", words[0], words[2])));
    }
    order.extend(hooks("deactivate", ["aux", "dsp", "npu"]));
    order
}

#[test]
fn copies_are_steps_of_their_device() {
    let log = Log::default();
    let mut net = sealed::Sealed::new();
    net.run(&mut devices(&log), sealed::SealedInputs { x: &X, flag: &[1] }).unwrap();
    assert_eq!(log.text(), order());
    let copies = sealed::Sealed::STEPS.iter().filter(|step| step.operator == "copy");
    let copies: Vec<_> = copies.map(|step| (step.node, step.kernel, step.device, step.bytes)).collect();
    assert_eq!(
        copies,
        [
            ("x", Some("copy_in"), Some("npu"), 32),
            ("first", Some("copy_out"), Some("npu"), 32),
            ("first", Some("copy_in"), Some("dsp"), 32),
            ("within", Some("copy_out"), Some("dsp"), 32),
            ("sum", Some("copy_in"), Some("npu"), 32),
            ("last", Some("copy_out"), Some("npu"), 16),
        ]
    );
}

#[test]
fn memory_of_devices_is_no_ram() {
    type Net = sealed::Sealed;
    assert_eq!((Net::NPU_SRAM_BYTES, Net::DSP_SRAM_BYTES), (32, 32));
    assert_eq!(Net::ARENA_BYTES, Net::RAM_BYTES);
    assert!(size_of::<Net>() <= Net::RAM_BYTES.next_multiple_of(16));
    let pools: Vec<_> = Net::METADATA.pools.iter().filter(|pool| pool.kind == PoolKind::Workspace).collect();
    let found: Vec<_> = pools.iter().map(|pool| (pool.name, pool.bytes, pool.reach)).collect();
    let reach = |units| Some(units);
    assert_eq!(
        found,
        [
            ("dsp_sram", 32, reach(&["dsp"][..])),
            ("npu_sram", 32, reach(&["npu"])),
            ("ram", Net::RAM_BYTES, reach(&["cpu", "aux"])),
        ]
    );
    assert_eq!(Net::METADATA.sizes.arena_bytes, Net::RAM_BYTES);
}

/// The nodes and how many outputs of each were shown.
struct Shown(Vec<(&'static str, usize)>);

impl Instrument for Shown {
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        self.0.push((step.node, outputs.len()));
    }
}

/// What a device has in its memory is not shown.
#[test]
fn an_instrument_sees_what_the_cpu_reaches() {
    let log = Log::default();
    let mut shown = Shown(Vec::new());
    let inputs = sealed::SealedInputs { x: &X, flag: &[0] };
    sealed::Sealed::new().run_with(&mut shown, &mut devices(&log), inputs).unwrap();
    assert_eq!(
        shown.0,
        [
            ("x", 0),
            ("first", 0),
            ("first", 1),
            ("first", 0),
            ("within", 0),
            ("within", 1),
            ("sum", 1),
            ("sum", 0),
            ("back", 0),
            ("no", 0),
            ("choice", 0),
            ("last", 0),
            ("last", 1),
            ("turned", 1),
        ]
    );
}
