//! The files of the fuzz targets' corpus, and damaged copies of them, through the function
//! that the targets call.

#[path = "../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets use it as a library")]
mod survive;

use std::fs;
use std::path::Path;

use survive::survive;

/// Damaged copies of each file.
const COPIES: usize = 3;

fn corpus(target: &str, extension: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("there is a corpus").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut read, mut refused) = (0, 0);
    for (i, file) in files.iter().enumerate() {
        let mut bytes = fs::read(file).unwrap();
        if survive(extension, &bytes) {
            read += 1
        } else {
            refused += 1
        }
        for copy in 0..COPIES {
            // Anywhere, the same in every run.
            let at = (i + 1) * (copy + 1) * 7919 % bytes.len();
            bytes[at] = bytes[at].wrapping_add(1);
            survive(extension, &bytes);
        }
        survive(extension, &bytes[..bytes.len() / 2]);
    }
    println!("{target}: {read} files are read, {refused} are refused");
    assert!(read > 20 && refused > 0, "{read} files are read, {refused} are refused");
}

#[test]
fn tflite() {
    corpus("tflite", "tflite");
}

#[test]
fn net_json() {
    corpus("net_json", "json");
}
