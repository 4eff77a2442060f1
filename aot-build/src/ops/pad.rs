//! `pad`: elements of one value around a tensor.
//!
//! Operand: `x`. Result: `x` with `padding` more elements on each axis.
//! Sources: TFLite PAD, PADV2; ONNX Pad (constant).
//! int8: the zero point is added by default, which stands for 0.

use aot_rt::kernels::{Kernel, PadF32, PadI8, Padding};
use aot_rt::{DType, bf16, f16};
use serde::{Deserialize, Serialize};

use super::strided::Strided;
use super::{Operands, Operator, View, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, Tensor, TensorType};
use crate::program::NodeLowering;

/// Attributes of `pad`.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// For each axis, elements before and after.
    pub padding: Vec<[usize; 2]>,
    /// The added element, in integers as it is stored; what stands for 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

impl Pad {
    /// The kernel's axes: one that is not padded is a part of the one before it. Elements
    /// are `size` of the kernel's.
    fn loops(&self, x: &Shape, size: usize) -> Result<Padding, OpError> {
        let mut loops: Vec<[usize; 3]> = Vec::new();
        for (&extent, &[before, after]) in x.iter().zip(&self.padding).chain([(&size, &[0, 0])]) {
            match loops.last_mut() {
                Some(outer) if [before, after] == [0, 0] => outer.iter_mut().for_each(|n| *n *= extent),
                _ => loops.push([extent, before, after]),
            }
        }
        let mut padding = Padding { extents: [1; 6], before: [0; 6], after: [0; 6] };
        let first = padding.extents.len().checked_sub(loops.len());
        let first = first.ok_or("padding of more than six axes is not supported")?;
        for (i, [extent, before, after]) in loops.into_iter().enumerate() {
            (padding.extents[first + i], padding.before[first + i], padding.after[first + i]) =
                (extent, before, after);
        }
        Ok(padding)
    }

    /// The added element as it is stored in `x`.
    fn element(&self, x: &Tensor) -> Result<f64, OpError> {
        self.value.map_or_else(|| zero(x), Ok)
    }

    /// Whether what is added around `x` stands for 0.
    pub(crate) fn adds_zeros(&self, x: &Tensor) -> bool {
        self.value.is_none_or(|value| zero(x).is_ok_and(|zero| zero == value))
    }
}

/// Appends the steps that make each element of the result `element`.
///
/// # Errors
///
/// When that is no value of its type.
pub(super) fn fill(node: &mut NodeLowering<'_, '_>, element: f64) -> Result<(), OpError> {
    let y = &node.output(0).ty;
    let value = node.constant(y.dtype, &bytes(y.dtype, element)?);
    let (everywhere, result) = (Strided::gather(0, &[0], &[y.shape.elements()]), node.write(0));
    everywhere.steps(node, value, result, &format!("{element} everywhere"))
}

/// The element of `x` that stands for 0.
///
/// # Errors
///
/// When it has a zero point for each channel.
pub(super) fn zero(x: &Tensor) -> Result<f64, OpError> {
    match x.ty.quantization {
        Some(_) => Ok(quantized::tensor_wide(x)?.zero_point.into()),
        None => Ok(0.0),
    }
}

/// The little-endian bytes of an element.
///
/// # Errors
///
/// When `value` is no value of the type.
fn bytes(dtype: DType, value: f64) -> Result<Vec<u8>, OpError> {
    /// Floats up to here count every integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let refuse = || OpError::from(format!("the value {value} is no {}", dtype.name()));
    match dtype {
        DType::F16 => return Ok(f16::from_f64(value).to_le_bytes().to_vec()),
        DType::BF16 => return Ok(bf16::from_f64(value).to_le_bytes().to_vec()),
        DType::F32 => return Ok((value as f32).to_le_bytes().to_vec()),
        _ => {}
    }
    let integer = Some(value as i64).filter(|_| value.fract() == 0.0 && value.abs() <= EXACT);
    let integer = integer.ok_or_else(refuse)?;
    let bytes = match dtype {
        DType::I8 => i8::try_from(integer).map(|q| q.to_le_bytes().to_vec()),
        DType::U8 => u8::try_from(integer).map(|q| q.to_le_bytes().to_vec()),
        DType::I16 => i16::try_from(integer).map(|q| q.to_le_bytes().to_vec()),
        DType::I32 => i32::try_from(integer).map(|q| q.to_le_bytes().to_vec()),
        DType::U32 => u32::try_from(integer).map(|q| q.to_le_bytes().to_vec()),
        DType::U64 => u64::try_from(integer).map(|q| q.to_le_bytes().to_vec()),
        DType::Bool => u8::try_from(integer).map(|q| vec![q.min(1)]),
        DType::I4 => return Err(no_kernel(&[dtype])),
        DType::I64 | DType::F16 | DType::BF16 | DType::F32 => Ok(integer.to_le_bytes().to_vec()),
    };
    bytes.map_err(|_| refuse())
}

impl Operator for Pad {
    const NAME: &'static str = "pad";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        if self.padding.len() != x.ty.shape.len() {
            return Err(format!("padding for {} axes, {} has another rank", self.padding.len(), x.ty).into());
        }
        bytes(x.ty.dtype, self.element(x)?)?;
        let sum = |(extent, [before, after]): (&usize, &[usize; 2])| {
            extent.checked_add(*before).and_then(|sum| sum.checked_add(*after))
        };
        let extents = x.ty.shape.iter().zip(&self.padding).map(sum).collect::<Option<Vec<_>>>();
        one(x.ty.dtype, extents.ok_or_else(|| OpError::from("padding is too large"))?)
    }

    fn view(&self, _: usize, _: &Operands<'_>) -> Option<View> {
        let nothing = self.padding.iter().all(|cells| *cells == [0, 0]);
        nothing.then_some(View { operand: 0, first: 0 })
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, y)?;
        if node.view(0)? {
            return Ok(());
        }
        let (dtype, shape) = (x.ty.dtype, &x.ty.shape);
        let element = self.element(x)?;
        let bytes = bytes(dtype, element)?;
        let description = format!("{shape} → {}", y.ty.shape);
        let (x, result) = (node.read(0)?, node.write(0));
        if dtype == DType::F32 {
            let kernel = PadF32 { padding: self.loops(shape, 1)?, value: element as f32 };
            node.step(Kernel::PadF32(kernel), vec![x, result], 0, description);
        } else if let Some(&byte) = bytes.first().filter(|first| bytes.iter().all(|byte| byte == *first)) {
            let kernel =
                PadI8 { padding: self.loops(shape, dtype.size())?, value: byte.cast_signed().into() };
            node.step(Kernel::PadI8(kernel), vec![x.as_bytes(), result.as_bytes()], 0, description);
        } else {
            // The element everywhere, then `x` over it.
            fill(node, element)?;
            let strides = y.ty.shape.strides();
            let first = strides.iter().zip(&self.padding).map(|(stride, [before, _])| stride * before).sum();
            Strided::between(shape, first, &y.ty.shape).steps(node, x, result, &description)?;
        }
        Ok(())
    }
}
