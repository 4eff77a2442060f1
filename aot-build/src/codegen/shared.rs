//! Prints several models that share their memory: a struct that holds it, and a runner for each,
//! which borrows that struct for as long as it is there.

use std::collections::HashSet;

use super::constructors::Holder;
use super::devices::Devices;
use super::literal::integer;
use super::memories::{Memories, Owner};
use super::names::{Names, module_name};
use super::ports::Ports;
use super::runner::Runner;
use super::steps::Steps;
use super::writer::Code;
use super::{EXPORT_ATTRIBUTES, Generated, MODULE_ATTRIBUTES};
use crate::Model;
use crate::error::{Problem, spaced};

/// Rust source for models whose plans are one, and whose constants are; `attributes` are those of
/// their runners.
///
/// # Errors
///
/// When a device's name cannot be one in it, or two types would have one name.
pub(crate) fn generate_shared(
    type_name: &str,
    models: &[Model],
    attributes: &[&[String]],
) -> Result<Generated, Problem> {
    let mut names = Names::new([]);
    let owner = Owner::shared(type_name, models);
    let sharers: Vec<Sharer<'_>> = models
        .iter()
        .map(|model| {
            Ok(Sharer {
                method: names.port("model", &model.type_name),
                ports: Ports::new(&model.compiled, &model.config, owner.clone()),
                devices: Devices::new(model)?,
                model,
            })
        })
        .collect::<Result<_, Problem>>()?;
    let mut code = Code::new(1);
    let mut exports = vec![type_name.to_owned()];
    if let [first, ..] = sharers.as_slice() {
        let shared = Shared { type_name, sharers: &sharers, memories: &first.ports.memories };
        shared.print(&mut code);
        exports.extend(shared.memories.exports());
    }
    for (sharer, attributes) in sharers.iter().zip(attributes) {
        sharer.module(&mut code, attributes);
        exports.extend(sharer.runner().exports());
    }
    let mut known = HashSet::new();
    if let Some(name) = exports.iter().find(|name| !known.insert(name.as_str())) {
        return Err(Problem::new(format!("two types would be named `{name}`"))
            .help("give one of the models another name with `Builder::name`"));
    }
    let constants =
        models.first().map_or(Vec::new(), |model| model.compiled.program.constants.bytes().to_vec());
    Ok(Generated {
        module_name: module_name(type_name),
        type_name: type_name.to_owned(),
        module_attributes: MODULE_ATTRIBUTES,
        export_attributes: EXPORT_ATTRIBUTES,
        exports,
        body: code.into_text(),
        constants,
    })
}

/// A model that shares memory with others.
struct Sharer<'m> {
    model: &'m Model,
    ports: Ports<'m>,
    devices: Devices<'m>,
    /// Name of the method that gives its runner, and of its module.
    method: String,
}

impl Sharer<'_> {
    fn runner(&self) -> Runner<'_> {
        Runner { model: self.model, ports: &self.ports, devices: &self.devices }
    }

    /// The field of the shared struct that a flag of the runner is.
    fn field_of(&self, flag: &str) -> String {
        match flag {
            // Whoever runs first copies the constants of all.
            "has_constants" => flag.to_owned(),
            flag => format!("{}_{flag}", self.method),
        }
    }

    fn module(&self, code: &mut Code, attributes: &[String]) {
        code.blank();
        code.doc(format!("[`{}`].", self.model.type_name));
        code.block(format!("mod {} {{", self.method), "}", |code| {
            let steps = Steps::new(self.model, &self.ports, &self.devices);
            self.runner().print(code, attributes, steps);
        });
        code.blank();
        match self.runner().exports().as_slice() {
            [name] => code.line(format!("pub use {}::{name};", self.method)),
            names => code.wide_list(&format!("pub use {}::{{", self.method), names, "};"),
        }
    }
}

/// The struct that holds the memory.
struct Shared<'m> {
    type_name: &'m str,
    sharers: &'m [Sharer<'m>],
    memories: &'m Memories,
}

