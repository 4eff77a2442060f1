//! A state of the search: which steps are done, and what is alive.

use super::sections::Section;
use super::step_set::StepSet;

/// Steps done, and what follows from them.
#[derive(Clone, Debug)]
pub(super) struct Position<'s> {
    section: &'s Section,
    done: StepSet,
    /// Steps that may come next.
    ready: StepSet,
    /// For each step, how many that must come before it are not done.
    waits_for: Vec<u32>,
    /// For each tensor, how many steps that use it are not done.
    uses: Vec<u32>,
    /// Bytes that are alive between the steps.
    live: usize,
    steps_done: usize,
}

impl<'s> Position<'s> {
    /// Nothing is done.
    pub(super) fn start(section: &'s Section) -> Self {
        let steps = section.steps.len();
        let mut position = Self {
            section,
            done: StepSet::new(steps),
            ready: StepSet::new(steps),
            waits_for: Vec::with_capacity(steps),
            uses: Vec::with_capacity(section.tensors.len()),
            live: 0,
            steps_done: 0,
        };
        position.restart();
        position
    }

    fn restart(&mut self) {
        let Section { resident, tensors, steps, .. } = self.section;
        self.done.clear();
        self.ready.clear();
        self.waits_for.clear();
        self.waits_for.extend(steps.iter().map(|step| step.waits_for));
        self.uses.clear();
        self.uses.extend(tensors.iter().map(|tensor| tensor.uses));
        let before = tensors.iter().filter(|tensor| tensor.before).map(|tensor| tensor.bytes);
        self.live = resident + before.sum::<usize>();
        self.steps_done = 0;
        for (step, waits_for) in self.waits_for.iter().enumerate() {
            if *waits_for == 0 {
                self.ready.insert(step);
            }
        }
    }

    /// Goes to where exactly these steps are done.
    pub(super) fn go_to(&mut self, done: &StepSet) {
        self.section.count(self.section.steps.len());
        self.restart();
        // The given order is one in which they can be run.
        done.iter().for_each(|step| self.run(step));
    }

    pub(super) fn section(&self) -> &'s Section {
        self.section
    }

    pub(super) fn done(&self) -> &StepSet {
        &self.done
    }

    pub(super) fn ready(&self) -> &StepSet {
        &self.ready
    }

    pub(super) fn live(&self) -> usize {
        self.live
    }

    pub(super) fn steps_done(&self) -> usize {
        self.steps_done
    }

    pub(super) fn is_complete(&self) -> bool {
        self.steps_done == self.section.steps.len()
    }

    /// Whether the tensor becomes alive with the next step that uses it.
    fn is_born(&self, tensor: usize) -> bool {
        let properties = self.section.tensors[tensor];
        !properties.before && self.uses[tensor] == properties.uses
    }

    /// Whether the tensor is not needed after the next step that uses it.
    fn dies(&self, tensor: usize) -> bool {
        self.uses[tensor] == 1 && !self.section.tensors[tensor].after
    }

    /// Bytes of the step's tensors that become alive with it, and of those that are
    /// not needed after it.
    fn born_and_dying(&self, step: usize) -> (usize, usize) {
        let (mut born, mut dying) = (0, 0);
        for &tensor in &self.section.steps[step].tensors {
            let bytes = self.section.tensors[tensor].bytes;
            born += if self.is_born(tensor) { bytes } else { 0 };
            dying += if self.dies(tensor) { bytes } else { 0 };
        }
        (born, dying)
    }

    /// What it would take to run a step that is ready.
    pub(super) fn try_step(&self, step: usize) -> Trial {
        self.section.count(1);
        let (born, dying) = self.born_and_dying(step);
        let properties = &self.section.steps[step];
        let shares = properties.shares.iter();
        let shares = shares.filter(|share| self.dies(share.read) && self.is_born(share.written));
        let shared = shares.map(|share| share.bytes).max().unwrap_or(0);
        let alive = self.live + born;
        Trial { load: alive + properties.scratch - shared, live: alive - dying }
    }

    /// Runs a step that is ready.
    pub(super) fn run(&mut self, step: usize) {
        let (born, dying) = self.born_and_dying(step);
        self.live = self.live + born - dying;
        let properties = &self.section.steps[step];
        for &tensor in &properties.tensors {
            self.uses[tensor] -= 1;
        }
        self.done.insert(step);
        self.ready.remove(step);
        self.steps_done += 1;
        for &successor in &properties.successors {
            self.waits_for[successor] -= 1;
            if self.waits_for[successor] == 0 {
                self.ready.insert(successor);
            }
        }
    }

    /// Takes back the step that was run last.
    pub(super) fn undo(&mut self, step: usize) {
        let properties = &self.section.steps[step];
        for &tensor in &properties.tensors {
            self.uses[tensor] += 1;
        }
        let (born, dying) = self.born_and_dying(step);
        self.live = self.live + dying - born;
        self.done.remove(step);
        self.ready.insert(step);
        self.steps_done -= 1;
        for &successor in &properties.successors {
            if self.waits_for[successor] == 0 {
                self.ready.remove(successor);
            }
            self.waits_for[successor] += 1;
        }
    }

    /// Runs all steps in the given order: the bytes alive during each.
    pub(super) fn loads(mut self) -> Vec<usize> {
        let steps = 0..self.section.steps.len();
        let run = |step| {
            let load = self.try_step(step).load;
            self.run(step);
            load
        };
        steps.map(run).collect()
    }
}

/// What it takes to run a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Bytes that are alive during the step.
    pub(super) load: usize,
    /// Bytes that are alive after it.
    pub(super) live: usize,
}
