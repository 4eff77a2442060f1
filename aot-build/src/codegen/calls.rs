//! The steps that devices run: a function for each, which borrows its regions, and calls the
//! device's method between `open` and `close`.

use super::sites::Site;
use super::steps::{Form, Steps, description};
use super::writer::{CALL_WIDTH, Code, MAX_WIDTH};
use crate::config::Calls;
use crate::program::{Call, Step};

impl<'m> Steps<'m> {
    /// Whether steps call devices, themselves or within.
    pub(super) fn call_devices(&self, sites: &[Site<'m>]) -> bool {
        let calls = |step: &Step| step.with_nested().iter().any(|step| step.call().is_some());
        sites.iter().any(|site| calls(site.step))
    }

    /// Names of the devices' items, in the module of the steps.
    pub(super) fn device_names(&self, code: &mut Code) {
        if !self.devices.is_used() {
            return;
        }
        code.blank();
        code.wide_list("use super::{", &self.devices.exports(), "};");
        let (parameters, error) = (self.devices.parameters(), self.devices.error());
        code.blank();
        code.line(format!("type Result{parameters} = ::core::result::Result<(), {error}{parameters}>;"));
    }

    /// The function of such a step.
    pub(super) fn call_function(&mut self, code: &mut Code, site: Site<'m>, call: &'m Call) {
        let Some(device) = self.devices.list.iter().find(|device| device.index == call.device) else {
            return;
        };
        let names: Vec<_> = (1..=call.kernels.len())
            .map(|i| if i == 1 { site.step.name.clone() } else { format!("{}_{i}", site.step.name) })
            .collect();
        let form = if device.calls == Calls::Direct { Form::Shared } else { Form::Described };
        let params: Vec<_> = names
            .iter()
            .zip(&call.kernels)
            .map(|(name, kernel)| format!("&{}", self.parameters(code, name, kernel, form)))
            .collect();
        code.doc(format!("{} On `{}`.", description(site.step), device.name));
        let arguments = self.arguments(site);
        self.open(code, &site.step.name, &[site], self.array_parameters(site));
        code.indented(|code| {
            self.before(code, site);
            self.regions(code, &arguments);
            arguments.iter().for_each(|argument| self.binding(code, argument));
            code.line(format!("let step = &STEPS[{}];", self.index(site)));
            let (name, given) = if device.calls == Calls::Direct {
                let operands = arguments.iter().map(|argument| argument.name.to_owned());
                (call.name(), params.into_iter().chain(operands).collect())
            } else {
                self.described_tensors(code, site, &arguments);
                ("call".into(), vec![format!("&[{}]", params.join(", ")), "tensors".to_owned()])
            };
            let given = [vec!["step".to_owned()], given].concat();
            code.line("devices");
            code.indented(|code| {
                code.line(format!(".{}", device.name));
                method(code, &name, &given);
                code.line(format!(".map_err({}::{})?;", self.devices.error(), device.parameter));
            });
            self.after(code, site);
            self.success(code, &[site]);
        });
        code.line("}");
    }
}

/// The call of a device's method, in a closure with braces where it is long.
fn method(code: &mut Code, name: &str, arguments: &[String]) {
    let (open, joined) = (format!("device.{name}("), arguments.join(", "));
    let line = format!(".call(step, |device| {open}{joined}))");
    if joined.len() <= CALL_WIDTH && code.indent() * 4 + line.len() <= MAX_WIDTH {
        return code.line(line);
    }
    code.block(".call(step, |device| {", "})", |code| code.list(&open, arguments, ")", CALL_WIDTH));
}
