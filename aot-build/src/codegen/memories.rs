//! The memories of a runner: what its pools are in generated code.
//!
//! Without pools in the configuration, there is one field `workspace` and one static
//! `CONSTANTS`. With pools, each is a memory with a type of its own, `NetDtcm`; one to which
//! constants are copied is one like those of activations.

use aot_rt::kernels::Filters;
use aot_rt::{Access, DType};

use super::blocked::Blocked;
use super::literal::integer;
use super::names::camel_case;
use super::writer::Code;
use crate::program::{ConstantView, PlacedPool};
use crate::{Compiled, Model};

/// Alignment of the memories of `aot_rt`.
const ALIGNMENT: usize = 16;

/// Elements in one of the memories.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// Position of the memory in [`Memories::memories`].
    pub(super) memory: usize,
    pub(super) dtype: DType,
    /// First byte in the memory.
    pub(super) offset: usize,
    pub(super) len: usize,
}

impl Region {
    /// Generic arguments: `i8, 0, 490`.
    pub(super) fn arguments(&self) -> String {
        format!("{}, {}, {}", self.dtype.rust_type(), integer(self.offset), integer(self.len))
    }

    /// The same as bytes: `u8, 0, 490`.
    pub(super) fn bytes(&self) -> String {
        format!("u8, {}, {}", integer(self.offset), integer(self.len * self.dtype.size()))
    }

    /// `i8`, and how many bytes of it there are, as a type of a region: `Write<i8, 0, 490>`.
    pub(super) fn of(&self, access: Access) -> String {
        let ty = if access == Access::Write { "Write" } else { "Read" };
        format!("{ty}<{}>", self.arguments())
    }
}

/// Memory that steps are handed.
#[derive(Debug)]
pub(super) struct Memory {
    /// Name of the field, and of the parameter of steps.
    pub(super) name: String,
    /// Name of its type: `NetDtcm`.
    pub(super) alias: String,
    /// Its type in the module of the steps.
    pub(super) ty: String,
    /// The pool.
    pub(super) pool: PlacedPool,
}

impl Memory {
    /// Whether constants are copied to it.
    pub(super) fn is_copy(&self) -> bool {
        self.pool.pool.copy
    }

    /// `DTCM_BYTES`.
    fn constant(&self) -> String {
        bytes_constant(&self.pool)
    }

    /// An expression for it, empty.
    pub(super) fn new_memory(&self) -> &'static str {
        match alignment(&self.pool) {
            Some(_) => "::aot_rt::Aligned::new(::aot_rt::Workspace::new())",
            None => "::aot_rt::Workspace::new()",
        }
    }
}

/// `DTCM_BYTES`.
fn bytes_constant(pool: &PlacedPool) -> String {
    format!("{}_BYTES", pool.name.to_ascii_uppercase())
}

/// A static that holds constants.
#[derive(Debug)]
pub(super) struct ConstantStatic {
    name: String,
    /// Where it is, seen from the module of the steps.
    path: &'static str,
    pub(super) pool: PlacedPool,
    /// Position of the memory that it is copied to.
    copy: Option<usize>,
    /// Filters in it that stand in blocks.
    filters: Vec<Filters>,
}

/// What a constant is for a step.
pub(super) enum ConstantPlace<'m> {
    /// In a static, at this byte.
    Static(&'m ConstantStatic, usize),
    /// In the memory that it is copied to.
    Copied(Region),
}

/// Whose the memories are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// The runner's: fields.
    Own,
    /// The user's, or those of statics: where one has a link section.
    Static,
    /// Those of a struct that several runners share.
    Shared,
}

/// Who holds the memories of a model, and the statics of its constants.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    /// Type that the memories are named after: the runner, or the struct that runners share.
    pub(super) name: String,
    /// The module around the type, seen from the module of the steps.
    pub(super) path: &'static str,
    pub(super) is_shared: bool,
    /// Filters among the constants that stand in blocks.
    pub(super) blocked: Blocked,
}

impl Owner {
    /// The runner of a model.
    pub(super) fn runner(model: &Model) -> Self {
        let blocked = Blocked::of(&[model]);
        Self { name: model.type_name.clone(), path: "super", is_shared: false, blocked }
    }

