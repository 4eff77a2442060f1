//! Which operators take the tensors that most do not expect: such without elements, and
//! integers of four bits.

use super::Op;
use crate::error::OpError;
use crate::graph::{Tensor, TensorId, TensorType};

/// Checks the operands of an operator, before it infers anything from them.
///
/// # Errors
///
/// When it does not take one of them.
pub(crate) fn check_operands(op: &Op, operands: &[Option<&Tensor>]) -> Result<(), OpError> {
    let check = |operand: &&Tensor| check(op, &operand.ty, &format!("`{}` is", operand.name));
    operands.iter().flatten().try_for_each(check)
}

/// Checks the results of an operator.
///
/// # Errors
///
/// When it does not make such results.
pub(crate) fn check_results(op: &Op, results: &[TensorType]) -> Result<(), OpError> {
    results.iter().try_for_each(|ty| check(op, ty, "the result is"))
}

fn check(op: &Op, ty: &TensorType, what: &str) -> Result<(), OpError> {
    if ty.is_empty() && !takes_no_elements(op) {
        return Err(format!("{what} {ty}: it has no element, which is not supported here").into());
    }
    if ty.dtype == aot_rt::DType::I4 && !takes_four_bits(op) {
        let help = "tensors of i4 can be returned, reshaped and dequantized; cast others to i8";
        return Err(OpError {
            help: Some(help.into()),
            ..format!("{what} {ty}, which is not supported here").into()
        });
    }
    Ok(())
}

/// Whether tensors of an operator may be without elements: where no result has any, there is
/// nothing to compute.
pub(crate) const fn takes_no_elements(op: &Op) -> bool {
    matches!(
        op,
        Op::Add(_)
            | Op::Binary(_)
            | Op::BroadcastTo(_)
            | Op::Cast(_)
            | Op::Compare(_)
            | Op::Concatenation(_)
            | Op::Dequantize(_)
            | Op::If(_)
            | Op::Quantize(_)
            | Op::Relu(_)
            | Op::Reshape(_)
            | Op::Select(_)
            | Op::Slice(_)
            | Op::Split(_)
            | Op::Transpose(_)
            | Op::Unary(_)
            | Op::While(_)
    )
}

/// Whether an operator takes or makes integers of four bits, two in a byte.
const fn takes_four_bits(op: &Op) -> bool {
    matches!(op, Op::Cast(_) | Op::Dequantize(_) | Op::If(_) | Op::Reshape(_) | Op::While(_))
}

/// Leaves out operands that add nothing to a result which has elements.
pub(crate) fn leave_out(op: &Op, inputs: &mut Vec<Option<TensorId>>, is_empty: impl Fn(TensorId) -> bool) {
    if let Op::Concatenation(_) = op {
        inputs.retain(|id| !id.is_some_and(&is_empty));
    }
}
