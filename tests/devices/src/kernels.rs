//! Kernels of the user's own: for a node, for an operator, for a model.

use std::convert::Infallible;

use aot_rt::kernels::{self, Apart, BinaryF32, FullyConnectedF32, UnaryF32};
use aot_rt::{Device, StepInfo};

use crate::faults::{X, expected};
use crate::mock::product;
use crate::{beside_packed, one_node, one_operator, whole_model};

/// Kernels that cannot fail; counts their calls.
#[derive(Default)]
struct Mine {
    calls: Vec<&'static str>,
}

impl Device for Mine {
    type Error = Infallible;
}

macro_rules! fully_connected {
    ($interface:path) => {
        impl $interface for Mine {
            fully_connected!();
        }
    };
    () => {
        fn fully_connected_f32(
            &mut self,
            step: &'static StepInfo,
            _: &'static FullyConnectedF32,
            x: &[f32],
            y: &mut [f32],
            weights: &[f32],
            _: &[f32],
        ) -> Result<(), Infallible> {
            self.calls.push(step.node);
            y.copy_from_slice(&product(x, weights));
            Ok(())
        }
    };
}

fully_connected!(one_node::ThreeNpu);
fully_connected!(one_operator::ThreeNpu);
fully_connected!(beside_packed::ThreeNpu);

impl whole_model::ThreeNpu for Mine {
    fully_connected!();

    fn add_f32(
        &mut self,
        step: &'static StepInfo,
        params: &'static BinaryF32,
        x: &[f32],
        y: &mut [f32],
        b: &[f32],
    ) -> Result<(), Infallible> {
        self.calls.push(step.node);
        kernels::add_f32(params, Apart { x, y }, b);
        Ok(())
    }

    fn neg_f32(
        &mut self,
        step: &'static StepInfo,
        params: &'static UnaryF32,
        x: &[f32],
        y: &mut [f32],
    ) -> Result<(), Infallible> {
        self.calls.push(step.node);
        kernels::neg_f32(params, Apart { x, y });
        Ok(())
    }

    fn abs_f32(
        &mut self,
        step: &'static StepInfo,
        params: &'static UnaryF32,
        x: &[f32],
        y: &mut [f32],
    ) -> Result<(), Infallible> {
        self.calls.push(step.node);
        kernels::abs_f32(params, Apart { x, y });
        Ok(())
    }
}

macro_rules! replaced {
    ($($module:ident: $nodes:expr;)*) => {$(
        #[test]
        fn $module() {
            let mut mine = Mine::default();
            let mut net = $module::Three::new();
            for flag in [true, false] {
                let inputs = $module::ThreeInputs { x: &X, flag: &[flag.into()] };
                // It cannot fail, and so need not be asked whether it did.
                let Ok(y) = net.run(&mut $module::ThreeDevices::new(&mut mine), inputs);
                assert_eq!(y[..], expected(flag));
            }
            assert_eq!(mine.calls, $nodes);
        }
    )*};
}

replaced! {
    one_node: ["last", "last"];
    one_operator: ["first", "within", "last", "first", "last"];
    beside_packed: ["first", "within", "last", "first", "last"];
    whole_model: ["first", "sum", "turned", "within", "last", "first", "sum", "turned", "flat", "last"];
}
