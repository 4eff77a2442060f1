//! What functions of steps are given beside the caller's arrays: memory first, then what a
//! run brings with it.
//!
//! Signatures and calls are printed from the same list, so that they agree.

use super::sites::Site;
use super::steps::Steps;
use super::writer::Code;

/// The parameter of an instrument.
pub(super) const INSTRUMENT: &str = "instrument: &mut impl ::aot_rt::Instrument";

/// A parameter that is passed on under its name.
pub(super) struct Given {
    name: &'static str,
    ty: String,
}

impl<'m> Steps<'m> {
    /// Memory that steps work in.
    fn memories(&self, sites: &[Site<'m>]) -> Vec<Given> {
        let workspace = Given { name: "workspace", ty: "&mut Workspace".into() };
        let used = sites.iter().any(|site| self.works_in_workspace(*site));
        used.then_some(workspace).into_iter().collect()
    }

    /// What every run brings with it, and what runs that call devices do.
    fn company(&self, sites: &[Site<'m>]) -> Vec<Given> {
        let instrument = Given { name: "instrument", ty: "&mut impl Instrument".into() };
        let ty = format!("&mut {}{}", self.devices.holder(), self.devices.parameters());
        let devices = self.can_fail(sites).then_some(Given { name: "devices", ty });
        [Some(instrument), devices].into_iter().flatten().collect()
    }

    /// `pub fn NAME(..) {`, for a function that runs `sites`, `arrays` among its parameters.
    pub(super) fn open(&self, code: &mut Code, name: &str, sites: &[Site<'m>], arrays: Vec<String>) {
        let mut open = format!("pub fn {name}");
        let mut close = ") {".to_owned();
        if self.can_fail(sites) {
            open += &self.devices.bounds(code, &open);
            close = format!(") -> Result{} {{", self.devices.errors());
        }
        code.wide_list(&(open + "("), &self.signature(sites, arrays), &close);
    }

    /// The parameters of a function that runs `sites`, `arrays` among them.
    pub(super) fn signature(&self, sites: &[Site<'m>], arrays: Vec<String>) -> Vec<String> {
        self.around(sites, arrays, |given| format!("{}: {}", given.name, given.ty))
    }

    /// The arguments of its call.
    pub(super) fn passed(&self, sites: &[Site<'m>], arrays: Vec<String>) -> Vec<String> {
        self.around(sites, arrays, |given| given.name.to_owned())
    }

    fn around(
        &self,
        sites: &[Site<'m>],
        arrays: Vec<String>,
        print: impl Fn(&Given) -> String,
    ) -> Vec<String> {
        let memories: Vec<_> = self.memories(sites).iter().map(&print).collect();
        let company: Vec<_> = self.company(sites).iter().map(&print).collect();
        [memories, arrays, company].concat()
    }
}
