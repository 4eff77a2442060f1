//! What tests a model with devices where these are not: a runner behind byte slices, whose devices
//! are one that computes with the runtime's own kernels.
//!
//! The text names what surrounds it: `Reference`, the device, and its function `compute`, as the
//! tool's template for bundles has them.

use std::collections::BTreeSet;

use aot_rt::{Access, Activate};

use super::devices::Devices;
use super::literal::array;
use super::memories::{Holding, Owner};
use super::ports::{Port, Ports};
use super::runner::Runner;
use super::untyped::{arrays, slices, tensor_infos};
use super::writer::{CALL_WIDTH, Code, STRUCT_WIDTH};
use crate::Model;
use crate::config::{Calls, Placement};
use crate::error::Problem;
use crate::program::{Call, Step};

/// Rust source of a test, and what it includes.
#[derive(Clone, Debug)]
pub struct ReferenceDevices {
    /// Items of the test.
    pub text: String,
    /// Constants of steps in the order in which the runtime's kernels read them, for the files
    /// `packed0.bin`, `packed1.bin`, and so on.
    pub packed: Vec<Vec<u8>>,
}

/// A runner for a test of `model`, if that has steps for devices. `krate` is the crate that exports
/// what was generated, `folder` where the test finds constants.
///
/// # Errors
///
/// When a device's name cannot be one in generated code; when tensors are in memory that the CPU does
/// not reach, for which the test has none.
pub fn reference_devices(
    model: &Model,
    krate: &str,
    folder: &str,
) -> Result<Option<ReferenceDevices>, Problem> {
    let ports = Ports::new(&model.compiled, &model.config, Owner::runner(model));
    let devices = Devices::new(model)?;
    if !devices.is_used() {
        return Ok(None);
    }
    check_memory(model)?;
    let test = Test { runner: Runner { model, ports: &ports, devices: &devices } };
    let (mut code, mut packed) = (Code::new(0), Vec::new());
    code.wide_list(&format!("use {krate}::{{"), &test.names(), "};");
    test.calls(&mut code, folder, &mut packed);
    devices.implementations(&mut code);
    test.declaration(&mut code);
    test.model(&mut code);
    Ok(Some(ReferenceDevices { text: code.into_text(), packed }))
}

/// Refuses memory of devices: the one of the test computes on the CPU.
fn check_memory(model: &Model) -> Result<(), Problem> {
    let mut pools = model.compiled.workspaces.iter();
    let Some(pool) = pools.find(|pool| !pool.is_ram() && pool.bytes > 0) else { return Ok(()) };
    let message = format!(
        "the model has tensors in the pool `{}`, which `cpu` does not reach; the test of a bundle runs on \
         the CPU",
        pool.name
    );
    Err(Problem::new(message).help("add `cpu` to the `reach` of the pool, or leave the pool out"))
}

struct Test<'m> {
    runner: Runner<'m>,
}

