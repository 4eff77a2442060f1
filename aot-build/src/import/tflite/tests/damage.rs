//! Damaged files: refused or read, without a panic and without delay.

use std::time::{Duration, Instant};

use super::files::*;
use super::writer::Table;
use crate::graph::Graph;

/// Most bytes of a tensor in a model that is compiled here: constants are folded,
/// which takes time.
const MAX_COMPILED: usize = 1 << 16;

/// A small file of every kind.
fn samples() -> Vec<Vec<u8>> {
    let pool = one(17, I8, [&[1, 4, 4, 2], &[1, 2, 2, 2]], None, Some((5, pool())));
    let squeeze = one(43, F32, [&[1, 2], &[2]], None, Some((30, Table::default().with(0, vec![0]))));
    let files = [
        add(),
        branches(),
        conv_2d(),
        depthwise_conv_2d(),
        fully_connected(),
        mean(&[0, -1], &[3]),
        pad(),
        pool,
        repeated(),
        reshape(&[3, -1], &[3, 4]),
        signal_window(),
        softmax(),
        squeeze,
    ];
    files.iter().map(File::bytes).collect()
}

/// Reads a file that may be anything. What is read must hang together, and the rest of
/// the compiler may refuse it, but not panic.
pub(super) fn survive(bytes: &[u8]) -> bool {
    match super::super::read(bytes, "model".into(), &crate::Config::default()) {
        Ok(graph) => {
            check(&graph);
            if graph.tensors.iter().all(|tensor| tensor.ty.bytes() <= MAX_COMPILED) {
                let _ = crate::compile(graph, &crate::Config::default());
            }
            true
        }
        Err(problems) => {
            assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
            let shown: usize = problems.iter().map(|problem| problem.to_string().len()).sum();
            assert!(shown < 200_000, "{shown} bytes of messages");
            false
        }
    }
}

fn check(graph: &Graph) {
    let mut written: Vec<_> = graph.tensors.iter().map(|tensor| tensor.data.is_some()).collect();
    graph.inputs.iter().for_each(|id| written[id.index()] = true);
    graph.states.iter().for_each(|state| written[state.before.index()] = true);
    for node in &graph.nodes {
        assert!(node.inputs.iter().flatten().all(|id| written[id.index()]));
        node.outputs.iter().for_each(|id| written[id.index()] = true);
    }
    assert!(graph.results().all(|id| written[id.index()]));
    for tensor in &graph.tensors {
        assert!(tensor.data.as_ref().is_none_or(|data| data.bytes().len() == tensor.ty.bytes()));
    }
}

/// Xorshift: the same damage in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    /// Changes a few bytes, mostly to values that are telling as lengths and offsets.
    pub(super) fn damage(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.below(3) {
            let position = self.below(bytes.len());
            bytes[position] = match self.below(4) {
                0 => 0,
                1 => 0xff,
                2 => bytes[position] ^ (1 << self.below(8)),
                _ => u8::try_from(self.below(256)).unwrap(),
            };
        }
    }
}

#[test]
fn other_files() {
    for bytes in [&b""[..], b"T", b"TFL3", b"\x08\0\0\0TFL3", b"PK\x03\x04 not a model at all", &[0xff; 64]] {
        assert!(!survive(bytes));
    }
    let problems =
        super::super::read(b"PK\x03\x04 not a model at all", "model".into(), &crate::Config::default())
            .unwrap_err();
    assert_eq!(problems[0].message, "the file identifier is \" not\", expected \"TFL3\"");
    let problems = super::super::read(b"hello\n", "model".into(), &crate::Config::default()).unwrap_err();
    assert_eq!(problems[0].message, "the file identifier is \"o\\n\", expected \"TFL3\"");
}

#[test]
fn truncated_at_every_length() {
    for file in samples() {
        assert!(survive(&file));
        // All that the last bytes hold may be padding.
        let read = (0..file.len()).filter(|length| survive(&file[..*length])).count();
        assert!(read < 8, "{read} truncated files were read");
    }
}

#[test]
fn every_byte_changed() {
    for file in samples() {
        for position in 0..file.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[position] = value;
                survive(&damaged);
            }
        }
    }
}

#[test]
fn bytes_changed_at_random() {
    let start = Instant::now();
    let mut random = Random(0x5eed);
    for file in samples() {
        for _ in 0..2_000 {
            let mut damaged = file.clone();
            random.damage(&mut damaged);
            survive(&damaged);
        }
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?} for 20,000 small files", start.elapsed());
}

/// The time to read a file grows with its size, not faster.
#[test]
fn a_long_model() {
    const NODES: i32 = 30_000;
    let mut file = softmax();
    file.tensors[0].set(SHAPE, vec![4]);
    file.tensors[1].set(SHAPE, vec![4]);
    let operator = file.operators[0].clone();
    for i in 1..NODES {
        let y = file.tensor("y", F32, &[4]);
        file.operators.push(operator.clone().with(INPUTS, vec![i]).with(OUTPUTS, vec![y]));
    }
    let bytes = file.bytes();
    let start = Instant::now();
    assert!(survive(&bytes));
    let elapsed = start.elapsed();
    println!("{NODES} nodes, {} bytes: {elapsed:?}", bytes.len());
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
}

#[test]
fn offsets_and_tables_are_checked() {
    let file = softmax().bytes();
    let root = u32::from_le_bytes(file[..4].try_into().unwrap()) as usize;
    let back = i32::from_le_bytes(file[root..root + 4].try_into().unwrap());
    let vtable = root - usize::try_from(back).unwrap();
    for (position, bytes, expect) in [
        (0, &[0, 0, 0, 0][..], "the offset 0 leads nowhere"),
        (0, &[0xfc, 0xff, 0xff, 0x7f], "damaged: bytes 2147483644 to 2147483648, the file has"),
        (0, &[9, 0, 0, 0], "damaged: a i32 at byte 9 is not aligned"),
        (root, &[0, 0, 0, 0x80], "damaged: the vtable offset -2147483648 at byte"),
        (root, &[0xff, 0xff, 0xff, 0x7f], "damaged: the vtable offset 2147483647 at byte"),
        (vtable, &[7, 0], "damaged: a u16 at byte"),
        (vtable, &[0xfe, 0xff], "damaged: bytes"),
        (vtable + 2, &[3, 0], "of a table of 3 bytes"),
        (vtable + 2, &[0xff, 0xff], "65535 bytes are expected"),
        (vtable + 4, &[2, 0], "damaged at `version`: a u32 at byte"),
        (vtable + 4, &[0, 0], "the schema has version 0, expected 3"),
        (vtable + 4, &[0xf0, 0xff], "damaged at `version`: bytes"),
        (vtable + 4, &[5, 0], "damaged at `version`: a u32 at byte"),
    ] {
        let mut damaged = file.clone();
        damaged[position..position + bytes.len()].copy_from_slice(bytes);
        let problems = super::super::read(&damaged, "model".into(), &crate::Config::default()).unwrap_err();
        assert!(problems[0].message.contains(expect), "expected {expect}, found {problems:?}");
    }
}
