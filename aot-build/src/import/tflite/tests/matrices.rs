//! Products of matrices, transposed convolutions, images that get other extents: what their
//! options mean, and what is refused.

use super::files::*;
use super::writer::Table;
use crate::eval::Evaluator;
use crate::ops::{
    Activation, Alignment, BatchMatmul, Op, Padding2d, ResizeBilinear, ResizeNearest, TransposeConv2d,
};
use crate::{Config, compile};

const RESIZE_BILINEAR: i32 = 23;
const TRANSPOSE_CONV: i32 = 67;
const RESIZE_NEAREST_NEIGHBOR: i32 = 97;
const BATCH_MATMUL: i32 = 126;
const CONV_3D: i32 = 132;

/// 2 × 3 cells become 4 × 7; `constant` says whether the file states that as a constant.
fn transpose_conv(constant: bool) -> File {
    let mut file = File::new();
    let shape = [1, 4, 7, 2];
    let stated =
        if constant { file.integers("shape", &[4], &shape) } else { file.tensor("shape", I32, &[4]) };
    let weights = file.constant("weights", F32, &[2, 2, 3, 1], vec![0; 48]);
    let x = file.tensor("x", F32, &[1, 2, 3, 1]);
    let y = file.tensor("y", F32, &shape);
    let options = Table::default().with(0, 1_i8).with(1, 2_i32).with(2, 2_i32).with(3, 1_i8);
    file.operator(TRANSPOSE_CONV, &[stated, weights, x], y, Some((49, options)));
    (file.inputs, file.outputs) = (if constant { vec![x] } else { vec![stated, x] }, vec![y]);
    file
}

#[test]
fn transposed_convolutions() {
    let op = TransposeConv2d {
        output: [4, 7],
        stride: [2, 2],
        padding: Padding2d::Valid,
        activation: Activation::Relu,
    };
    for constant in [true, false] {
        let graph = transpose_conv(constant).read().unwrap();
        assert_eq!(graph.nodes[0].op, Op::from(op.clone()));
        // An operand that says the shape stays an input of the model.
        let inputs: Vec<_> = graph.inputs.iter().map(|id| graph.tensor(*id).name.as_str()).collect();
        assert_eq!(inputs, if constant { &["x"][..] } else { &["shape", "x"] });
        assert_eq!(graph.nodes[0].inputs.len(), 2);
    }
}

