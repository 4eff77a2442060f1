//! What an image holds, from its ELF file.

use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind, elf};

/// Bytes of an image's parts, and its functions and statics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// The table of exception vectors.
    pub(crate) vectors: u64,
    pub(crate) text: u64,
    pub(crate) rodata: u64,
    /// Memory that starts as a copy of flash.
    pub(crate) data: u64,
    /// Memory that starts as zeros, or as whatever it was.
    pub(crate) bss: u64,
    /// The largest first.
    pub(crate) symbols: Vec<Symbol>,
}

/// A function or static.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// Parts of names that no image may have, and what they mean.
const FORBIDDEN: [(&str, &str); 6] = [
    ("core::fmt", "formatting"),
    ("panic", "a panic path"),
    ("rust_begin_unwind", "a panic path"),
    // On Arm `__aeabi_ldivmod` and `__aeabi_uldivmod`; on RISC-V `__udivdi3` and the like.
    ("ldivmod", "64-bit division"),
    ("divdi3", "64-bit division"),
    ("moddi3", "64-bit division"),
];

impl Contents {
    pub(crate) fn read(image: &Path) -> Result<Self, String> {
        let at = |error: String| format!("{}: {error}", image.display());
        let bytes = std::fs::read(image).map_err(|error| at(error.to_string()))?;
        let file = object::File::parse(&*bytes).map_err(|error| at(error.to_string()))?;
        let mut contents = Self::default();
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            // The stack and the heap are what is left.
            let name = section.name().unwrap_or_default();
            if sh_flags & u64::from(elf::SHF_ALLOC) == 0 || [".stack", ".heap"].contains(&name) {
                continue;
            }
            let part = match section.kind() {
                _ if name == ".vector_table" => &mut contents.vectors,
                SectionKind::Text => &mut contents.text,
                SectionKind::UninitializedData => &mut contents.bss,
                _ if sh_flags & u64::from(elf::SHF_WRITE) != 0 => &mut contents.data,
                _ => &mut contents.rodata,
            };
            *part += section.size();
        }
        let symbols = file.symbols().filter(|symbol| symbol.size() > 0);
        contents.symbols = symbols
            .map(|symbol| Symbol {
                name: format!("{:#}", rustc_demangle::demangle(symbol.name().unwrap_or_default())),
                bytes: symbol.size(),
            })
            .collect();
        contents.symbols.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        Ok(contents)
    }

    /// Bytes of flash.
    pub(crate) fn flash(&self) -> u64 {
        self.vectors + self.text + self.rodata + self.data
    }

    /// What is in the image and must not be, a line each.
    pub(crate) fn forbidden(&self) -> Vec<String> {
        let find = |symbol: &Symbol| {
            let (_, what) = FORBIDDEN.iter().find(|(part, _)| symbol.name.contains(part))?;
            Some(format!("{what} in the image: `{}`", symbol.name))
        };
        self.symbols.iter().filter_map(find).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_image_may_have_is_found() {
        let symbol = |name: &str| Symbol { name: name.into(), bytes: 4 };
        let names =
            ["aot_rt::kernels::conv2d_i8", "core::panicking::panic", "<u32 as core::fmt::Display>::fmt"];
        let contents = Contents { symbols: names.map(symbol).to_vec(), ..Contents::default() };
        let expected = [
            "a panic path in the image: `core::panicking::panic`",
            "formatting in the image: `<u32 as core::fmt::Display>::fmt`",
        ];
        assert_eq!(contents.forbidden(), expected);
        for name in ["__aeabi_ldivmod", "__aeabi_uldivmod", "__divdi3", "__udivdi3", "__moddi3", "__umoddi3"]
        {
            let division = Contents { symbols: vec![symbol(name)], ..Contents::default() };
            assert_eq!(division.forbidden(), [format!("64-bit division in the image: `{name}`")]);
        }
    }

    /// This test's own program: what a linker has made.
    #[test]
    fn sections_and_symbols_are_read() {
        let contents = Contents::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(contents.text > 10_000 && contents.rodata > 1_000 && contents.vectors == 0);
        let sizes: Vec<_> = contents.symbols.iter().map(|symbol| symbol.bytes).collect();
        assert!(sizes.len() > 100 && sizes.is_sorted_by(|a, b| a >= b));
        assert!(Contents::read(Path::new("Cargo.toml")).is_err());
    }
}
