//! The operators: attributes, shape rule and lowering, a file for each.
//!
//! To add one, write its file, add a line to `operators!` below, and teach each
//! importer its name.

mod activation;
mod add;
mod arg;
mod average_pool2d;
mod axis;
mod batch_matmul;
mod batch_to_space;
mod bidirectional_lstm;
mod binary;
mod blocks;
mod broadcast;
mod broadcast_to;
mod cast;
mod compare;
mod concatenation;
mod conv2d;
mod conv3d;
mod cumulative_sum;
mod depth_to_space;
mod depthwise_conv2d;
mod dequantize;
pub(crate) mod dtype_name;
pub(crate) mod edges;
mod embedding_lookup;
mod find;
mod fully_connected;
mod gather;
mod gather_nd;
mod if_else;
mod l2_normalization;
mod l2_pool2d;
mod leaky_relu;
mod local_response_normalization;
mod log_softmax;
mod logistic;
mod lstm;
mod max_pool2d;
mod mean;
mod mirror_pad;
mod one_hot;
mod pack;
mod pad;
mod prelu;
mod quantize;
mod quantized;
mod recurrent;
mod reduce;
mod reduced;
mod region;
mod relu;
mod reshape;
mod resize;
mod reverse;
mod rnn;
mod select;
mod signal;
mod slice;
mod softmax;
mod space_to_batch;
mod space_to_depth;
mod split;
mod strided;
mod svdf;
mod tables;
mod tables_i16;
#[cfg(test)]
mod tests;
mod tile;
mod top_k;
mod transpose;
mod transpose_conv2d;
mod unary;
mod unary_i16;
mod unpack;
mod weighted;
mod while_loop;
mod window;

pub use activation::Activation;
pub use add::Add;
pub use arg::{Arg, ArgFunction};
pub use average_pool2d::AveragePool2d;
pub use batch_matmul::BatchMatmul;
pub use batch_to_space::BatchToSpace;
pub use bidirectional_lstm::BidirectionalLstm;
pub use binary::{Binary, BinaryFunction};
pub use broadcast_to::BroadcastTo;
pub use cast::Cast;
pub use compare::{Compare, Relation};
pub use concatenation::Concatenation;
pub use conv2d::Conv2d;
pub use conv3d::{Conv3d, Padding3d};
pub use cumulative_sum::CumulativeSum;
pub use depth_to_space::DepthToSpace;
pub use depthwise_conv2d::DepthwiseConv2d;
pub use dequantize::Dequantize;
pub use embedding_lookup::EmbeddingLookup;
pub use find::Find;
pub use fully_connected::FullyConnected;
pub use gather::Gather;
pub use gather_nd::GatherNd;
pub use if_else::If;
pub use l2_normalization::L2Normalization;
pub use l2_pool2d::L2Pool2d;
pub use leaky_relu::LeakyRelu;
pub use local_response_normalization::LocalResponseNormalization;
pub use log_softmax::LogSoftmax;
pub use logistic::Logistic;
pub use lstm::Lstm;
pub use max_pool2d::MaxPool2d;
pub use mean::Mean;
pub use mirror_pad::{Mirror, MirrorPad};
pub use one_hot::OneHot;
pub use pack::Pack;
pub use pad::Pad;
pub use prelu::Prelu;
pub use quantize::Quantize;
pub use reduce::{Reduce, ReduceFunction};
pub use region::Region;
pub use relu::Relu;
pub use reshape::Reshape;
pub use resize::{Alignment, ResizeBilinear, ResizeNearest};
pub use reverse::Reverse;
pub use rnn::Rnn;
pub use select::Select;
pub use signal::{
    SignalEnergy, SignalFftAutoScale, SignalFilterBank, SignalFilterBankLog,
    SignalFilterBankSpectralSubtraction, SignalFilterBankSquareRoot, SignalPcan, SignalRfft, SignalWindow,
};
pub use slice::Slice;
pub use softmax::Softmax;
pub use space_to_batch::SpaceToBatch;
pub use space_to_depth::SpaceToDepth;
pub use split::Split;
pub use svdf::Svdf;
pub use tile::Tile;
pub use top_k::TopK;
pub use transpose::Transpose;
pub use transpose_conv2d::TransposeConv2d;
pub use unary::{Unary, UnaryFunction};
pub use unpack::Unpack;
pub use while_loop::While;
pub use window::Padding2d;

use aot_rt::DType;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::OpError;
use crate::graph::{Shape, Tensor, TensorType};
use crate::program::NodeLowering;

