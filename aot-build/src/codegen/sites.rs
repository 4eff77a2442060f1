//! The steps wherever they are: in order, in runs, and within other steps.

use aot_rt::Access;
use aot_rt::kernels::Kind;

use super::ports::Port;
use super::steps::{Argument, Place, Steps};
use crate::program::{Layer, Step};

/// A step, and its layer where it is one of a run.
#[derive(Clone, Copy)]
pub(super) struct Site<'m> {
    pub(super) step: &'m Step,
    pub(super) layer: Option<&'m Layer>,
}

impl Site<'_> {
    /// It, and the steps that it holds.
    pub(super) fn with_nested(self) -> Vec<Self> {
        self.step.with_nested().into_iter().map(|step| Self { step, ..self }).collect()
    }

    /// The rings of an elementwise step of a run.
    pub(super) fn elementwise_rings(self) -> Option<[usize; 3]> {
        let layer = self.layer?;
        (self.step.kind() == Kind::Elementwise).then_some(layer.rings)
    }
}

impl<'m> Steps<'m> {
    /// Step `i`.
    pub(super) fn site(&self, i: usize) -> Site<'m> {
        Site { step: &self.steps()[i], layer: self.compiled().program.layer(i).map(|(_, layer)| layer) }
    }

    /// All steps from `first` on, and those that they hold.
    pub(super) fn sites(&self, first: usize) -> impl Iterator<Item = Site<'m>> {
        (first..self.steps().len()).flat_map(|i| self.site(i).with_nested())
    }

    /// What a step itself works on, and what it decides by.
    pub(super) fn uses(&self, site: Site<'m>) -> impl Iterator<Item = Argument<'m>> {
        self.decides(site.step).into_iter().chain(self.arguments(site))
    }

    /// Whether a step itself works in the memory at this position.
    pub(super) fn works_in(&self, site: Site<'m>, memory: usize) -> bool {
        self.uses(site)
            .any(|argument| matches!(argument.place, Place::Memory(region) if region.memory == memory))
    }

    /// The caller's arrays that steps use themselves, each once, and whether one of them
    /// writes it.
    pub(super) fn ports(&self, sites: &[Site<'m>]) -> Vec<(&'m Port<'m>, bool)> {
        let mut ports: Vec<(&Port<'_>, bool)> = Vec::new();
        for argument in sites.iter().flat_map(|site| self.uses(*site)) {
            let Place::Caller(_, port) = argument.place else { continue };
            let writes = argument.access == Access::Write;
            match ports.iter_mut().find(|(known, _)| known.ident == port.ident) {
                Some((_, written)) => *written |= writes,
                None => ports.push((port, writes)),
            }
        }
        ports
    }
}