    /// What the runners of several models share.
    pub(super) fn shared(name: &str, models: &[Model]) -> Self {
        let blocked = Blocked::of(&models.iter().collect::<Vec<_>>());
        Self { name: name.to_owned(), path: "super::super", is_shared: true, blocked }
    }

    /// The type, seen from the module of the steps.
    fn ty(&self) -> String {
        format!("{}::{}", self.path, self.name)
    }
}

/// The memories of a runner, and its statics of constants.
#[derive(Debug)]
pub(super) struct Memories {
    pub(super) owner: Owner,
    /// Those of activations, then those that constants are copied to.
    pub(super) memories: Vec<Memory>,
    pub(super) statics: Vec<ConstantStatic>,
    /// The pools that the configuration names, used or not, if their bytes are worth constants.
    pub(super) named: Vec<PlacedPool>,
    /// Whether there is one field `workspace` of the runtime's own type, as without pools.
    pub(super) is_plain: bool,
}

impl Memories {
    pub(super) fn new(compiled: &Compiled, owner: Owner) -> Self {
        let is_copied = |pool: &&PlacedPool| pool.pool.copy && pool.bytes > 0;
        let copied: Vec<_> = compiled.constant_pools.iter().filter(is_copied).cloned().collect();
        let is_plain = copied.is_empty() && is_only(&compiled.workspaces, "workspace");
        let mut memories = Vec::new();
        let ram: Vec<_> = compiled.workspaces.iter().filter(|pool| pool.is_ram()).collect();
        let is_used = |pool: &&PlacedPool| pool.bytes > 0 || ram.len() == 1;
        for pool in ram.iter().copied().filter(is_used).chain(&copied) {
            memories.push(if is_plain {
                let alias = format!("::aot_rt::Workspace<{{ {}::ARENA_BYTES }}>", owner.name);
                Memory { name: "workspace".into(), alias, ty: "Workspace".into(), pool: pool.clone() }
            } else {
                let alias = format!("{}{}", owner.name, camel_case(&pool.name));
                let ty = format!("{}::{alias}", owner.path);
                Memory { name: format!("pool_{}", pool.name), alias, ty, pool: pool.clone() }
            });
        }
        let plain_constants = is_only(&compiled.constant_pools, "constants");
        let used = compiled.constant_pools.iter().filter(|pool| pool.bytes > 0);
        let statics = used.map(|pool| ConstantStatic {
            name: match plain_constants {
                true => "CONSTANTS".into(),
                false => format!("CONSTANTS_{}", pool.name.to_ascii_uppercase()),
            },
            path: if owner.is_shared { "super::super::" } else { "" },
            pool: pool.clone(),
            filters: owner.blocked.within(pool.start..pool.start + pool.bytes),
            copy: memories.iter().position(|memory| memory.is_copy() && memory.pool.name == pool.name),
        });
        let statics = statics.collect();
        let mut named = Vec::new();
        if !is_plain {
            named.extend(compiled.workspaces.iter().cloned());
        }
        if !plain_constants {
            named.extend(compiled.constant_pools.iter().cloned());
        }
        Self { owner, memories, statics, named, is_plain }
    }

    /// Whose memory the runner works in.
    pub(super) fn holding(&self) -> Holding {
        if self.owner.is_shared { Holding::Shared } else { self.held() }
    }

    /// Whose memory the owner has.
    pub(super) fn held(&self) -> Holding {
        let has_section = |memory: &Memory| memory.pool.pool.section.is_some();
        if self.memories.iter().any(has_section) { Holding::Static } else { Holding::Own }
    }

    /// Whether the owner refers to its memory.
    pub(super) fn has_references(&self) -> bool {
        self.held() == Holding::Static
    }

    /// The type of a memory in the module of the runner.
    pub(super) fn field(&self, memory: &Memory) -> String {
        match (self.owner.is_shared, self.is_plain) {
            (false, _) => memory.alias.clone(),
            (true, false) => format!("super::{}", memory.alias),
            (true, true) => format!("::aot_rt::Workspace<{{ super::{}::ARENA_BYTES }}>", self.owner.name),
        }
    }

    /// A memory, borrowed from `self`.
    pub(super) fn borrowed(&self, memory: &Memory) -> String {
        self.borrowed_from("self", memory)
    }

