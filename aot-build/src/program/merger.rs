//! Puts results where operands are that nothing uses any more.
//!
//! The program stays as it is until all merges are known: each of them costs no more than
//! looking at the steps around it, however large the program is.

use aot_rt::Access;

use super::dependencies::Dependencies;
use super::pools::reached;
use super::{Alias, BufferId, Operand, Program, Step, Storage, View};
use crate::config::Pool;

/// Merges buffers of a program.
pub(super) struct Merger<'p> {
    pub(super) program: &'p mut Program,
    /// Merging adds none: what it asks for is there already.
    dependencies: Dependencies,
    /// For each buffer: the steps that use it, in order; of a merged one, those that are
    /// not known to come before all later ones.
    users: Vec<Vec<usize>>,
    /// For each buffer: whether it is an input, an output, or a state.
    roles: Vec<Roles>,
    /// For each buffer: the one that it has become.
    places: Vec<BufferId>,
    /// For each buffer: the pools that all reach which use it.
    pools: Vec<Vec<usize>>,
    /// The tensors that have no buffer of their own any more.
    aliases: Vec<Alias>,
}

#[derive(Clone, Copy, Default)]
struct Roles {
    input: bool,
    /// It is needed after the last step.
    kept: bool,
    /// A step reads one part of it and writes another, which it cannot where the buffer is
    /// the caller's array.
    worked_within: bool,
}

impl<'p> Merger<'p> {
    pub(super) fn new(program: &'p mut Program, pools: &[(String, Pool)]) -> Self {
        let dependencies = Dependencies::of(program);
        let users = program.users();
        let mut roles = vec![Roles::default(); program.buffers.len()];
        for step in &program.steps {
            for (view, access) in step.buffers() {
                let other_part = |(other, _): (View, Access)| other.buffer == view.buffer && other != view;
                roles[view.buffer.0].worked_within |=
                    access == Access::Write && step.buffers().any(other_part);
            }
        }
        for port in &program.inputs {
            roles[port.view.buffer.0].input = true;
        }
        let kept = program.results().map(|port| port.view.buffer);
        for id in kept.chain(program.states.iter().map(|state| state.view.buffer)) {
            roles[id.0].kept = true;
        }
        let places = program.ids().collect();
        let pools = reached(program, pools);
        Self { program, dependencies, users, roles, places, pools, aliases: Vec::new() }
    }

    /// An operand of a step, as far as merges are known.
    pub(super) fn view(&self, step: usize, operand: usize) -> Option<View> {
        match self.program.steps[step].operands.get(operand) {
            Some(Operand::Buffer(view)) => Some(self.placed(*view)),
            _ => None,
        }
    }

    fn placed(&self, view: View) -> View {
        View { buffer: self.places[view.buffer.0], ..view }
    }

    /// How often a step uses a buffer.
    pub(super) fn uses(&self, step: &Step, buffer: BufferId) -> usize {
        step.buffers().filter(|(view, _)| self.placed(*view).buffer == buffer).count()
    }

    /// Whether `y`, which `step` writes, may lie where `x` does, which it reads: both
    /// are whole buffers of one size, and nothing uses them otherwise.
    pub(super) fn can_replace(&self, step: usize, x: View, y: View) -> bool {
        let [x_storage, y_storage] = [x, y].map(|view| self.program.buffer(view.buffer).storage);
        let [x_roles, y_roles] = [x, y].map(|view| self.roles[view.buffer.0]);
        let storage_fits =
            matches!((x_storage, y_storage), (Storage::Workspace, Storage::Workspace | Storage::Output(_)));
        let becomes_caller = y_storage != Storage::Workspace;
        x.buffer != y.buffer
            && (x.dtype, x.len) == (y.dtype, y.len)
            && self.program.is_whole(x)
            && self.program.is_whole(y)
            && storage_fits
            && !x_roles.kept
            && (becomes_caller || self.share_a_pool(x.buffer, y.buffer))
            && !(becomes_caller && (x_roles.input || x_roles.worked_within))
            && self.users[y.buffer.0].first() == Some(&step)
            && !y_roles.input
            && self.uses(&self.program.steps[step], x.buffer) == 1
            && self.dependencies.are_before(step, &self.users[x.buffer.0])
    }

    /// Whether all who use one of two buffers reach a pool together.
    fn share_a_pool(&self, x: BufferId, y: BufferId) -> bool {
        self.pools[x.0].iter().any(|pool| self.pools[y.0].contains(pool))
    }

    /// Puts the tensor of the buffer `from` where `to` is: see [`Merger::can_replace`].
    pub(super) fn replace(&mut self, from: BufferId, to: View) {
        let (buffer, root) = (&self.program.buffers[from.0], to.buffer.0);
        self.aliases.push(Alias { name: buffer.name.clone(), ty: buffer.ty.clone(), view: to });
        if buffer.storage != Storage::Workspace {
            self.program.buffers[root].storage = buffer.storage;
        }
        self.places[from.0] = to.buffer;
        // All that used the operand come before the step that now writes it.
        self.users[root] = std::mem::take(&mut self.users[from.0]);
        let pools = std::mem::take(&mut self.pools[from.0]);
        self.pools[root].retain(|pool| pools.contains(pool));
        let Roles { kept, worked_within, .. } = self.roles[from.0];
        self.roles[root].kept |= kept;
        self.roles[root].worked_within |= worked_within;
    }

    /// The step that writes the whole buffer of `view`, which nothing but `reader` reads.
    pub(super) fn only_maker(&self, view: View, reader: usize) -> Option<usize> {
        let Roles { input, kept, .. } = self.roles[view.buffer.0];
        let &[maker, next] = &self.users[view.buffer.0][..] else { return None };
        let only = next == reader && self.uses(&self.program.steps[reader], view.buffer) == 1;
        (only && !input && !kept && self.view(maker, 1) == Some(view)).then_some(maker)
    }

    /// Applies all merges.
    pub(super) fn finish(self) {
        let Self { program, places, aliases, .. } = self;
        for view in program.views_mut() {
            view.buffer = places[view.buffer.0];
        }
        program.aliases.extend(aliases);
        for alias in &mut program.aliases {
            alias.view.buffer = places[alias.view.buffer.0];
        }
    }
}
