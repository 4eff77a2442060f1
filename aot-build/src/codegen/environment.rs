//! What functions of steps are given beside the caller's arrays: memory first, then what a
//! run brings with it.
//!
//! Signatures and calls are printed from the same list, so that they agree.

use super::runner::Runner;
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

impl Runner<'_> {
    /// The parameters that every run has beside an instrument and the caller's arrays.
    pub(super) fn company_parameters(&self) -> Vec<String> {
        self.devices.parameter().into_iter().chain(self.kernel_parameter()).collect()
    }

    /// The parameter of kernels that are bound by name.
    pub(super) fn kernel_parameter(&self) -> Option<String> {
        self.kernels_struct().map(|name| format!("kernels: &{name}"))
    }

    /// The arguments for them, under the same names.
    pub(super) fn company_arguments(&self) -> Vec<String> {
        let devices = self.devices.is_used().then(|| "devices".to_owned());
        devices.into_iter().chain(self.kernel_argument()).collect()
    }

    /// The argument for kernels that are bound by name.
    pub(super) fn kernel_argument(&self) -> Vec<String> {
        self.kernels_struct().map(|_| "kernels".to_owned()).into_iter().collect()
    }
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
        let given = |name, ty: &str| Given { name, ty: ty.to_owned() };
        let devices = self.call_devices(sites).then(|| given("devices", &self.devices.reference()));
        let kernels = self.binds().then(|| given("kernels", "&Kernels"));
        [given("instrument", "&mut impl Instrument")].into_iter().chain(devices).chain(kernels).collect()
    }

    /// `pub fn NAME(..) {`, for a function that runs `sites`, `arrays` among its parameters.
    pub(super) fn open(&self, code: &mut Code, name: &str, sites: &[Site<'m>], arrays: Vec<String>) {
        let mut open = format!("pub fn {name}");
        if self.call_devices(sites) {
            open += &self.devices.bounds(code, &open);
        }
        let close = format!("){} {{", self.returns(sites));
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
