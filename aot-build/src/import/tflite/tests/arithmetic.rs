//! Functions of elements: what each becomes, and what is refused.

use super::files::*;
use super::writer::Table;
use crate::ops::{Activation, Add, Binary, BinaryFunction, LeakyRelu, Op, Prelu, Relu, Unary, UnaryFunction};

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
fn options_of_another_operator_are_refused() {
    let found = two(18, I8, Some((28, Table::default()))).problems();
    assert!(found.contains("node #0 MUL `y`: options are of type 28, expected MulOptions (21)"), "{found}");
    let found = two(18, I8, None).problems();
    assert!(found.contains("MulOptions are missing"), "{found}");
    let found = one(28, F32, [&[1, 4]; 2], None, Some((33, Table::default()))).problems();
    assert!(found.contains("options are of type 33, expected no options (0)"), "{found}");
}
