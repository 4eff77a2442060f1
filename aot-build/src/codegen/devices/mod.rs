//! The devices of a model: a trait for each kind with a method for each kernel that the model
//! calls, the struct that holds the devices, and the error that a run ends with.

mod bindings;
mod errors;
mod interface;

use aot_rt::Activate;

use super::names::{camel_case, is_snake_case};
use super::writer::{CALL_WIDTH, Code, MAX_WIDTH};
use crate::config::Calls;
use crate::error::{Location, Problem};
use crate::{Model, program};

/// Methods of the struct of devices, and names that its type parameters or variants of the
/// error would take from something else.
const TAKEN: [&str; 22] = [
    "action",
    "activate",
    "begin",
    "deactivate",
    "elements",
    "end",
    "inactive",
    "instrument",
    "into_inner",
    "kernel",
    "new",
    "none",
    "ok",
    "option",
    "read",
    "result",
    "run",
    "self",
    "some",
    "step_info",
    "workspace",
    "write",
];

/// Ends of names that other items have: `NetDevices`.
const TAKEN_KINDS: [&str; 11] = [
    "active", "devices", "error", "inputs", "kernels", "metadata", "outputs", "run", "step", "stepped",
    "until",
];

/// A device that the model calls, as generated code names it.
#[derive(Debug)]
pub(super) struct Device<'m> {
    /// Position in the program.
    pub(super) index: usize,
    /// Name, and that of the field.
    pub(super) name: &'m str,
    /// Its type parameter, and its variant of the error: `Npu`.
    pub(super) parameter: String,
    /// The trait of its kind, `NetNpu`, or the one that all have whose calls are packed.
    pub(super) interface: String,
    kind: &'m str,
    activate: Activate,
    pub(super) calls: Calls,
}

/// The devices that a model calls.
#[derive(Debug)]
pub(super) struct Devices<'m> {
    model: &'m Model,
    pub(super) list: Vec<Device<'m>>,
}

