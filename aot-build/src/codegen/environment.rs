//! What functions of steps are given beside the caller's arrays: memory first, then what a
//! run brings with it.
//!
//! Signatures and calls are printed from the same list, so that they agree.

use super::memories::Memory;
use super::runner::Runner;
use super::sites::Site;
use super::steps::Steps;
use super::writer::Code;

/// The parameter of an instrument.
pub(super) const INSTRUMENT: &str = "instrument: &mut impl ::aot_rt::Instrument";

/// A parameter that is passed on under its name.
pub(super) struct Given {
    name: String,
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
    /// The memories that any of `sites` works in.
    pub(super) fn memories_of(&self, sites: &[Site<'m>]) -> Vec<&'m Memory> {
        let memories = self.memories().memories.iter().enumerate();
        let used = memories.filter(|(i, _)| sites.iter().any(|site| self.works_in(*site, *i)));
        used.map(|(_, memory)| memory).collect()
    }

    /// Borrows from `runner`, such as `self`, the memories that `sites` work in.
    pub(super) fn borrow_memories(&self, code: &mut Code, runner: &str, sites: &[Site<'m>]) {
        for memory in self.memories_of(sites) {
            code.line(format!("let {} = {};", memory.name, self.memories().borrowed_from(runner, memory)));
        }
    }

    /// The type of the workspace, in the module of the steps, where a function there names it.
    pub(super) fn workspace_type(&self, code: &mut Code) {
        let is_used = !self.memories_of(&self.sites(0).collect::<Vec<_>>()).is_empty();
        if self.memories().is_plain && is_used {
            self.memories().plain_type(code);
        }
    }

    /// What every run brings with it, and what runs that call devices do.
    fn company(&self, sites: &[Site<'m>]) -> Vec<Given> {
        let given = |name: &str, ty: &str| Given { name: name.into(), ty: ty.into() };
        let devices = self.call_devices(sites).then(|| given("devices", &self.devices.reference()));
        let kernels = self.call_bound(sites).then(|| given("kernels", "&Kernels"));
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
        self.around(sites, arrays, |given| given.name.clone())
    }

    fn around(
        &self,
        sites: &[Site<'m>],
        arrays: Vec<String>,
        print: impl Fn(&Given) -> String,
    ) -> Vec<String> {
        let given = |memory: &Memory| Given { name: memory.name.clone(), ty: format!("&mut {}", memory.ty) };
        let memories: Vec<_> =
            self.memories_of(sites).into_iter().map(|memory| print(&given(memory))).collect();
        let company: Vec<_> = self.company(sites).iter().map(&print).collect();
        [memories, arrays, company].concat()
    }
}