impl Test<'_> {
    /// What it needs of the crate.
    fn names(&self) -> Vec<String> {
        let Runner { ports, devices, .. } = self.runner;
        let errors = devices.error();
        let mut names: BTreeSet<_> = devices.exports().into_iter().filter(|name| *name != errors).collect();
        names.insert(self.runner.name().to_owned());
        names.extend(self.runner.inputs_struct());
        names.extend(self.runner.outputs_struct().filter(|_| ports.output_place == Placement::Caller));
        names.extend(self.runner.kernels_struct());
        names.into_iter().collect()
    }

    /// What the device has to know of each step.
    fn calls(&self, code: &mut Code, folder: &str, packed: &mut Vec<Vec<u8>>) {
        let steps = self.runner.model.compiled.program.steps.iter().flat_map(Step::with_nested);
        code.blank();
        code.doc("The steps of devices.");
        code.block("const CALLS: &[Call] = &[", "];", |code| {
            for (step, call) in steps.filter_map(|step| Some((step, step.call()?))) {
                let bytes = |(len, kernel): (&usize, &aot_rt::kernels::Kernel)| {
                    len * kernel.operands()[1].dtype.size()
                };
                let between: Vec<_> = call.between.iter().zip(&call.kernels).map(bytes).collect();
                code.block("Call {", "},", |code| {
                    code.line(format!("step: {:?},", step.name));
                    code.line(format!("between: &{},", array(&between)));
                    code.block("packed: &[", "],", |code| {
                        for (position, bytes) in &call.packed {
                            let file = format!("{folder}/packed{}.bin", packed.len());
                            code.line(format!("({position}, include_bytes!({file:?})),"));
                            packed.push(bytes.clone());
                        }
                    });
                });
            }
        });
    }

    fn declaration(&self, code: &mut Code) {
        let Runner { model, devices, .. } = self.runner;
        let name = self.runner.name();
        let reference = if self.runner.holding() == Holding::Static { "" } else { "&'static mut " };
        let types = devices.list.iter().map(|device| match device.calls {
            Calls::Registry => format!("aot_rt::BoundDevice<Reference, {}>", devices.called(device).len()),
            Calls::Direct | Calls::Packed => "Reference".to_owned(),
        });
        let types: Vec<_> = types.collect();
        code.blank();
        code.doc(format!("[`{}`] and its devices.", model.type_name));
        code.block("pub struct Runner {", "}", |code| {
            code.line(format!("net: {reference}{name},"));
            code.line(format!("devices: {}<{}>,", devices.holder(), types.join(", ")));
        });
        code.blank();
        code.block("impl Runner {", "}", |code| {
            code.doc("The one in static memory, with active devices.");
            code.block("pub fn take() -> Option<Self> {", "}", |code| {
                let values = devices.list.iter().map(|device| match device.calls {
                    Calls::Registry => format!(
                        "{}::bind_{}(Reference, &[BOUND]).expect(\"the kernels are there\")",
                        devices.holder(),
                        device.name
                    ),
                    Calls::Direct | Calls::Packed => "Reference".to_owned(),
                });
                let by_caller = devices.list.iter().any(|device| device.activate == Activate::Caller);
                let binding = if by_caller { "let mut" } else { "let" };
                let open = format!("{binding} devices = {}::new(", devices.holder());
                code.list(&open, &values.collect::<Vec<_>>(), ");", CALL_WIDTH);
                if by_caller {
                    code.line("devices.activate().expect(\"nothing fails\");");
                }
                code.line(format!("Some(Self {{ net: {name}::take()?, devices }})"));
            });
        });
    }

    /// `impl aot_rt::Model`.
    fn model(&self, code: &mut Code) {
        let Runner { model, ports, .. } = self.runner;
        let name = self.runner.name();
        code.blank();
        code.block("impl aot_rt::Model for Runner {", "}", |code| {
            code.line(format!("const NAME: &'static str = {:?};", model.compiled.program.name));
            tensor_infos(code, name, "INPUTS", &ports.inputs);
            tensor_infos(code, name, "OUTPUTS", &ports.outputs);
            code.line(format!("const STEPS: &'static [aot_rt::StepInfo] = {name}::STEPS;"));
            code.blank();
            code.line("fn run_bytes_with(");
            code.line("    &mut self,");
            code.line("    instrument: &mut impl aot_rt::Instrument,");
            code.line("    inputs: &[&[u8]],");
            code.line("    outputs: &mut [&mut [u8]],");
            code.block(") -> Result<(), aot_rt::IoError> {", "}", |code| self.run_bytes(code));
        });
    }

    fn run_bytes(&self, code: &mut Code) {
        let Ports { inputs, outputs, output_place, .. } = self.runner.ports;
        slices(code, inputs, "inputs", "InputCount");
        slices(code, outputs, "outputs", "OutputCount");
        arrays(code, inputs, "input_elements", false);
        arrays(code, outputs, "output_elements", false);
        if let Some(kernels) = self.runner.kernels_struct() {
            code.line(format!("let kernels = &{kernels}::default();"));
        }
        code.line("let devices = &mut self.devices;");
        let mut given = vec!["instrument".to_owned()];
        given.extend(self.runner.company_arguments());
        given.extend(named(code, "inputs", self.runner.inputs_struct(), inputs));
        if *output_place == Placement::Caller {
            given.extend(named(code, "outputs", self.runner.outputs_struct(), outputs));
        }
        let gives = *output_place == Placement::Workspace && !outputs.is_empty();
        let open = if gives { "let result = self.net.run_with(" } else { "self.net.run_with(" };
        code.list(open, &given, ").expect(\"the kernels know their operands\");", CALL_WIDTH);
        match outputs.as_slice() {
            _ if !gives => (),
            [port] => code.line(format!("*{} = *result;", port.ident)),
            ports => ports.iter().for_each(|port| code.line(format!("*{0} = *result.{0};", port.ident))),
        }
        code.line("Ok(())");
    }
}

/// The arguments for ports, of which a struct is made where there is one.
fn named(code: &mut Code, variable: &str, structure: Option<String>, ports: &[Port<'_>]) -> Vec<String> {
    let names: Vec<_> = ports.iter().map(|port| port.ident.clone()).collect();
    let Some(structure) = structure else { return names };
    code.list(&format!("let {variable} = {structure} {{ "), &names, " };", STRUCT_WIDTH);
    vec![variable.to_owned()]
}

/// The call of `compute` for the method of a device.
pub(super) fn computed(code: &mut Code, call: &Call) {
    let kernels = call.kernels.iter().enumerate().map(|(i, kernel)| {
        let params = if i == 0 { "params".to_owned() } else { format!("params_{}", i + 1) };
        format!("&aot_rt::kernels::Kernel::{}(*{params})", kernel.variant())
    });
    code.list(
        "let kernels: &[&aot_rt::kernels::Kernel] = &[",
        &kernels.collect::<Vec<_>>(),
        "];",
        CALL_WIDTH,
    );
    let tensor = |operand: &crate::program::CallOperand| {
        let method = if operand.access == Access::Write { "write" } else { "read" };
        format!("aot_rt::Tensor::{method}({})", operand.name)
    };
    let tensors: Vec<_> = call.operands.iter().map(tensor).collect();
    code.list("let tensors = &mut [", &tensors, "];", CALL_WIDTH);
    code.line("compute(step, kernels, tensors)");
}

/// The entries of kernels that are bound by name.
pub(super) fn bound(code: &mut Code, names: &BTreeSet<String>) {
    code.blank();
    code.block("const BOUND: &[aot_rt::DeviceEntry<Reference>] = &[", "];", |code| {
        for name in names {
            code.line(format!(
                "aot_rt::DeviceEntry {{ name: {name:?}, function: <Reference as PackedDevice>::call }},"
            ));
        }
    });
}