impl<'m> Devices<'m> {
    /// # Errors
    ///
    /// When a name cannot be one in generated code.
    pub(super) fn new(model: &'m Model) -> Result<Self, Problem> {
        let program = &model.compiled.program;
        let mut list: Vec<Device<'m>> = Vec::new();
        for index in program.called_devices() {
            let device = &program.devices[index];
            let parameter = camel_case(&device.name);
            let problem = |message: String| {
                let key = format!("devices.{}", device.name);
                Problem::new(message).at(Location::Key(key)).help("give it another name")
            };
            let is_free = |name: &String| {
                is_snake_case(name) && !TAKEN.contains(&name.as_str()) && !name.starts_with("bind_")
            };
            if !is_free(&device.name) || parameter == model.type_name {
                return Err(problem(format!("a device cannot be called `{}`", device.name)));
            }
            if !is_snake_case(&device.kind) || TAKEN_KINDS.contains(&device.kind.as_str()) {
                return Err(problem(format!("a kind of devices cannot be called `{}`", device.kind)));
            }
            let clashes = |known: &&Device<'_>| {
                let accessor = |a: &str, b: &str| a.strip_suffix("_mut") == Some(b);
                known.parameter == parameter
                    || accessor(known.name, &device.name)
                    || accessor(&device.name, known.name)
            };
            if let Some(known) = list.iter().find(clashes) {
                let names = format!("the names of devices `{}` and `{}` clash", known.name, device.name);
                return Err(problem(names));
            }
            let interface = match device.calls {
                Calls::Direct => format!("{}{}", model.type_name, camel_case(&device.kind)),
                Calls::Packed | Calls::Registry => "::aot_rt::PackedDevice".into(),
            };
            let program::Device { name, kind, activate, calls } = device;
            list.push(Device { index, name, parameter, interface, kind, activate: *activate, calls: *calls });
        }
        Ok(Self { model, list })
    }

    /// Whether the model calls any.
    pub(super) fn is_used(&self) -> bool {
        !self.list.is_empty()
    }

    /// Names of the items, to be exported.
    pub(super) fn exports(&self) -> Vec<String> {
        if !self.is_used() {
            return Vec::new();
        }
        let mut exports = vec![self.holder(), self.error()];
        for device in &self.list {
            if device.calls == Calls::Direct && !exports.contains(&device.interface) {
                exports.push(device.interface.clone());
            }
        }
        exports.sort();
        exports
    }

    /// The struct that holds them.
    pub(super) fn holder(&self) -> String {
        format!("{}Devices", self.model.type_name)
    }

    /// The error that a run ends with.
    pub(super) fn error(&self) -> String {
        format!("{}Error", self.model.type_name)
    }

    /// `<Npu: NetNpu, Dsp: NetDsp>`, for a function that is called `open` so far.
    pub(super) fn bounds(&self, code: &Code, open: &str) -> String {
        if !self.is_used() {
            return String::new();
        }
        let bound = |device: &Device<'_>| format!("{}: {}", device.parameter, device.interface);
        let bounds: Vec<_> = self.list.iter().map(bound).collect();
        let line = format!("<{}>", bounds.join(", "));
        if code.indent() * 4 + open.len() + line.len() < MAX_WIDTH {
            return line;
        }
        let indent = "    ".repeat(code.indent());
        let lines: String = bounds.iter().map(|bound| format!("{indent}    {bound},\n")).collect();
        format!("<\n{lines}{indent}>")
    }

    /// `<Npu, Dsp>`
    pub(super) fn parameters(&self) -> String {
        self.each(|device| device.parameter.clone())
    }

    /// `<Npu::Error, Dsp::Error>`
    pub(super) fn errors(&self) -> String {
        self.each(|device| format!("{}::Error", device.parameter))
    }

    fn each(&self, text: impl Fn(&Device<'_>) -> String) -> String {
        format!("<{}>", self.list.iter().map(text).collect::<Vec<_>>().join(", "))
    }

    /// What a run returns, where it returns `value` without devices.
    pub(super) fn result(&self, value: &str) -> String {
        match self.is_used() {
            true => format!("::core::result::Result<{value}, {}{}>", self.error(), self.errors()),
            false => value.to_owned(),
        }
    }

    /// `&mut NetDevices<Npu, Dsp>`
    pub(super) fn reference(&self) -> String {
        format!("&mut {}{}", self.holder(), self.parameters())
    }

    /// The parameter of a run for them.
    pub(super) fn parameter(&self) -> Option<String> {
        self.is_used().then(|| format!("devices: {}", self.reference()))
    }

    /// All items.
    pub(super) fn items(&self, code: &mut Code) {
        if !self.is_used() {
            return;
        }
        self.interfaces(code);
        self.declaration(code);
        self.access(code);
        self.order(code);
        self.bindings(code);
        self.error_items(code);
    }

    fn declaration(&self, code: &mut Code) {
        let (holder, parameters) = (self.holder(), self.parameters());
        code.blank();
        code.doc(format!(
            "The devices of [`{}`], in the order in which they are activated.",
            self.model.type_name
        ));
        code.line("#[derive(Debug)]");
        code.block(format!("pub struct {holder}{parameters} {{"), "}", |code| {
            for device in &self.list {
                code.line(format!("{}: ::aot_rt::ManagedDevice<{}>,", device.name, device.parameter));
            }
        });
    }

    /// What needs no driver: making, taking apart, looking at.
    fn access(&self, code: &mut Code) {
        let (holder, parameters) = (self.holder(), self.parameters());
        code.blank();
        code.block(format!("impl{parameters} {holder}{parameters} {{"), "}", |code| {
            code.doc("Inactive devices.");
            code.line("#[must_use]");
            let given = |device: &Device<'_>| format!("{}: {}", device.name, device.parameter);
            let given: Vec<_> = self.list.iter().map(given).collect();
            code.wide_list("pub const fn new(", &given, ") -> Self {");
            code.indented(|code| {
                code.block("Self {", "}", |code| self.list.iter().for_each(|device| made(code, device)));
            });
            code.line("}");
            code.blank();
            code.doc("The devices, as active as they are.");
            code.line("#[must_use]");
            let (ty, value) = match &self.list[..] {
                [device] => (device.parameter.clone(), format!("self.{}.into_inner()", device.name)),
                list => {
                    let types: Vec<_> = list.iter().map(|device| device.parameter.clone()).collect();
                    (format!("({})", types.join(", ")), String::new())
                }
            };
            code.block(format!("pub fn into_inner(self) -> {ty} {{"), "}", |code| {
                if value.is_empty() {
                    let values = self.list.iter().map(|device| format!("self.{}.into_inner()", device.name));
                    code.list("(", &values.collect::<Vec<_>>(), ")", CALL_WIDTH);
                } else {
                    code.line(value);
                }
            });
            for device in &self.list {
                let (name, parameter) = (device.name, &device.parameter);
                code.blank();
                code.doc(format!("Device `{name}`."));
                code.line("#[must_use]");
                code.block(format!("pub const fn {name}(&self) -> &{parameter} {{"), "}", |code| {
                    code.line(format!("self.{name}.get()"));
                });
                code.blank();
                code.doc(format!("Device `{name}`, to be changed."));
                code.line("#[must_use]");
                code.block(
                    format!("pub const fn {name}_mut(&mut self) -> &mut {parameter} {{"),
                    "}",
                    |code| {
                        code.line(format!("self.{name}.get_mut()"));
                    },
                );
            }
        });
    }

    /// The order in which devices are activated and deactivated.
    fn order(&self, code: &mut Code) {
        let (holder, parameters) = (self.holder(), self.parameters());
        code.blank();
        let bounds = self.bounds(code, &format!("impl {holder}{parameters} {{"));
        code.block(format!("impl{bounds} {holder}{parameters} {{"), "}", |code| {
            let lasting = self.list.iter().filter(|device| device.activate != Activate::PerRun);
            let lasting: Vec<_> = lasting.collect();
            if !lasting.is_empty() {
                self.activation(code, &lasting);
            }
            self.run(code);
        });
    }

    fn activation(&self, code: &mut Code, lasting: &[&Device<'_>]) {
        let result = self.result("()");
        let names: Vec<_> = lasting.iter().map(|device| format!("`{}`", device.name)).collect();
        code.doc(format!(
            "Activates {}, in order, unless active; until [`deactivate`](Self::deactivate).\n\n\
             # Errors\n\n\
             The first one; all are deactivated then.",
            names.join(", ")
        ));
        method(code, "pub fn activate", &result, |code| {
            code.line("let result = self.activate_each();");
            code.block("if result.is_err() {", "}", |code| {
                code.line("let _ = self.deactivate(); // The first error is kept.");
            });
            code.line("result");
        });
        code.blank();
        method(code, "fn activate_each", &result, |code| {
            self.each_in_turn(code, lasting, "activate");
        });
        code.blank();
        code.doc(
            "Deactivates the devices that are active, in reverse order.\n\n\
             # Errors\n\n\
             The first one; all count as inactive afterwards.",
        );
        method(code, "pub fn deactivate", &result, |code| {
            let calls = lasting.iter().rev().map(|device| self.mapped(device, "deactivate()"));
            in_reverse(code, calls);
        });
        code.blank();
    }

    /// What a run does before its steps and after them.
    fn run(&self, code: &mut Code) {
        let result = self.result("()");
        code.doc("Activates what a run has to.");
        method(code, "fn begin", &result, |code| {
            for device in self.list.iter().filter(|device| device.activate == Activate::Caller) {
                let (name, error) = (device.name, self.error());
                code.block(format!("if !self.{name}.is_active() {{"), "}", |code| {
                    code.line(format!("return Err({error}::Inactive({name:?}));"));
                });
            }
            let managed = self.list.iter().filter(|device| device.activate != Activate::Caller);
            self.each_in_turn(code, &managed.collect::<Vec<_>>(), "begin");
        });
        code.blank();
        code.doc("Deactivates what is not to stay active after a run that ended with `result`.");
        let parameters = ["&mut self".to_owned(), format!("result: {result}")];
        code.wide_list("fn end(", &parameters, &format!(") -> {result} {{"));
        code.indented(|code| {
            let managed = self.list.iter().rev().filter(|device| device.activate != Activate::Caller);
            let mut managed: Vec<_> = managed.map(|device| self.mapped(device, "end(failed)")).collect();
            let Some(last) = managed.pop() else { return code.line("result") };
            code.line("let failed = result.is_err();");
            for call in managed {
                code.line(format!("let result = result.and({call});"));
            }
            code.line(format!("result.and({last})"));
        });
        code.line("}");
    }

    /// Calls `method` of each device until one fails.
    fn each_in_turn(&self, code: &mut Code, devices: &[&Device<'_>], method: &str) {
        let Some((last, others)) = devices.split_last() else { return code.line("Ok(())") };
        for device in others {
            code.line(format!("{}?;", self.mapped(device, &format!("{method}()"))));
        }
        code.line(self.mapped(last, &format!("{method}()")));
    }

    /// The call of a method of a device, with the run's error.
    fn mapped(&self, device: &Device<'_>, call: &str) -> String {
        format!("self.{}.{call}.map_err({}::{})", device.name, self.error(), device.parameter)
    }
}

/// All calls, whatever the others give; the first error.
fn in_reverse(code: &mut Code, calls: impl Iterator<Item = String>) {
    let mut calls: Vec<_> = calls.collect();
    let last = calls.pop().unwrap_or_default();
    if calls.is_empty() {
        return code.line(last);
    }
    for (i, call) in calls.iter().enumerate() {
        match i {
            0 => code.line(format!("let result = {call};")),
            _ => code.line(format!("let result = result.and({call});")),
        }
    }
    code.line(format!("result.and({last})"));
}

fn made(code: &mut Code, device: &Device<'_>) {
    let activate = match device.activate {
        Activate::PerRun => "PerRun",
        Activate::FirstUse => "FirstUse",
        Activate::Caller => "Caller",
    };
    let name = device.name;
    code.line(format!("{name}: ::aot_rt::ManagedDevice::new({name}, ::aot_rt::Activate::{activate}),"));
}

/// A method that changes the devices.
fn method(code: &mut Code, name: &str, result: &str, body: impl FnOnce(&mut Code)) {
    code.wide_list(&format!("{name}("), &["&mut self".to_owned()], &format!(") -> {result} {{"));
    code.indented(body);
    code.line("}");
}
