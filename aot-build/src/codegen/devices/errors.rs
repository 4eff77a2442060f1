//! The error that a run with devices ends with.

use aot_rt::Activate;

use super::{Device, Devices};
use crate::codegen::writer::Code;
use crate::config::Calls;

impl Devices<'_> {
    /// The enum, and what errors do.
    pub(super) fn error_items(&self, code: &mut Code) {
        let (error, parameters) = (self.error(), self.parameters());
        code.blank();
        code.doc(format!(
            "Why a run of [`{}`] ended early: the first error of a device.",
            self.model.type_name
        ));
        code.line("#[derive(Clone, Copy, Debug, PartialEq, Eq)]");
        code.block(format!("pub enum {error}{parameters} {{"), "}", |code| {
            for Device { name, parameter, .. } in &self.list {
                code.doc(format!("Of device `{name}`."));
                code.line(format!("{parameter}(::aot_rt::DeviceError<{parameter}>),"));
            }
            if self.can_be_inactive() {
                code.doc("The device that is named had to be activated before the run.");
                code.line("Inactive(&'static str),");
            }
            if self.binds() {
                code.doc("A kernel on the CPU refuses its tensors.");
                code.line("Kernel(::aot_rt::CallError),");
            }
        });
        if self.binds() {
            let from = "::core::convert::From<::aot_rt::CallError>";
            code.blank();
            code.block(format!("impl{parameters} {from} for {error}{parameters} {{"), "}", |code| {
                code.block("fn from(error: ::aot_rt::CallError) -> Self {", "}", |code| {
                    code.line("Self::Kernel(error)");
                });
            });
        }
        self.implementation(code, "::core::fmt::Display", "::core::fmt::Display", |code| {
            let open = "fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {";
            code.block(open, "}", |code| code.block("match self {", "}", |code| self.display(code)));
        });
        self.implementation(code, "::core::error::Error", "::core::error::Error + 'static", |code| {
            let result = "::core::option::Option<&(dyn ::core::error::Error + 'static)>";
            code.block(format!("fn source(&self) -> {result} {{"), "}", |code| {
                code.block("match self {", "}", |code| {
                    for device in &self.list {
                        code.line(format!("Self::{}(error) => Some(&error.error),", device.parameter));
                    }
                    if self.can_be_inactive() {
                        code.line("Self::Inactive(_) => None,");
                    }
                    if self.binds() {
                        code.line("Self::Kernel(error) => Some(&error.error),");
                    }
                });
            });
        });
    }

    fn binds(&self) -> bool {
        self.model.config.calls == Calls::Registry
    }

    fn can_be_inactive(&self) -> bool {
        self.list.iter().any(|device| device.activate == Activate::Caller)
    }

    /// `impl .. for` the error, where those of the devices are `bound`.
    fn implementation(&self, code: &mut Code, name: &str, bound: &str, inside: impl FnOnce(&mut Code)) {
        let (error, parameters) = (self.error(), self.parameters());
        code.blank();
        code.line(format!("impl{parameters} {name} for {error}{parameters}"));
        code.line("where");
        code.indented(|code| {
            for device in &self.list {
                code.line(format!("{}: {bound},", device.parameter));
            }
        });
        code.block("{", "}", inside);
    }

    fn display(&self, code: &mut Code) {
        for Device { name, parameter, .. } in &self.list {
            code.block(format!("Self::{parameter}(error) => {{"), "}", |code| {
                code.line(format!("f.write_str(\"device `{name}`: \")?;"));
                code.line("::core::fmt::Display::fmt(error, f)");
            });
        }
        if self.can_be_inactive() {
            code.block("Self::Inactive(device) => {", "}", |code| {
                code.line("f.write_str(\"device `\")?;");
                code.line("f.write_str(device)?;");
                code.line("f.write_str(\"` is not active\")");
            });
        }
        if self.binds() {
            code.line("Self::Kernel(error) => ::core::fmt::Display::fmt(error, f),");
        }
    }
}