    /// A memory, borrowed from `runner`.
    pub(super) fn borrowed_from(&self, runner: &str, memory: &Memory) -> String {
        let star = if self.holding() == Holding::Own { "" } else { "*" };
        format!("&mut {star}{runner}.{}", memory.name)
    }

    /// The region of `len` elements at an address, where all pools of activations lie one behind
    /// the other.
    pub(super) fn region(&self, address: usize, dtype: DType, len: usize) -> Region {
        let starts = self.memories.iter().take_while(|memory| !memory.is_copy());
        let before = starts.take_while(|memory| memory.pool.start <= address).count();
        let memory = before.saturating_sub(1);
        // What has no elements may have its address in a pool that is not used.
        let pool = self.memories.get(memory).map(|memory| &memory.pool);
        let offset = pool.map_or(0, |pool| address.saturating_sub(pool.start).min(pool.bytes));
        Region { memory, dtype, offset, len }
    }

    /// Where a constant is.
    pub(super) fn constant(&self, view: ConstantView) -> Option<ConstantPlace<'_>> {
        let ConstantView { offset, dtype, len } = view;
        let found = self.statics.iter().rfind(|constants| constants.pool.start <= offset)?;
        let offset = offset - found.pool.start;
        Some(match found.copy {
            Some(memory) => ConstantPlace::Copied(Region { memory, dtype, offset, len }),
            None => ConstantPlace::Static(found, offset),
        })
    }

    /// The same constant in flash, for what runs before constants are copied.
    pub(super) fn in_flash(&self, view: ConstantView) -> String {
        let found = self.statics.iter().rfind(|constants| constants.pool.start <= view.offset);
        found.map_or(String::new(), |found| found.get(view, view.offset - found.pool.start))
    }

    /// The statics that are copied, each with its memory.
    pub(super) fn copies(&self) -> impl Iterator<Item = (&ConstantStatic, &Memory)> {
        self.statics.iter().filter_map(|constants| Some((constants, &self.memories[constants.copy?])))
    }

    /// The lines that fill the memories of activations with `byte`.
    pub(super) fn fill(&self, code: &mut Code) {
        let workspaces: Vec<_> = self.memories.iter().filter(|memory| !memory.is_copy()).collect();
        if workspaces.is_empty() {
            code.line("let _ = (self, byte); // There is no workspace.");
        }
        for memory in workspaces {
            code.line(format!("self.{}.fill(byte);", memory.name));
        }
    }

    /// The types of the memories, where they are not the runtime's own.
    pub(super) fn aliases(&self, code: &mut Code) {
        let owner = &self.owner.name;
        for memory in self.memories.iter().filter(|_| !self.is_plain) {
            code.blank();
            code.doc(format!("Pool `{}` of [`{owner}`]: {}.", memory.pool.name, purpose(&memory.pool)));
            let workspace = format!("::aot_rt::Workspace<{{ {owner}::{} }}>", memory.constant());
            code.line(format!("pub type {} = {};", memory.alias, aligned(&memory.pool, &workspace)));
        }
    }

    /// Names of those types.
    pub(super) fn exports(&self) -> impl Iterator<Item = String> {
        self.memories.iter().filter(|_| !self.is_plain).map(|memory| memory.alias.clone())
    }

    /// The type of the workspace in the module of the steps, where it is the runtime's own.
    pub(super) fn plain_type(&self, code: &mut Code) {
        code.blank();
        code.line(format!("type Workspace = ::aot_rt::Workspace<{{ {}::ARENA_BYTES }}>;", self.owner.ty()));
    }

    /// The statics of constants, in the module that is `depth` below the owner's type: `super::`.
    pub(super) fn statics(&self, code: &mut Code, depth: &str) {
        let is_plain = !self.named.iter().any(|pool| self.statics.iter().any(|found| found.pool == *pool));
        for constants in &self.statics {
            code.blank();
            constants.print(code, &format!("{depth}{}", self.owner.name), depth, is_plain);
        }
    }

    /// Constants of the owner's: the bytes of each pool.
    pub(super) fn bytes(&self, mut constant: impl FnMut(String, String, String)) {
        for pool in &self.named {
            let doc = format!("Bytes of pool `{}`: {}.", pool.name, purpose(pool));
            constant(doc, bytes_constant(pool), integer(pool.bytes));
        }
    }
}