#[test]
fn transposed_convolutions_are_refused() {
    type Spoil = fn(&mut File);
    let cases: [(bool, Spoil, &str); 8] = [
        (
            true,
            |f| {
                f.buffers[1]
                    .set(0, [1, 4, 6, 2].iter().flat_map(|v: &i32| v.to_le_bytes()).collect::<Vec<_>>())
            },
            "the shape of the result is [1, 4, 6, 2], declared is [1, 4, 7, 2]",
        ),
        (
            false,
            |f| f.tensors[3].set(7, vec![1, -1, -1, 2]),
            "the shape of the result is an operand, and axes [1, 2] of [1, 4, 7, 2] are open",
        ),
        (false, |f| f.tensors[3].set(SHAPE, vec![1, 1, 1, 2]), "larger than the padded image"),
        (false, |f| f.tensors[3].set(SHAPE, vec![1, 6, 7, 2]), "a result of 6×7 comes from 3×3 cells"),
        (false, |f| f.tensors[3].set(SHAPE, vec![2, 4, 7, 2]), "computed is f32 [1, 4, 7, 2]"),
        (true, |f| f.tensors[2].set(SHAPE, vec![1, 2, 3, 5]), "has 5 channels, weights are f32 [2, 2, 3, 1]"),
        (true, |f| f.operators[0].set(INPUTS, vec![-1, 1, 2]), "operand 0 is left out"),
        (true, |f| f.operators[0].set(INPUTS, vec![0, 1, -1]), "operand 2 is left out"),
    ];
    for (constant, spoil, expect) in cases {
        let mut file = transpose_conv(constant);
        spoil(&mut file);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

fn resize(code: i32, options: (u8, Table), size: &[i32], y: &[i32]) -> File {
    let count = i32::try_from(size.len()).unwrap();
    one(code, F32, [&[1, 2, 3, 1], y], Some((&[count], size)), Some(options))
}

fn bilinear(corners: u8, half_pixel: u8) -> (u8, Table) {
    (15, Table::default().with(2, corners).with(3, half_pixel))
}

#[test]
fn resized_images() {
    for (flags, alignment) in
        [([0, 0], Alignment::TopLeft), ([1, 0], Alignment::Corners), ([0, 1], Alignment::HalfPixel)]
    {
        let [corners, half_pixel] = flags;
        let file = resize(RESIZE_BILINEAR, bilinear(corners, half_pixel), &[4, 5], &[1, 4, 5, 1]);
        let expect = ResizeBilinear { size: [4, 5], alignment };
        assert_eq!(file.read().unwrap().nodes[0].op, Op::from(expect));
        let options = (74, Table::default().with(0, corners).with(1, half_pixel));
        let file = resize(RESIZE_NEAREST_NEIGHBOR, options, &[4, 5], &[1, 4, 5, 1]);
        let expect = ResizeNearest { size: [4, 5], alignment };
        assert_eq!(file.read().unwrap().nodes[0].op, Op::from(expect));
    }
    for (options, size, y, expect) in [
        (bilinear(1, 1), &[4, 5][..], [1, 4, 5, 1], "exclude each other"),
        (bilinear(0, 0), &[4], [1, 4, 5, 1], "the size has 1 elements, expected 2"),
        (bilinear(0, 0), &[4, 0], [1, 4, 5, 1], "the size is [4, 0]"),
        (bilinear(0, 0), &[4, -5], [1, 4, 5, 1], "the size is [4, -5]"),
        (bilinear(0, 0), &[4, 6], [1, 4, 5, 1], "computed is f32 [1, 4, 6, 1]"),
        (bilinear(0, 0), &[1 << 21, 1], [1, 1 << 21, 1, 1], "the most are 1048576"),
        ((15, Table::default().with(0, 4_i32)), &[4, 5], [1, 4, 5, 1], "field 0 of ResizeBilinearOptions"),
    ] {
        let found = resize(RESIZE_BILINEAR, options, size, &y).problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

fn batch_matmul(shapes: [&[i32]; 3], adj: [u8; 2]) -> File {
    let mut file = File::new();
    let [a, b, y] = shapes.map(|shape| file.tensor("matrix", F32, shape));
    let options = Table::default().with(0, adj[0]).with(1, adj[1]);
    file.operator(BATCH_MATMUL, &[a, b], y, Some((101, options)));
    (file.inputs, file.outputs) = (vec![a, b], vec![y]);
    file
}

#[test]
fn products_of_matrices() {
    let file = batch_matmul([&[2, 1, 3, 4], &[5, 6, 3], &[2, 5, 4, 6]], [1, 1]);
    let expect = BatchMatmul { transpose_a: true, transpose_b: true };
    assert_eq!(file.read().unwrap().nodes[0].op, Op::from(expect));
    for (shapes, expect) in [
        ([&[2, 3][..], &[4, 3], &[2, 3]], "rows of 3 elements meet columns of 4"),
        ([&[3], &[3, 2], &[2]], "[3] is no matrix"),
        ([&[2, 2, 3], &[3, 3, 2], &[2, 2, 2]], "cannot be broadcast together"),
        ([&[2, 3], &[3, 2], &[2, 3]], "computed is f32 [2, 2]"),
    ] {
        let found = batch_matmul(shapes, [0, 0]).problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn volumes() {
    let file = |weights: &[i32], y: &[i32]| {
        let mut file = File::new();
        let x = file.tensor("x", F32, &[1, 4, 4, 4, 2]);
        let elements: i32 = weights.iter().product();
        let bytes = vec![0; usize::try_from(elements * 4).unwrap()];
        let weights = file.constant("weights", F32, weights, bytes);
        let y = file.tensor("y", F32, y);
        let options = Table::default().with(0, 1_i8).with(1, 1_i32).with(2, 2_i32).with(3, 1_i32);
        file.operator(CONV_3D, &[x, weights], y, Some((106, options)));
        (file.inputs, file.outputs) = (vec![x], vec![y]);
        file
    };
    assert!(file(&[2, 3, 2, 2, 5], &[1, 3, 2, 2, 5]).read().is_ok());
    for (weights, y, expect) in [
        (&[2, 3, 2, 1, 5][..], &[1, 3, 2, 2, 5][..], "has 2 channels, weights are f32 [2, 3, 2, 1, 5]"),
        (&[5, 3, 2, 2, 5], &[1, 3, 2, 2, 5], "larger than the padded image"),
        (&[3, 2, 2, 5], &[1, 3, 2, 2, 5], "has rank 4, expected 5"),
        (&[2, 3, 2, 2, 5], &[1, 3, 2, 2, 4], "computed is f32 [1, 3, 2, 2, 5]"),
    ] {
        let found = file(weights, y).problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn weights_of_four_bits_take_half_the_flash() {
    // 1, 2, -8, -1 and 7, 0, 3, -2.
    let compiled = [(17_i8, vec![0x21, 0xf8, 0x07, 0xe3]), (I8, vec![1, 2, 0xf8, 0xff, 7, 0, 3, 0xfe])].map(
        |(ty, weights): (i8, Vec<u8>)| {
            let mut file = fully_connected();
            file.buffers[1].set(0, weights);
            file.tensors[1].set(TYPE, ty);
            file.tensors[1].set(QUANTIZATION, quantization(&[0.5], &[0]));
            compile(file.read().unwrap(), &Config::default()).unwrap()
        },
    );
    let results =
        compiled.each_ref().map(|compiled| Evaluator::new(compiled).run(&[&[9, 4, 250, 3]]).unwrap());
    assert_eq!(results[0], results[1]);
    let kernels = compiled
        .each_ref()
        .map(|compiled| compiled.program.steps[0].kernel().map(aot_rt::kernels::Kernel::name));
    assert_eq!(kernels, ["fully_connected_i4", "fully_connected_i8"].map(Some));
    let bytes = compiled.each_ref().map(|compiled| compiled.program.constants.bytes().len());
    assert_eq!(bytes[1] - bytes[0], 4);
}
