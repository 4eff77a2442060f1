//! Pools of memory: the same models in several, with limits, alignments, link sections, and
//! constants that are copied.

use aot_build::Builder;
use aot_build::config::{InputPlacement, Memory, Optimize, Placement, Pool, PoolKind};

/// Conformance cases: layers, states, branches, loops.
pub(crate) const CASES: [&str; 6] = [
    "depthwise_conv_2d_dynamic_multiplier3_valid_relu",
    "if_i8_both",
    "softmax_i16_rows",
    "svdf_f32_rank3_no_bias",
    "svdf_i8_memory_i8",
    "while_i8_swaps",
];

/// A way to compile a model, and how to make its runner.
pub(crate) struct Configuration {
    pub(crate) suffix: &'static str,
    pub(crate) apply: fn(Builder) -> Builder,
    pub(crate) new: &'static str,
}

const NEW: &str = "Runner::new";
const TAKE: &str = "|| Runner::take().expect(\"it is taken once\")";

pub(crate) const CONFIGURATIONS: [Configuration; 4] = [
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