impl ConstantStatic {
    /// `CONSTANTS.get::<i8, 0, 490>()`.
    pub(super) fn get(&self, view: ConstantView, offset: usize) -> String {
        let region = Region { memory: 0, dtype: view.dtype, offset, len: view.len };
        format!("{}.get::<{}>()", self.name(), region.arguments())
    }

    /// Its name in the module of the steps.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.path, self.name)
    }

    fn print(&self, code: &mut Code, owner: &str, depth: &str, is_plain: bool) {
        let data = format!("{depth}CONSTANT_DATA");
        let blocks = self.blocks(code);
        if is_plain {
            return code.assign(
                &format!("static {}: ::aot_rt::Constants<{{ {owner}::CONSTANT_BYTES }}>", self.name),
                &format!("::aot_rt::Constants::new(*{data}){blocks}"),
            );
        }
        let bytes = bytes_constant(&self.pool);
        let ty = aligned(&self.pool, &format!("::aot_rt::Constants<{{ {owner}::{bytes} }}>"));
        let start = integer(self.pool.start);
        let mut value = format!("::aot_rt::Constants::part({data}, {start}){blocks}");
        if alignment(&self.pool).is_some() {
            value = format!("::aot_rt::Aligned::new({value})");
        }
        // What is copied lies where the linker puts constants; its memory has the section.
        match self.pool.pool.section.as_ref().filter(|_| self.copy.is_none()) {
            Some(section) => code.block("::aot_rt::in_section! {", "}", |code| {
                code.line(format!("{section:?},"));
                code.assign(&format!("static {}: {ty}", self.name), &value);
            }),
            None => code.assign(&format!("static {}: {ty}", self.name), &value),
        }
    }

    /// Prints which filters stand in blocks; gives what the value has behind it for that.
    fn blocks(&self, code: &mut Code) -> String {
        if self.filters.is_empty() {
            return String::new();
        }
        let name = self.name.replacen("CONSTANTS", "FILTERS", 1);
        code.doc("Filters that stand in blocks where the processor's kernels read them so: at which");
        code.doc("byte they start, groups, filters of a group, weights of a filter.");
        let filters = self.filters.iter().map(|Filters { at, groups, filters, len }| {
            let values = [at, groups, filters, len].map(|value| integer(*value));
            format!("::aot_rt::kernels::Filters::new({})", values.join(", "))
        });
        let open = format!("const {name}: &[::aot_rt::kernels::Filters] = &[");
        code.line("#[rustfmt::skip]");
        code.wide_list(&open, &filters.collect::<Vec<_>>(), "];");
        code.blank();
        format!(".with_blocks({name})")
    }
}

/// Whether one pool of this name is all, and nothing is said of where it lies.
fn is_only(pools: &[PlacedPool], name: &str) -> bool {
    let [pool] = pools else { return false };
    pool.name == name && alignment(pool).is_none() && pool.pool.section.is_none() && !pool.pool.copy
}

/// The alignment of a pool, where it is more than that of the runtime's types.
fn alignment(pool: &PlacedPool) -> Option<usize> {
    pool.pool.alignment.filter(|alignment| *alignment > ALIGNMENT)
}

/// `ty` with the alignment of the pool.
fn aligned(pool: &PlacedPool, ty: &str) -> String {
    match alignment(pool) {
        Some(alignment) => format!("::aot_rt::Aligned<::aot_rt::Align{alignment}, {ty}>"),
        None => ty.to_owned(),
    }
}

/// What a pool is for.
pub(super) fn purpose(pool: &PlacedPool) -> String {
    let what = match (pool.pool.kind, pool.pool.copy) {
        (crate::config::PoolKind::Workspace, _) => "activations",
        (crate::config::PoolKind::Constants, false) => "constants",
        (crate::config::PoolKind::Constants, true) => "constants, copied from flash",
    };
    match (&pool.pool.section, &pool.pool.reach) {
        (Some(section), _) => format!("{what}, in section `{section}`"),
        (None, Some(devices)) if !pool.is_ram() => format!("{what}, in memory of `{}`", devices.join("`, `")),
        (None, _) => what.to_owned(),
    }
}
