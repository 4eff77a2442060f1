//! Models in pools of memory, with limits, alignments, link sections, and constants that are
//! copied; and the same models without.

use std::fmt::Write as _;
use std::path::Path;

use aot_build::Builder;
use aot_build::config::{InputPlacement, Memory, Optimize, Placement, Pool, PoolKind};

/// Conformance cases: layers, states, branches, loops.
const CASES: [&str; 6] = [
    "depthwise_conv_2d_dynamic_multiplier3_valid_relu",
    "if_i8_both",
    "softmax_i16_rows",
    "svdf_f32_rank3_no_bias",
    "svdf_i8_memory_i8",
    "while_i8_swaps",
];

/// A way to compile a model, and how to make its runner.
struct Configuration {
    suffix: &'static str,
    apply: fn(Builder) -> Builder,
    new: &'static str,
}

const NEW: &str = "Runner::new()";
const TAKE: &str = "Runner::take().expect(\"it is taken once\")";

const CONFIGURATIONS: [Configuration; 4] = [
    Configuration { suffix: "_pools", apply: pools, new: NEW },
    Configuration {
        suffix: "_pools_caller",
        apply: |builder| {
            let builder = builder.inputs(InputPlacement::Caller).outputs(Placement::Caller);
            pools(builder.optimize(Optimize::Size))
        },
        new: NEW,
    },
    Configuration {
        suffix: "_pools_rows",
        apply: |builder| pools(builder.inputs(InputPlacement::Rows).memory(Memory::Min)),
        new: NEW,
    },
    Configuration { suffix: "_sections", apply: sections, new: TAKE },
];

/// A module for each model without pools and in each configuration, with a test that both give
/// the same.
pub(crate) fn compile(out_dir: &Path) -> String {
    let digits = "../../examples/digits/model";
    let mut source = String::new();
    for (name, model) in [("digits_int8", "digits.tflite"), ("digits_float", "digits.json")] {
        add(&mut source, out_dir, name, &format!("{digits}/{model}"), &format!("{digits}/cases/{name}"));
    }
    for name in CASES {
        let folder = format!("../conformance/cases/{name}");
        add(&mut source, out_dir, name, &format!("{folder}/model.tflite"), &folder);
    }
    source
}

fn add(source: &mut String, out_dir: &Path, name: &str, model: &str, cases: &str) {
    let mut module = |name: &str, builder: Builder, test: &str| {
        let folder = out_dir.join(name);
        std::fs::create_dir_all(&folder).expect("a folder in OUT_DIR can be made");
        match builder.name("Runner").out_dir(&folder).compile() {
            Ok(_) => (),
            // Not every model reads its input row by row.
            Err(error) if error.to_string().contains("key `inputs`") => return,
            Err(error) => panic!("{error}"),
        }
        let file = folder.join("runner.rs").display().to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(source, "#[allow(missing_docs)] pub mod {name} {{ include!({file:?}); {test} }}");
    };
    module(name, Builder::new(model), "");
    for Configuration { suffix, apply, new } in &CONFIGURATIONS {
        let check = format!(
            "use super::{name}::Runner as Plain; crate::pools_tests::check((Plain::new(), Plain::fill_workspace), \
             ({new}, Runner::fill_workspace), {cases:?});"
        );
        let test = format!("#[cfg(test)] #[test] fn agrees() {{ {check} }}");
        module(&format!("{name}{suffix}"), apply(Builder::new(model)), &test);
    }
}

fn constants() -> Pool {
    Pool { kind: PoolKind::Constants, ..Pool::default() }
}

/// Small pools that cost nothing, and others for the rest.
fn pools(builder: Builder) -> Builder {
    builder
        .pool("fast", Pool { limit: Some(300), alignment: Some(64), ..Pool::default() })
        .pool("slow", Pool { cost: 1, ..Pool::default() })
        .pool("hot", Pool { limit: Some(256), alignment: Some(32), copy: true, ..constants() })
        .pool("cold", Pool { cost: 1, ..constants() })
}

/// The same in link sections.
fn sections(builder: Builder) -> Builder {
    let section = |name: &str| Some(name.to_owned());
    builder
        .pool("dtcm", Pool { limit: Some(700), section: section(".bss_dtcm"), ..Pool::default() })
        .pool("sram", Pool { cost: 1, alignment: Some(256), ..Pool::default() })
        .pool("hot", Pool { limit: Some(512), copy: true, section: section(".bss_hot"), ..constants() })
        .pool("cold", Pool { cost: 1, alignment: Some(128), section: section(".flash2"), ..constants() })
}