impl Shared<'_> {
    fn print(&self, code: &mut Code) {
        self.declaration(code);
        code.blank();
        code.block(format!("impl {} {{", self.type_name), "}", |code| {
            self.constants(code);
            let fields = |code: &mut Code| {
                self.flags().iter().for_each(|flag| code.line(format!("{flag}: false,")));
            };
            let Self { type_name: name, memories, .. } = *self;
            Holder { name, noun: "workspace", memories, fields: &fields }.constructors(code);
            self.sharers.iter().for_each(|sharer| self.borrow(code, sharer));
            self.fill_workspace(code);
        });
        self.memories.aliases(code);
        self.memories.statics(code, "");
    }

    /// The flags of all runners, each once.
    fn flags(&self) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for sharer in self.sharers {
            for flag in sharer.runner().flags() {
                let field = sharer.field_of(flag);
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
        }
        fields
    }

    fn declaration(&self, code: &mut Code) {
        let names: Vec<_> =
            self.sharers.iter().map(|sharer| format!("[`{}`]", sharer.model.type_name)).collect();
        let names = match names.as_slice() {
            [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
            names => names.concat(),
        };
        code.doc(format!("Memory that {names} share: one of them runs at a time."));
        if let [Sharer { model, .. }, ..] = self.sharers {
            let compiled = &model.compiled;
            let proof = if compiled.proved {
                "proved minimal".to_owned()
            } else {
                format!("at least {} are needed", spaced(compiled.lower_bound))
            };
            let [arena, constants] =
                [compiled.arena_bytes, compiled.program.constants.bytes().len()].map(spaced);
            code.doc(format!("\nRAM {arena} bytes ({proof}), constants {constants} bytes."));
        }
        let derives = if self.memories.has_references() { "Debug" } else { "Debug, Default" };
        code.line(format!("#[derive({derives})]"));
        code.block(format!("pub struct {} {{", self.type_name), "}", |code| {
            let reference = if self.memories.has_references() { "&'static mut " } else { "" };
            for memory in &self.memories.memories {
                code.line(format!("{}: {reference}{},", memory.name, memory.alias));
            }
            self.flags().iter().for_each(|flag| code.line(format!("{flag}: bool,")));
        });
    }

    fn constants(&self, code: &mut Code) {
        let Some(Sharer { model, .. }) = self.sharers.first() else { return };
        let compiled = &model.compiled;
        let states: usize =
            self.sharers.iter().map(|sharer| sharer.model.compiled.program.state_bytes()).sum();
        let mut constant = |doc: &str, name: &str, bytes: String| {
            code.doc(doc);
            code.line(format!("pub const {name}: usize = {bytes};"));
        };
        constant("Bytes of RAM: the workspace.", "ARENA_BYTES", integer(compiled.arena_bytes));
        if states > 0 {
            constant("Bytes of these that are kept from run to run.", "STATE_BYTES", integer(states));
        }
        let bytes = compiled.program.constants.bytes().len();
        constant("Bytes of flash: the constants.", "CONSTANT_BYTES", integer(bytes));
        self.memories.bytes(|doc, name, bytes| constant(&doc, &name, bytes));
    }

    /// The method that gives a runner.
    fn borrow(&self, code: &mut Code, sharer: &Sharer<'_>) {
        let Sharer { model, method, .. } = sharer;
        let name = &model.type_name;
        let state = if model.compiled.program.states.is_empty() {
            ""
        } else {
            "\n\nWhat it keeps from run to run stays here while others run."
        };
        code.blank();
        code.doc(format!("The runner of [`{name}`]. While it is there, no other can run.{state}"));
        code.line("#[must_use]");
        code.block(format!("pub const fn {method}(&mut self) -> {name}<'_> {{"), "}", |code| {
            code.block(format!("{name} {{"), "}", |code| {
                let star = if self.memories.has_references() { "*" } else { "" };
                for memory in &self.memories.memories {
                    code.line(format!("{0}: &mut {star}self.{0},", memory.name));
                }
                let runner = sharer.runner();
                for flag in runner.flags() {
                    code.line(format!("{flag}: &mut self.{},", sharer.field_of(flag)));
                }
                runner.new_rows(code);
            });
        });
    }

    fn fill_workspace(&self, code: &mut Code) {
        code.blank();
        code.doc(
            "Fills the workspace with `byte`: for tests, since no result depends on what it\n\
             held, and to find out later what a run has used.",
        );
        let states: Vec<_> = self.flags().into_iter().filter(|flag| flag.ends_with("has_state")).collect();
        if !states.is_empty() {
            code.doc("\nThe next runs start from the initial states.");
        }
        code.block("pub fn fill_workspace(&mut self, byte: u8) {", "}", |code| {
            self.memories.fill(code);
            states.iter().for_each(|flag| code.line(format!("self.{flag} = false;")));
        });
    }
}
