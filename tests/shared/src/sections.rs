//! Memories and constants lie in the link sections, and at the alignments, that pools ask for:
//! this test is the linked program.

use std::process::Command;

/// A symbol of this program: its section, its address and its name.
struct Symbol {
    section: String,
    address: u64,
    name: String,
}

fn symbols() -> Vec<Symbol> {
    let program = std::env::current_exe().expect("a program knows its file");
    let output = Command::new("objdump").args(["--syms", "--demangle"]).arg(program).output();
    let output = output.expect("objdump runs");
    assert!(output.status.success(), "objdump cannot read the program");
    // `address flags section size name`
    let symbol = |line: &str| {
        let (address, rest) = line.split_at_checked(16)?;
        let mut words = rest.get(8..)?.split_whitespace();
        let (section, _size) = (words.next()?, words.next()?);
        let name = words.collect::<Vec<_>>().join(" ");
        Some(Symbol { section: section.into(), address: u64::from_str_radix(address, 16).ok()?, name })
    };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(symbol).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn pools_lie_in_their_sections() {
    let symbols = symbols();
    for (module, part, section, alignment) in [
        ("digits_int8_sections", "DTCM", ".bss_dtcm", 16),
        ("digits_int8_sections", "SRAM", ".bss", 256),
        ("digits_int8_sections", "HOT", ".bss_hot", 16),
        ("digits_int8_sections", "CONSTANTS_COLD", ".flash2", 128),
        ("svdf_i8_memory_i8_sections", "DTCM", ".bss_dtcm", 16),
        ("digits_int8_pools", "CONSTANTS_COLD", ".rodata", 16),
    ] {
        let is_it = |symbol: &&Symbol| {
            let mut path = symbol.name.split("::");
            // The memory in a section has a name of its own below that of the pool.
            path.any(|name| name == module) && path.any(|name| name.trim_end() == part)
        };
        let found: Vec<_> = symbols.iter().filter(is_it).filter(|symbol| symbol.section == section).collect();
        assert!(!found.is_empty(), "{module}: no `{part}` in `{section}`");
        let aligned = found.iter().any(|symbol| symbol.address.is_multiple_of(alignment));
        assert!(aligned, "{module}: `{part}` is not aligned to {alignment}");
    }
}
