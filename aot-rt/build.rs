//! Tells the crate what no stable `cfg` says: which architecture of Arm's microcontrollers the
//! target has, whether it has DSP instructions or vectors, and whether it is compiled to be small.
//!
//! With `--cfg aot_portable` among the compiler's flags, all kernels are those in plain Rust: for
//! the comparison of both.

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
    let mut names = instructions(&target, &flags.split('\x1f').collect::<Vec<_>>());
    if ["s", "z"].contains(&variable("OPT_LEVEL").as_str()) {
        names.push("aot_small");
    }
    names.iter().for_each(|name| println!("cargo::rustc-cfg={name}"));
}

/// The instructions that there are kernels for.
fn instructions(target: &str, flags: &[&str]) -> Vec<&'static str> {
    let is_any = |starts: &[&str]| starts.iter().any(|start| target.starts_with(start));
    let has = |part: &str| flags.iter().any(|flag| flag.contains(part));
    let processor = flags.iter().rev().find_map(|flag| Some(flag.split_once("target-cpu=")?.1));
    let is_one_of = |names: &[&str]| processor.is_some_and(|processor| names.contains(&processor));
    if has("aot_portable") {
        return Vec::new();
    }
    if is_any(&["thumbv6m-", "thumbv8m.base-"]) {
        return vec!["aot_armv6m"];
    }
    if !is_any(&["thumbv7m-", "thumbv7em-", "thumbv8m.main-"]) {
        return Vec::new();
    }
    // Vectors may be switched off, and without registers for floats they are not usable.
    if target == "thumbv8m.main-none-eabihf" && is_one_of(&HELIUM) && !has("-mve") {
        return vec!["aot_helium"];
    }
    // All of Armv7E-M have DSP instructions; of Armv8-M those whose processor is named.
    let is_named = is_one_of(&DSP) || is_one_of(&HELIUM);
    if is_any(&["thumbv7em-"]) || is_any(&["thumbv8m.main-"]) && is_named {
        return vec!["aot_armv7m", "aot_dsp"];
    }
    vec!["aot_armv7m"]
}
