//! Functions of elements: what each becomes, and what is refused.

use aot_rt::DType;

use super::files::*;
use super::writer::Table;
use crate::ops::{
    Activation, Add, Binary, BinaryFunction, Cast, Compare, LeakyRelu, Op, Prelu, Relation, Relu, Select,
    Unary, UnaryFunction,
};

/// An operator on two tensors of one type.
fn two(code: i32, ty: i8, options: Option<(u8, Table)>) -> File {
    let mut file = File::new();
    let (a, b) = (file.tensor("a", ty, &[1, 4]), file.tensor("b", ty, &[1, 4]));
    let y = file.tensor("y", ty, &[1, 4]);
    file.operator(code, &[a, b], y, options);
    (file.inputs, file.outputs) = (vec![a, b], vec![y]);
    file
}

#[test]
fn functions_of_two_elements_are_mapped() {
    use BinaryFunction::{Div, FloorDiv, FloorMod, Maximum, Minimum, Mul, Pow, SquaredDifference, Sub};
    let relu6 = |kind| Some((kind, Table::default().with(0, 3_i8)));
    let none = |kind| Some((kind, Table::default()));
    let op = |function, activation| Op::from(Binary { function, activation });
    for (code, ty, options, expect) in [
        (41, I8, relu6(28), op(Sub, Activation::Relu6)),
        (18, I8, relu6(21), op(Mul, Activation::Relu6)),
        (42, F32, relu6(29), op(Div, Activation::Relu6)),
        (57, I8, none(39), op(Minimum, Activation::None)),
        (55, I32, none(39), op(Maximum, Activation::None)),
        (99, I8, None, op(SquaredDifference, Activation::None)),
        (78, F32, none(56), op(Pow, Activation::None)),
        (90, I32, none(65), op(FloorDiv, Activation::None)),
        (95, F32, none(72), op(FloorMod, Activation::None)),
        (0, I32, none(11), Add::default().into()),
    ] {
        let graph =
            two(code, ty, options).read().unwrap_or_else(|problems| panic!("{expect:?}: {problems:?}"));
        assert_eq!(graph.nodes[0].op, expect);
    }
}

#[test]
fn functions_of_one_element_are_mapped() {
    use UnaryFunction::{
        Abs, Ceil, Cos, Elu, Exp, Floor, Gelu, GeluTanh, HardSwish, Log, Neg, Round, Rsqrt, Sin, Sqrt,
        Square, Tanh,
    };
    let none = |kind| Some((kind, Table::default()));
    for (code, options, expect) in [
        (101, none(78), Abs),
        (104, None, Ceil),
        (108, none(84), Cos),
        (111, None, Elu),
        (47, none(33), Exp),
        (8, None, Floor),
        (150, None, Gelu),
        (150, Some((116, Table::default().with(0, 1_u8))), GeluTanh),
        (117, none(91), HardSwish),
        (73, None, Log),
        (59, none(42), Neg),
        (116, None, Round),
        (76, None, Rsqrt),
        (66, None, Sin),
        (75, None, Sqrt),
        (92, none(66), Square),
        (28, None, Tanh),
    ] {
        let graph = one(code, F32, [&[1, 4]; 2], None, options).read();
        let graph = graph.unwrap_or_else(|problems| panic!("{expect:?}: {problems:?}"));
        assert_eq!(graph.nodes[0].op, Unary { function: expect }.into());
    }
    let leaky = one(98, I8, [&[1, 4]; 2], None, Some((75, Table::default().with(0, 0.25_f32))));
    assert_eq!(leaky.read().unwrap().nodes[0].op, LeakyRelu { alpha: 0.25 }.into());
    assert_eq!(two(54, F32, None).read().unwrap().nodes[0].op, Prelu {}.into());
    let limited = one(152, F32, [&[1, 4]; 2], None, None).read().unwrap();
    assert_eq!(limited.nodes[0].op, Relu { activation: Activation::Relu0To1 }.into());
}

