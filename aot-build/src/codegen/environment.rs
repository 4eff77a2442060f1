//! What functions of steps are given beside the caller's arrays: memory first, then what a
//! run brings with it.
//!
//! Signatures and calls are printed from the same list, so that they agree.

use super::runner::Runner;
use super::sites::Site;
use super::steps::Steps;

/// The parameter of an instrument.
pub(super) const INSTRUMENT: &str = "instrument: &mut impl ::aot_rt::Instrument";

/// A parameter that is passed on under its name.
pub(super) struct Given {
    name: &'static str,
    ty: &'static str,
}

impl Runner<'_> {
    /// The parameters that every run has beside an instrument and the caller's arrays.
    pub(super) fn company_parameters(&self) -> Vec<String> {
        let kernels = self.kernels_struct().map(|name| format!("kernels: &{name}"));
        kernels.into_iter().collect()
    }

    /// The arguments for them, under the same names.
    pub(super) fn company_arguments(&self) -> Vec<String> {
        let kernels = self.kernels_struct().map(|_| "kernels".to_owned());
        kernels.into_iter().collect()
    }
}

impl<'m> Steps<'m> {
    /// Memory that steps work in.
    fn memories(&self, sites: &[Site<'m>]) -> Vec<Given> {
        let workspace = Given { name: "workspace", ty: "&mut Workspace" };
        let used = sites.iter().any(|site| self.works_in_workspace(*site));
        used.then_some(workspace).into_iter().collect()
    }

    /// What every run brings with it.
    fn company(&self) -> Vec<Given> {
        let instrument = Given { name: "instrument", ty: "&mut impl Instrument" };
        let kernels = self.binds().then_some(Given { name: "kernels", ty: "&Kernels" });
        [instrument].into_iter().chain(kernels).collect()
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
        let company: Vec<_> = self.company().iter().map(&print).collect();
        [memories, arrays, company].concat()
    }
}
