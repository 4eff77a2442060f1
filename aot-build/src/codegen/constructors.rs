//! How memory comes to be: `new` and `take` of a runner, or of the struct that runners share.

use super::memories::{Holding, Memories, Memory};
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
        code.line("#[cfg(target_has_atomic = \"8\")]");
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
        code.line("#[cfg(target_has_atomic = \"8\")]");
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
