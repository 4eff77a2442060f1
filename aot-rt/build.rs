//! Tells the crate what no stable `cfg` says: which architecture of Arm's microcontrollers the
//! target has, whether it has DSP instructions or vectors, and whether it is compiled to be small.

use std::env;

/// Processors of Armv8-M that have DSP instructions.
const DSP: [&str; 2] = ["cortex-m33", "cortex-m35p"];

/// Processors that have vectors, Helium, as well.
const HELIUM: [&str; 3] = ["cortex-m52", "cortex-m55", "cortex-m85"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(aot_armv6m, aot_armv7m, aot_dsp, aot_helium, aot_small)");
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| env::var(name).unwrap_or_default();
    let (target, flags) = (variable("TARGET"), variable("CARGO_ENCODED_RUSTFLAGS"));
    let processor =
        flags.split('\x1f').filter_map(|flag| flag.trim_start_matches("-C").split_once("target-cpu="));
    let is_one_of =
        |names: &[&str]| processor.clone().next_back().is_some_and(|(_, name)| names.contains(&name));
    // Vectors may be switched off, and without registers for floats they are not usable.
    let has_helium = target == "thumbv8m.main-none-eabihf" && is_one_of(&HELIUM) && !flags.contains("-mve");
    let starts_with_any = |starts: &[&str]| starts.iter().any(|start| target.starts_with(start));
    if starts_with_any(&["thumbv6m-", "thumbv8m.base-"]) {
        println!("cargo::rustc-cfg=aot_armv6m");
    }
    if !has_helium && starts_with_any(&["thumbv7m-", "thumbv7em-", "thumbv8m.main-"]) {
        println!("cargo::rustc-cfg=aot_armv7m");
    }
    // All of Armv7E-M have them; of Armv8-M those whose processor is named.
    let is_named = is_one_of(&DSP) || is_one_of(&HELIUM);
    if has_helium {
        println!("cargo::rustc-cfg=aot_helium");
    } else if target.starts_with("thumbv7em-") || target.starts_with("thumbv8m.main-") && is_named {
        println!("cargo::rustc-cfg=aot_dsp");
    }
    if ["s", "z"].contains(&variable("OPT_LEVEL").as_str()) {
        println!("cargo::rustc-cfg=aot_small");
    }
}