/// What an operator is.
pub trait Operator {
    /// Name in `net.json`, in messages and of the steps made from it.
    const NAME: &'static str;

    /// What steps are called: the operator, or the function that it computes.
    fn label(&self) -> &'static str {
        Self::NAME
    }

    /// Types of the results; quantization is what the model file declares.
    ///
    /// # Errors
    ///
    /// When number, types or extents of the operands do not fit the attributes.
    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError>;

    /// What result `result` is a view of: elements that stand together, in their order. A
    /// view takes no memory and no step.
    fn view(&self, _result: usize, _operands: &Operands<'_>) -> Option<View> {
        None
    }

    /// The first of the result's elements that operand `operand` makes up: they stand
    /// together there, in their order. It can be made there from the start.
    fn part(&self, _operand: usize, _operands: &Operands<'_>) -> Option<usize> {
        None
    }

    /// The activation that the operator can apply to its result.
    fn activation_mut(&mut self) -> Option<&mut Activation> {
        None
    }

    /// The graphs that the operator runs, where it is one of control flow.
    fn regions(&self) -> &[Region] {
        &[]
    }

    /// The same, to be changed.
    fn regions_mut(&mut self) -> &mut [Region] {
        &mut []
    }

    /// Elements that are looked at for each of the result, where that is not counted as
    /// multiply-accumulates.
    fn cells(&self) -> u64 {
        1
    }

    /// Appends the steps that compute the results.
    ///
    /// # Errors
    ///
    /// When no kernel computes this combination of types and quantization.
    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError>;
}

/// A view: elements of an operand that stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Position of the operand.
    pub operand: usize,
    /// The first of the elements.
    pub first: usize,
}

/// The operands of a node.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a>(&'a [Option<&'a Tensor>]);

impl<'a> Operands<'a> {
    /// Operand `i`.
    ///
    /// # Errors
    ///
    /// When it is left out.
    pub fn get(&self, i: usize) -> Result<&'a Tensor, OpError> {
        self.optional(i).ok_or_else(|| format!("operand {i} is missing").into())
    }

    /// Operand `i`, or `None` where it is left out.
    #[must_use]
    pub fn optional(&self, i: usize) -> Option<&'a Tensor> {
        self.0.get(i).copied().flatten()
    }

    /// Number of operands.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks the number of operands.
    ///
    /// # Errors
    ///
    /// When it is outside `range`.
    pub fn count(&self, range: std::ops::RangeInclusive<usize>) -> Result<(), OpError> {
        let found = self.0.len();
        if range.contains(&found) {
            return Ok(());
        }
        let expected = match (range.start(), range.end()) {
            (a, b) if a == b => a.to_string(),
            (a, b) => format!("{a} to {b}"),
        };
        Err(format!("{found} operands, expected {expected}").into())
    }
}

/// One result of this type.
pub(crate) fn one(dtype: DType, shape: impl Into<Vec<usize>>) -> Result<Vec<TensorType>, OpError> {
    Ok(vec![TensorType::new(dtype, Shape::new(shape)?)])
}

/// The one result of an operator that keeps the type of its only operand.
pub(crate) fn same(operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
    operands.count(1..=1)?;
    let x = operands.get(0)?;
    one(x.ty.dtype, x.ty.shape.clone())
}

/// No kernel for these types of operands and result.
pub(crate) fn no_kernel(types: &[DType]) -> OpError {
    let names: Vec<_> = types.iter().map(|dtype| dtype.name()).collect();
    format!("no kernel for the types {}", names.join(", ")).into()
}

