//! The untyped face of the runner: `impl aot_rt::Model`.

use super::environment::INSTRUMENT;
use super::hooks::variant;
use super::memories::Holding;
use super::ports::Port;
use super::runner::Runner;
use super::writer::{Code, STRUCT_WIDTH};
use crate::config::{InputPlacement, Placement};

impl Runner<'_> {
    /// `impl aot_rt::Model`.
    pub(super) fn untyped(&self, code: &mut Code) {
        let lifetime = if self.holding() == Holding::Shared { "<'_>" } else { "" };
        code.block(format!("impl ::aot_rt::Model for {}{lifetime} {{", self.model.type_name), "}", |code| {
            code.line(format!("const NAME: &'static str = {:?};", self.model.compiled.program.name));
            tensor_infos(code, "INPUTS", &self.ports.inputs);
            tensor_infos(code, "OUTPUTS", &self.ports.outputs);
            code.line("const STEPS: &'static [::aot_rt::StepInfo] = Self::STEPS;");
            code.blank();
            code.line("fn run_bytes_with(");
            code.line("    &mut self,");
            code.line(format!("    {INSTRUMENT},"));
            code.line("    inputs: &[&[u8]],");
            code.line("    outputs: &mut [&mut [u8]],");
            code.block(") -> ::core::result::Result<(), ::aot_rt::IoError> {", "}", |code| {
                self.run_bytes(code)
            });
        });
    }

    fn run_bytes(&self, code: &mut Code) {
        let (inputs, outputs) = (&self.ports.inputs, &self.ports.outputs);
        slices(code, inputs, "inputs", "InputCount");
        slices(code, outputs, "outputs", "OutputCount");
        arrays(code, inputs, "input_elements", self.ports.input_place == InputPlacement::Workspace);
        arrays(code, outputs, "output_elements", self.ports.output_place == Placement::Workspace);
        // What `run` or `run_in_place` is given.
        let mut given = Vec::new();
        let mut method = "run_with";
        let names = |ports: &[Port<'_>]| ports.iter().map(|port| port.ident.clone()).collect::<Vec<_>>();
        match (self.ports.input_place, self.inputs_struct()) {
            (InputPlacement::Workspace, _) if !inputs.is_empty() => {
                method = "run_in_place_with";
                for port in inputs {
                    let (memory, region) = (&self.ports.memory(port).name, port.place.bytes());
                    code.line(format!("*self.{memory}.write::<{region}>() = *{};", port.ident));
                }
            }
            (_, Some(name)) => {
                code.list(&format!("let inputs = {name} {{ "), &names(inputs), " };", STRUCT_WIDTH);
                given.push("inputs".into());
            }
            (_, None) => given.extend(names(inputs)),
        }
        match (self.ports.output_place, self.outputs_struct()) {
            (Placement::Workspace, _) => (),
            (Placement::Caller, Some(name)) => {
                code.list(&format!("let outputs = {name} {{ "), &names(outputs), " };", STRUCT_WIDTH);
                given.push("outputs".into());
            }
            (Placement::Caller, None) => given.extend(names(outputs)),
        }
        if let Some(kernels) = self.kernels_struct() {
            code.line(format!("let kernels = &{kernels}::default();"));
        }
        let called = format!("self.{method}({});", self.passed_on(given));
        if self.fallible() {
            code.line(format!("let done = {called}"));
            code.line("done.map_err(::aot_rt::IoError::Kernel)?;");
        } else {
            code.line(called);
        }
        if self.ports.output_place == Placement::Workspace {
            for port in outputs {
                let (memory, region) = (&self.ports.memory(port).name, port.place.bytes());
                code.line(format!("*{} = *self.{memory}.read::<{region}>();", port.ident));
            }
        }
        code.line("Ok(())");
    }
}

fn tensor_infos(code: &mut Code, name: &str, ports: &[Port<'_>]) {
    let ty = "::aot_rt::TensorInfo";
    let open = format!("const {name}: &'static [{ty}] = &[");
    let fields = |code: &mut Code, port: &Port<'_>| {
        code.line(format!("name: {:?},", port.port.name));
        code.line(format!("dtype: ::aot_rt::DType::{},", variant(port.ty().dtype)));
        code.line(format!("shape: &Self::{}_SHAPE,", port.upper));
        let quantization = match port.quantization() {
            Some(_) => format!("Some(Self::{}_QUANTIZATION)", port.upper),
            None => "None".into(),
        };
        code.line(format!("quantization: {quantization},"));
    };
    match ports {
        [] => code.line(open + "];"),
        [port] => code.block(format!("{open}{ty} {{"), "}];", |code| fields(code, port)),
        ports => code.block(open, "];", |code| {
            for port in ports {
                code.block(format!("{ty} {{"), "},", |code| fields(code, port));
            }
        }),
    }
}

/// Names the slices, or fails on another number.
fn slices(code: &mut Code, ports: &[Port<'_>], slices: &str, error: &str) {
    let names: Vec<_> = ports.iter().map(|port| port.ident.clone()).collect();
    code.wide_list("let [", &names, &format!("] = {slices} else {{"));
    code.line(format!("    return Err(::aot_rt::IoError::{error});"));
    code.line("};");
}

/// Makes arrays of the slices: of bytes to be copied, or of elements to work on.
fn arrays(code: &mut Code, ports: &[Port<'_>], function: &str, as_bytes: bool) {
    for (i, port) in ports.iter().enumerate() {
        let ident = &port.ident;
        let array = if as_bytes {
            format!("u8, {}", super::literal::integer(port.ty().bytes()))
        } else {
            format!("{}, {}", port.element(), super::literal::integer(port.units()))
        };
        code.line(format!("let {ident} = ::aot_rt::{function}::<{array}>({ident}, {i})?;"));
    }
}
