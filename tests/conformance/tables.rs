//! Functions of one int8 element are looked up, in a table among the constants: nothing of them
//! is computed on the target.

use std::path::Path;

use aot_build::program::{Operand, Work};
use aot_rt::kernels::Kernel;

use crate::{case, workspace};

/// The functions with cases named `…_i8_every_value…`, which read one tensor of int8.
const FUNCTIONS: [&str; 15] = [
    "abs",
    "elu",
    "exp",
    "gelu",
    "hard_swish",
    "leaky_relu",
    "log",
    "logistic",
    "neg",
    "relu",
    "relu6",
    "relu_0_to_1",
    "rsqrt",
    "sqrt",
    "tanh",
];

/// Whether the model has nothing but such tables.
fn is_looked_up(model: &Path) -> bool {
    let model = aot_build::compile_file(model, &aot_build::Config::default()).expect("the case compiles");
    let steps = &model.compiled.program.steps;
    steps.iter().all(|step| {
        let table =
            step.operands.iter().any(|operand| matches!(operand, Operand::Constant(view) if view.len == 256));
        table && matches!(step.work, Work::Kernel(Kernel::LookupI8(_)))
    })
}

#[test]
fn int8_functions_are_tables() {
    let mut counts = FUNCTIONS.map(|_| 0);
    for folder in case::folders(&workspace().join("tests/conformance/cases")) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((function, _)) = name.split_once("_i8_every_value") else { continue };
        if let Some(i) = FUNCTIONS.iter().position(|known| *known == function) {
            assert!(is_looked_up(&folder.join("model.tflite")), "{name}");
            counts[i] += 1;
        }
    }
    for (function, count) in FUNCTIONS.iter().zip(counts) {
        assert!(count > 0, "no case of {function}");
    }
}
