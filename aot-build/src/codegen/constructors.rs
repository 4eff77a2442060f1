//! How memory comes to be: the fields, `new` and `take` of a runner, or of the struct that runners
//! share.

use super::memories::{Holding, Memories, Memory};
use super::runner::Runner;
use super::writer::{CALL_WIDTH, Code};

/// A struct that holds memories.
pub(super) struct Holder<'h> {
    /// Its name.
    pub(super) name: &'h str,
    /// What it is: `runner`.
    pub(super) noun: &'h str,
    pub(super) memories: &'h Memories,
    /// Prints its other fields, as they are at first.
    pub(super) fields: &'h dyn Fn(&mut Code),
}

impl Holder<'_> {
    /// `new` and `take`.
    pub(super) fn constructors(&self, code: &mut Code) {
        if self.memories.held() == Holding::Static {
            self.new_of_references(code);
            self.take_references(code);
        } else {
            self.new_of_fields(code);
            self.take_static(code);
        }
    }

    fn new_of_fields(&self, code: &mut Code) {
        code.blank();
        code.doc(format!("A {} whose memory is zero; a `static` of it takes no flash.", self.noun));
        code.line("#[must_use]");
        code.block("pub const fn new() -> Self {", "}", |code| {
            code.block("Self {", "}", |code| {
                for memory in &self.memories.memories {
                    code.line(format!("{}: {},", memory.name, memory.new_memory()));
                }
                (self.fields)(code);
            });
        });
    }

    fn take_static(&self, code: &mut Code) {
        let Self { name, noun, .. } = self;
        code.blank();
        code.doc(format!(
            "The one {noun} in static memory: on the first call, and `None` on every later\n\
             one. It takes no memory in a program that does not call this.",
        ));
        code.line("#[must_use]");
        code.block("pub fn take() -> ::core::option::Option<&'static mut Self> {", "}", |code| {
            let value = if *noun == "runner" { "RUNNER" } else { "MEMORY" };
            code.assign(
                &format!("static {value}: ::aot_rt::Singleton<{name}>"),
                &format!("::aot_rt::Singleton::new({name}::new())"),
            );
            code.line(format!("{value}.take()"));
        });
    }

    fn new_of_references(&self, code: &mut Code) {
        let memories = &self.memories.memories;
        let parameter = |memory: &Memory| format!("{}: &'static mut {}", memory.name, memory.alias);
        code.blank();
        code.doc(format!("A {} in this memory; what that holds does not matter.", self.noun));
        code.line("#[must_use]");
        let parameters: Vec<_> = memories.iter().map(parameter).collect();
        code.wide_list("pub const fn new(", &parameters, ") -> Self {");
        code.indented(|code| {
            code.block("Self {", "}", |code| {
                memories.iter().for_each(|memory| code.line(format!("{},", memory.name)));
                (self.fields)(code);
            });
        });
        code.line("}");
    }

    fn take_references(&self, code: &mut Code) {
        let memories = &self.memories.memories;
        code.blank();
        code.doc(format!(
            "A {} in static memory, in the pools' sections: on the first call, and `None`\n\
             on every later one. There is no such memory in a program that does not call this.",
            self.noun
        ));
        code.line("#[must_use]");
        code.block("pub fn take() -> ::core::option::Option<Self> {", "}", |code| {
            memories.iter().for_each(|memory| static_memory(code, memory));
            let taken: Vec<_> =
                memories.iter().map(|memory| format!("{}.take()?", static_of(memory))).collect();
            code.list("Some(Self::new(", &taken, "))", CALL_WIDTH);
        });
    }
}

/// The static of a memory.
fn static_memory(code: &mut Code, memory: &Memory) {
    let (name, ty, value) = (static_of(memory), &memory.alias, memory.new_memory());
    match &memory.pool.pool.section {
        Some(section) => code.block("::aot_rt::in_section! {", "}", |code| {
            code.line(format!("{section:?},"));
            code.assign(&format!("static mut {name}: {ty}"), value);
        }),
        None => code.assign(
            &format!("static {name}: ::aot_rt::Singleton<{ty}>"),
            &format!("::aot_rt::Singleton::new({value})"),
        ),
    }
}

/// Name of the static of a memory.
fn static_of(memory: &Memory) -> String {
    memory.pool.name.to_ascii_uppercase()
}

impl Runner<'_> {
    /// The fields of its struct.
    pub(super) fn fields(&self, code: &mut Code) {
        let [visible, reference, flag] = match self.holding() {
            Holding::Own => ["", "", "bool"],
            Holding::Static => ["", "&'static mut ", "bool"],
            Holding::Shared => ["pub(super) ", "&'m mut ", "&'m mut bool"],
        };
        for memory in &self.memories().memories {
            let ty = self.memories().field(memory);
            code.line(format!("{visible}{}: {reference}{ty},", memory.name));
        }
        for name in self.flags() {
            code.line(format!("{visible}{name}: {flag},"));
        }
        if let Some(layers) = self.pushed_layers() {
            code.line(format!("{visible}rows: ::aot_rt::kernels::Rows<{layers}>,"));
            code.line(format!("{visible}pushed: usize,"));
        }
    }

    /// What has been done before the first run.
    pub(super) fn flags(&self) -> Vec<&'static str> {
        let constants = self.has_copies().then_some("has_constants");
        constants.into_iter().chain(self.has_state().then_some("has_state")).collect()
    }

    pub(super) fn memories(&self) -> &Memories {
        &self.ports.memories
    }

    pub(super) fn holding(&self) -> Holding {
        self.memories().holding()
    }

    /// Whether constants are copied to memory.
    pub(super) fn has_copies(&self) -> bool {
        self.memories().copies().next().is_some()
    }

    /// `self.has_state`, as a place.
    pub(super) fn flag(&self, name: &str) -> String {
        let star = if self.holding() == Holding::Shared { "*" } else { "" };
        format!("{star}self.{name}")
    }

    pub(super) fn constructors(&self, code: &mut Code) {
        let fields = |code: &mut Code| {
            self.flags().iter().for_each(|flag| code.line(format!("{flag}: false,")));
            self.new_rows(code);
        };
        Holder { name: self.name(), noun: "runner", memories: self.memories(), fields: &fields }
            .constructors(code);
    }

    /// The fields for rows that have been pushed: none has.
    pub(super) fn new_rows(&self, code: &mut Code) {
        if self.pushed_layers().is_some() {
            code.line("rows: ::aot_rt::kernels::Rows::new(),");
            code.line("pushed: 0,");
        }
    }

    pub(super) fn fill_workspace(&self, code: &mut Code) {
        code.blank();
        code.doc(
            "Fills the workspace with `byte`: for tests, since no result depends on what it\n\
             held, and to find out later what a run has used.",
        );
        if self.has_state() {
            code.doc("\nThe next run starts from the initial state.");
        }
        code.block("pub fn fill_workspace(&mut self, byte: u8) {", "}", |code| {
            self.memories().fill(code);
            if self.has_state() {
                code.line("self.has_state = false;");
            }
        });
    }
}
