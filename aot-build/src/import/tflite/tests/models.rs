//! Real models: `AOT_SHARED`, or the folder `shared` beside the repository.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::damage::{Random, survive};
use crate::Config;
use crate::error::Error;
use crate::import::import;

/// Those that use nothing but what the importer knows; of the single operators, `seanet_…`,
/// the conformance tests say which those are.
const READ: &[&str] = &[
    "coral_mobilenet_v1_025_128_uint8",
    "mediapipe_face_detection_short_range",
    "mediapipe_hand_recrop",
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

/// Beginnings of the names of single-operator files that are read, too.
const READ_OPERATORS: [&str; 3] = ["seanet_leaky_relu", "seanet_pad", "seanet_strided_slice"];

fn is_read(name: &str) -> bool {
    READ.contains(&name) || READ_OPERATORS.iter().any(|operator| name.starts_with(operator))
}

/// Name and file of every model, by name; none where the folder is absent.
pub(super) fn files() -> Vec<(String, PathBuf)> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    let folder = std::env::var_os("AOT_SHARED").map_or_else(beside, PathBuf::from).join("models");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        // Past the harness, which hides what passing tests print with macros.
        let _ = writeln!(std::io::stderr(), "skipped: {} is not there", folder.display());
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let file = entry.path().join("model.tflite");
            file.is_file().then(|| (entry.file_name().to_string_lossy().into_owned(), file))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn models_are_read_or_refused() {
    for (name, file) in files() {
        let start = Instant::now();
        let result = import(&file, &Config::default());
        let elapsed = start.elapsed();
        match result {
            Ok(imported) => {
                let bytes = imported.bytes;
                println!("{name}: {} nodes, {bytes} bytes in {elapsed:?}", imported.graph.nodes.len());
            }
            Err(Error { problems, .. }) => {
                println!("{name}:");
                problems.iter().for_each(|problem| println!("  {problem}"));
                assert!(!is_read(&name), "{name} is refused");
                assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
            }
        }
    }
}

/// Real files have parts that the small ones lack.
#[test]
fn damaged_models() {
    let mut random = Random(0xda_4a6e);
    for (name, file) in files() {
        let bytes = std::fs::read(&file).unwrap();
        let start = Instant::now();
        for _ in 0..40 {
            survive(&bytes[..random.below(bytes.len())]);
            let mut damaged = bytes.clone();
            random.damage(&mut damaged);
            survive(&damaged);
            // Most of a file is weights; what describes them is near one of the ends.
            let edge = random.below(bytes.len().min(4096));
            let position = if random.below(2) == 0 { edge } else { bytes.len() - 1 - edge };
            damaged[position] = damaged[position].wrapping_add(1);
            survive(&damaged);
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
    }
}