#[test]
fn comparisons_and_logical_operators_are_mapped() {
    use Relation::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let none = |kind| Some((kind, Table::default()));
    for (code, kind, expect) in [
        (71, 53, Equal),
        (72, 54, NotEqual),
        (58, 41, Less),
        (63, 46, LessEqual),
        (61, 44, Greater),
        (62, 45, GreaterEqual),
    ] {
        let mut file = two(code, I8, none(kind));
        file.tensors[2] = Table::default().with(NAME, "y").with(TYPE, BOOL).with(SHAPE, vec![1, 4]);
        assert_eq!(file.read().unwrap().nodes[0].op, Compare { relation: expect }.into());
    }
    let logical = |function| Op::from(Binary { function, activation: Activation::None });
    let and = two(86, BOOL, none(62)).read().unwrap();
    assert_eq!(and.nodes[0].op, logical(BinaryFunction::LogicalAnd));
    let or = two(84, BOOL, none(60)).read().unwrap();
    assert_eq!(or.nodes[0].op, logical(BinaryFunction::LogicalOr));
    let not = one(87, BOOL, [&[1, 4]; 2], None, none(63)).read().unwrap();
    assert_eq!(not.nodes[0].op, Unary { function: UnaryFunction::LogicalNot }.into());
    let mut cast = one(53, F32, [&[1, 4]; 2], None, Some((37, Table::default().with(1, BOOL))));
    cast.tensors[1].set(TYPE, BOOL);
    assert_eq!(cast.read().unwrap().nodes[0].op, Cast { dtype: DType::Bool }.into());
}

/// A choice by a condition of this shape between two tensors.
fn choice(code: i32, condition: &[i32], kind: u8) -> File {
    let mut file = File::new();
    let condition = file.tensor("condition", BOOL, condition);
    let (a, b) = (file.tensor("a", F32, &[2, 3]), file.tensor("b", F32, &[2, 3]));
    let y = file.tensor("y", F32, &[2, 3]);
    file.operator(code, &[condition, a, b], y, Some((kind, Table::default())));
    (file.inputs, file.outputs) = (vec![condition, a, b], vec![y]);
    file
}

#[test]
fn choices_are_mapped() {
    for (code, condition, kind, first_axis) in [
        (64, &[2, 3][..], 47, false),
        (64, &[2], 47, true),
        (64, &[], 47, false),
        (123, &[3], 98, false),
        (123, &[2, 1], 98, false),
    ] {
        let graph = choice(code, condition, kind).read().unwrap();
        assert_eq!(graph.nodes[0].op, Select { first_axis }.into(), "{condition:?}");
    }
    let found = choice(64, &[2, 1], 47).problems();
    assert!(found.contains("the condition [2, 1] is neither a vector nor [2, 3]"), "{found}");
    let found = choice(64, &[3], 47).problems();
    assert!(found.contains("3 conditions for the rows of [2, 3]"), "{found}");
    let found = choice(123, &[2], 98).problems();
    assert!(found.contains("cannot be broadcast together"), "{found}");
}

/// The indices are those of NumPy's `argwhere`.
#[test]
fn indices_of_a_constant_condition() {
    let mut file = File::new();
    let x = file.tensor("x", F32, &[2, 3]);
    let condition = file.constant("condition", BOOL, &[2, 3], vec![1, 0, 1, 0, 0, 1]);
    let y = file.tensor("y", I64, &[3, 2]);
    file.operator(109, &[condition], y, None);
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    let compiled = crate::compile(file.read().unwrap(), &crate::Config::default()).unwrap();
    let results = crate::eval::Evaluator::new(&compiled).run(&[&[0; 24]]).unwrap();
    let expect: Vec<u8> = [0_i64, 0, 0, 2, 1, 2].iter().flat_map(|index| index.to_le_bytes()).collect();
    assert_eq!(results, [expect]);

    file.buffers[1].set(0, vec![0_u8; 6]);
    let found = file.problems();
    assert!(found.contains("no element of the condition `condition` is true"), "{found}");
    file.tensors[1].remove(BUFFER);
    file.inputs = vec![condition];
    let found = file.problems();
    assert!(found.contains("the condition `condition` is not constant"), "{found}");
}

#[test]
fn options_of_another_operator_are_refused() {
    let found = two(18, I8, Some((28, Table::default()))).problems();
    assert!(found.contains("node #0 MUL `y`: options are of type 28, expected MulOptions (21)"), "{found}");
    let found = two(18, I8, None).problems();
    assert!(found.contains("MulOptions are missing"), "{found}");
    let found = one(28, F32, [&[1, 4]; 2], None, Some((33, Table::default()))).problems();
    assert!(found.contains("options are of type 33, expected no options (0)"), "{found}");
}
