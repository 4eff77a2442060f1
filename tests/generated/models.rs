//! The models of `shared/models` that must give the reference's numbers.

/// Conformance cases of control flow: what generated code does by itself, not by kernels.
#[allow(dead_code, reason = "the evaluator runs them with all other cases")]
pub(crate) const CONTROL: [&str; 10] = [
    "if_f32_constants",
    "if_i8_both",
    "if_i8_moves",
    "if_u8_legacy",
    "while_f32_behind_layer",
    "while_f32_flag",
    "while_f32_nested_while",
    "while_f32_weights",
    "while_i8_counts",
    "while_i8_swaps",
];

/// Names of their folders.
pub(crate) const SHARED: &[&str] = &[
    "coral_mobilenet_v1_025_128_uint8",
    "mediapipe_face_detection_short_range",
    "microflow_sine",
    "mlperf_ad_float",
    "mlperf_ad_hybrid",
    "mlperf_ad_int8",
    "mlperf_ad_int8_float_io",
    "mlperf_kws_hybrid",
    "mlperf_kws_int8",
    "mlperf_resnet_float",
    "mlperf_resnet_int8",
    "mlperf_sww_int8",
    "mlperf_vww_float",
    "mlperf_vww_int8",
    "mww_okay_nabu",
    "seanet_add12",
    "seanet_conv0",
    "seanet_leaky_relu12",
    "seanet_pad12",
    "seanet_quantize0",
    "seanet_strided_slice12",
    "seanet_sub4",
    "seanet_transpose_conv4",
    "tflm_audio_preprocessor_float",
    "tflm_audio_preprocessor_int8",
    "tflm_hello_world_float",
    "tflm_hello_world_int8",
    "tflm_keyword_svdf",
    "tflm_micro_speech",
    "tflm_mnist_lstm_float",
    "tflm_mnist_lstm_int8",
    "tflm_person_detect",
    "tinymaix_mnist_float",
    "tinymaix_mnist_int8",
];

/// Cases of single operators whose kernels no model above has, and whose operands differ in
/// kind from those of others.
#[allow(dead_code, reason = "the conformance test runs all of them")]
pub(crate) const OPERATORS: [&str; 5] = [
    "average_pool_2d_i16_same_3x3",
    "depthwise_conv_2d_dynamic_multiplier3_valid_relu",
    "softmax_i16_rows",
    "softmax_i8_to_i16_rows",
    "tanh_i16_usual",
];
