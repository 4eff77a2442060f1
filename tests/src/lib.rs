//! Code generated for odd graphs (`generated/odd.rs`), as a library exports it: nothing
//! in it may warn, used or not.
#![deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]

/// Names that are keywords, methods, equal, empty, and worse.
pub mod names {
    aot_rt::include_model!("names");
}

/// The same with the caller's inputs.
pub mod names_inputs_caller {
    aot_rt::include_model!("names_inputs_caller");
}

/// The same with the caller's outputs.
pub mod names_outputs_caller {
    aot_rt::include_model!("names_outputs_caller");
}

/// The same with the caller's inputs and outputs.
pub mod names_caller {
    aot_rt::include_model!("names_caller");
}

/// Inputs and constants as outputs.
pub mod copies {
    aot_rt::include_model!("copies");
}

/// Views, and tensors that are made inside others.
pub mod moves {
    aot_rt::include_model!("moves");
}

/// The same in the caller's arrays.
pub mod moves_caller {
    aot_rt::include_model!("moves_caller");
}

/// Truth values.
pub mod truth {
    aot_rt::include_model!("truth");
}

/// The same in the caller's arrays.
pub mod truth_caller {
    aot_rt::include_model!("truth_caller");
}

/// Many steps, and a name that the runtime has, too.
pub mod chain {
    aot_rt::include_model!("chain");
}

/// Tensors that are kept from run to run.
pub mod states {
    aot_rt::include_model!("states");
}

/// The same with the caller's inputs and outputs.
pub mod states_caller {
    aot_rt::include_model!("states_caller");
}

/// Kernels that are given descriptions of their tensors.
pub mod packed {
    /// Sums.
    pub mod names {
        aot_rt::include_model!("names_packed");
    }
    /// Copies.
    pub mod copies {
        aot_rt::include_model!("copies_packed");
    }
    /// Truth values.
    pub mod truth {
        aot_rt::include_model!("truth_packed");
    }
    /// Tensors that are kept from run to run.
    pub mod states {
        aot_rt::include_model!("states_packed");
    }
}

/// Kernels that are bound by name.
pub mod registry {
    /// Sums.
    pub mod names {
        aot_rt::include_model!("names_registry");
    }
    /// Copies.
    pub mod copies {
        aot_rt::include_model!("copies_registry");
    }
    /// Truth values.
    pub mod truth {
        aot_rt::include_model!("truth_registry");
    }
    /// Tensors that are kept from run to run.
    pub mod states {
        aot_rt::include_model!("states_registry");
    }
}

/// What no user of this crate sees.
mod private {
    mod copies {
        aot_rt::include_model!("copies_caller");
    }
    mod chain {
        aot_rt::include_model!("chain_caller");
    }

    #[cfg(test)]
    pub(crate) fn copy(x: &[f32; 3]) -> ([f32; 3], [i32; 2]) {
        let (mut first, mut seven, mut second) = ([0.0; 3], [0; 2], [0.0; 3]);
        let outputs =
            copies::CopiesOutputs { output_x: &mut first, seven: &mut seven, output_x_2: &mut second };
        copies::Copies::new().run(x, outputs);
        assert_eq!(first.map(f32::to_bits), second.map(f32::to_bits));
        (first, seven)
    }
}

#[cfg(test)]
mod calls;
#[cfg(test)]
mod tests;

/// The examples on this page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/graph-edges.md")]
mod graph_edges {}

/// Says that a test skips something, and why. The harness hides what passing tests print
/// with macros, so this writes past it.
pub fn skipped(why: &str) {
    use std::io::Write as _;
    // Nobody minds when it cannot be said.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}
