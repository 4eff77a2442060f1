//! Tensors that are kept: what they hold is what LiteRT's reference kernels compute
//! (`tools/reference/intermediates.py`), in every way to compile the model.

use aot_build::{Config, compile_file};
use aot_macros::aot_model;

use crate::{DIGITS_INPUT, IF, file, i8s};

/// A module for digits with all of these kept; `$more` configures it.
macro_rules! kept {
    ($module:ident, $run:expr, { $($more:tt)* }) => {
        mod $module {
            use super::*;

            aot_model! {
                struct Net = "../../examples/digits/model/digits.tflite" {
                    keep = [
                        "digits_1/conv1_1/Relu;digits_1/conv1_1/BiasAdd;digits_1/conv1_1/convolution;digits_1/conv1_1/Squeeze1",
                        "digits_1/pool2_1/MaxPool2d",
                        "digits_1/flatten_1/Reshape",
                        "digits_1/dense_1/MatMul;digits_1/dense_1/BiasAdd",
                        "image",
                        "probabilities",
                    ],
                    $($more)*
                }
            }

            #[test]
            fn holds_what_the_reference_computes() {
                let image: [i8; 64] = i8s(DIGITS_INPUT);
                let mut net = Net::new();
                // Whatever the memory held, and run after run.
                for byte in [0x5a, 0xa5] {
                    net.fill_workspace(byte);
                    let run: fn(&mut Net, &[i8; 64]) -> [i8; 10] = $run;
                    let probabilities = run(&mut net, &image);
                    let reference = |i: usize| format!("tests/instrument/reference/kept{i}.npy");
                    assert_eq!(*net.kept_digits_1_conv1_1_relu_digits_1_conv1_1_bias_ad(), i8s(&reference(0)));
                    assert_eq!(*net.kept_digits_1_pool2_1_max_pool2d(), i8s(&reference(1)));
                    assert_eq!(*net.kept_digits_1_flatten_1_reshape(), i8s(&reference(2)));
                    assert_eq!(*net.kept_digits_1_dense_1_mat_mul_digits_1_dense_1_bias(), i8s(&reference(3)));
                    assert_eq!(*net.kept_image(), image);
                    assert_eq!(*net.kept_probabilities(), probabilities);
                    assert_eq!(probabilities, i8s("examples/digits/model/cases/digits_int8/s0/out0.npy"));
                }
                assert_eq!(Net::KEPT_DIGITS_1_POOL2_1_MAX_POOL2D_SHAPE, [1, 4, 4, 16]);
                assert_eq!(Net::KEPT_IMAGE_QUANTIZATION, Net::IMAGE_QUANTIZATION);
                assert_eq!(Net::dequantize_kept_image(-128), 0.0);
            }
        }
    };
}

/// Runs a model whose output is the caller's array.
macro_rules! caller {
    () => {
        |net, image| {
            let mut result = [0; 10];
            net.run(image, &mut result);
            result
        }
    };
}

kept!(workspace, |net, image| *net.run(image), {});
kept!(caller_arrays, caller!(), { inputs = "caller", outputs = "caller", optimize = "size" });
kept!(callers_output, caller!(), { outputs = "caller", memory = "min" });
kept!(min, |net, image| *net.run(image), { memory = "min" });
kept!(rows, |net, image| *net.run(image), { inputs = "rows", memory = "min" });

/// One is kept whole, while the layers around it run row by row.
#[test]
fn a_layer_of_a_run() {
    aot_model! {
        struct Net = "../../examples/digits/model/digits.tflite" {
            memory = "min", keep = ["digits_1/pool2_1/MaxPool2d"],
        }
    }
    assert!(Net::STEPS.iter().any(|step| step.rows > 1));
    let mut net = Net::new();
    net.run(&i8s(DIGITS_INPUT));
    assert_eq!(*net.kept_digits_1_pool2_1_max_pool2d(), i8s("tests/instrument/reference/kept1.npy"));
}

/// `y = max(x + b, 0)`: the sum would not be there if the limits were fused into it.
mod limited {
    use super::*;

    aot_model! { struct Fused = "models/limited.json"; }
    aot_model! { struct Kept = "models/limited.json" { keep = ["sum", "b"] } }

    #[test]
    fn is_not_fused() {
        let x = [0.5, 2.5, -4.0, 1.0];
        let y = [0.0, 0.5, 0.0, 5.0];
        assert_eq!(Fused::STEPS.len(), 1);
        assert_eq!(*Fused::new().run(&x), y);
        let mut kept = Kept::new();
        assert_eq!(*kept.run(&x), y);
        assert_eq!(*kept.kept_sum(), [-0.5, 0.5, -1.0, 5.0]);
        assert_eq!(*kept.kept_b(), [-1.0, -2.0, 3.0, 4.0]);
    }
}

/// What is within a branch may not have been computed.
#[test]
fn not_within_control_flow() {
    let keep = vec!["inner".to_owned()];
    let model = file(&format!("{IF}/model.tflite"));
    let within = within_regions(&model);
    let error = compile_file(&model, &Config { keep: within.clone(), ..Config::default() }).unwrap_err();
    let expect = format!(
        "tensor `{}` is within a branch or a loop, where nothing is kept\n  = help: name the result of the branch or loop",
        within[0]
    );
    assert!(error.to_string().ends_with(&expect), "{error}");
    let error = compile_file(&model, &Config { keep, ..Config::default() }).unwrap_err();
    assert!(error.to_string().ends_with("key `keep`: the model has no tensor `inner`"), "{error}");
}

/// The name of a tensor that only a branch has.
fn within_regions(model: &std::path::Path) -> Vec<String> {
    let imported = aot_build::import::import(model, &Config::default()).expect("the model can be read");
    let graph = imported.graph;
    let names: Vec<_> = graph.tensors.iter().map(|tensor| tensor.name.clone()).collect();
    let regions = graph.nodes.iter().flat_map(|node| node.op.regions());
    let inner = regions.flat_map(|region| &region.tensors).map(|tensor| tensor.name.clone());
    inner.filter(|name| !names.contains(name)).take(1).collect()
}