macro_rules! operators {
    ($($op:ident,)*) => {
        /// An operator with its attributes.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Op {
            $(
                #[doc = concat!("[`", stringify!($op), "`]")]
                $op($op),
            )*
        }

        impl Op {
            /// Name of the operator, see [`Operator::NAME`].
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$op(_) => <$op as Operator>::NAME,)*
                }
            }

            /// What its steps are called, see [`Operator::label`].
            #[must_use]
            pub fn label(&self) -> &'static str {
                match self {
                    $(Self::$op(op) => op.label(),)*
                }
            }

            /// The attributes, for reading.
            #[must_use]
            pub fn attributes(&self) -> &dyn std::fmt::Debug {
                match self {
                    $(Self::$op(op) => op,)*
                }
            }

            /// Names of all operators.
            pub const NAMES: &'static [&'static str] = &[$(<$op as Operator>::NAME),*];

            /// The operator called `name`, with the attributes that `deserializer` gives;
            /// `None` where no operator has that name.
            pub fn deserialize<'de, D: Deserializer<'de>>(
                name: &str,
                deserializer: D,
            ) -> Option<Result<Self, D::Error>> {
                $(
                    if name == <$op as Operator>::NAME {
                        return Some($op::deserialize(deserializer).map(Self::$op));
                    }
                )*
                None
            }

            /// Writes the attributes as a map.
            ///
            /// # Errors
            ///
            /// When `serializer` fails.
            pub fn serialize_attributes<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$op(op) => op.serialize(serializer),)*
                }
            }

            /// Name of each operator, and the schema of its attributes.
            #[cfg(feature = "schema")]
            pub(crate) fn schemas(
                generator: &mut schemars::SchemaGenerator,
            ) -> Vec<(&'static str, schemars::Schema)> {
                vec![$((<$op as Operator>::NAME, generator.subschema_for::<$op>())),*]
            }

            /// Types of the results, see [`Operator::infer`].
            ///
            /// # Errors
            ///
            /// When the operands do not fit.
            pub fn infer(&self, operands: &[Option<&Tensor>]) -> Result<Vec<TensorType>, OpError> {
                match self {
                    $(Self::$op(op) => op.infer(&Operands(operands)),)*
                }
            }

            /// What a result is a view of, see [`Operator::view`].
            #[must_use]
            pub fn view(&self, result: usize, operands: &[Option<&Tensor>]) -> Option<View> {
                match self {
                    $(Self::$op(op) => op.view(result, &Operands(operands)),)*
                }
            }

            /// Which part of the result an operand is, see [`Operator::part`].
            #[must_use]
            pub fn part(&self, operand: usize, operands: &[Option<&Tensor>]) -> Option<usize> {
                match self {
                    $(Self::$op(op) => op.part(operand, &Operands(operands)),)*
                }
            }

            /// The activation, see [`Operator::activation_mut`].
            pub(crate) fn activation_mut(&mut self) -> Option<&mut Activation> {
                match self {
                    $(Self::$op(op) => op.activation_mut(),)*
                }
            }

            /// The graphs that it runs, see [`Operator::regions`].
            #[must_use]
            pub fn regions(&self) -> &[Region] {
                match self {
                    $(Self::$op(op) => op.regions(),)*
                }
            }

            /// The same, to be changed.
            pub(crate) fn regions_mut(&mut self) -> &mut [Region] {
                match self {
                    $(Self::$op(op) => op.regions_mut(),)*
                }
            }

            /// Elements that are looked at, see [`Operator::cells`].
            pub(crate) fn cells(&self) -> u64 {
                match self {
                    $(Self::$op(op) => op.cells(),)*
                }
            }

            /// Appends the steps, see [`Operator::lower`].
            ///
            /// # Errors
            ///
            /// When no kernel computes it.
            pub fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
                match self {
                    $(Self::$op(op) => op.lower(node),)*
                }
            }
        }

        $(
            impl From<$op> for Op {
                fn from(op: $op) -> Self {
                    Self::$op(op)
                }
            }
        )*
    };
}

operators! {
    Add,
    Arg,
    AveragePool2d,
    BatchMatmul,
    BatchToSpace,
    BidirectionalLstm,
    Binary,
    BroadcastTo,
    Cast,
    Compare,
    Concatenation,
    Conv2d,
    Conv3d,
    CumulativeSum,
    DepthToSpace,
    DepthwiseConv2d,
    Dequantize,
    EmbeddingLookup,
    Find,
    FullyConnected,
    Gather,
    GatherNd,
    L2Normalization,
    L2Pool2d,
    If,
    LeakyRelu,
    LocalResponseNormalization,
    LogSoftmax,
    Logistic,
    Lstm,
    MaxPool2d,
    Mean,
    MirrorPad,
    OneHot,
    Pack,
    Pad,
    Prelu,
    Quantize,
    Reduce,
    Relu,
    Reshape,
    ResizeBilinear,
    ResizeNearest,
    Reverse,
    Rnn,
    Select,
    SignalEnergy,
    SignalFftAutoScale,
    SignalFilterBank,
    SignalFilterBankLog,
    SignalFilterBankSpectralSubtraction,
    SignalFilterBankSquareRoot,
    SignalPcan,
    SignalRfft,
    SignalWindow,
    Slice,
    Softmax,
    SpaceToBatch,
    SpaceToDepth,
    Split,
    Svdf,
    Tile,
    TopK,
    Transpose,
    TransposeConv2d,
    Unary,
    Unpack,
    While,
}
