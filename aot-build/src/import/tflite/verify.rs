//! The first look at a file: the verifier of the crate `flatbuffers` goes over the tables of
//! the schema, and finds offsets that lead nowhere, vectors that do not end inside the file,
//! and numbers that are not aligned.
//!
//! The options of operators are known to it as tables alone: their fields are checked when
//! they are read ([`super::flatbuffer`]), by the operator that they belong to.

use flatbuffers::{
    ErrorTraceDetail, ForwardsUOffset, InvalidFlatbuffer, Vector, Verifiable, Verifier, VerifierOptions,
};

use crate::error::Problem;

/// What TFLite files have behind the offset that they start with.
const IDENTIFIER: &[u8; 4] = b"TFL3";
/// Most tables inside of each other; the schema needs 4.
const MAX_DEPTH: usize = 8;
/// Most tables, those counted again that several offsets lead to.
const MAX_TABLES: usize = 1_000_000;
/// How often, on average, a byte may be reached. Files share some of their parts, such as
/// vtables and equal vectors, but by far not as often as this.
const READS: usize = 16;

/// Checks the whole file.
///
/// # Errors
///
/// What is wrong, and where.
pub(super) fn verify(bytes: &[u8]) -> Result<(), Problem> {
    // Of a shorter file, what there is.
    let found = bytes.get(4..).unwrap_or_default();
    let found = found.get(..4).unwrap_or(found);
    if found != IDENTIFIER {
        let (found, expected) = (found.escape_ascii(), IDENTIFIER.escape_ascii());
        return Err(Problem::new(format!("the file identifier is \"{found}\", expected \"{expected}\"")));
    }
    let options = VerifierOptions {
        max_depth: MAX_DEPTH,
        max_tables: MAX_TABLES,
        max_apparent_size: bytes.len().saturating_mul(READS),
        ..VerifierOptions::default()
    };
    let mut verifier = Verifier::new(&options, bytes);
    ForwardsUOffset::<Model>::run_verifier(&mut verifier, 0).map_err(|invalid| problem(&invalid, bytes.len()))
}

/// `damaged at subgraphs[0].operators[3].inputs: bytes 96..212, the file has 180`.
fn problem(invalid: &InvalidFlatbuffer, size: usize) -> Problem {
    use InvalidFlatbuffer as Invalid;
    let (trace, message): (&[ErrorTraceDetail], String) = match invalid {
        Invalid::RangeOutOfBounds { range, error_trace } => {
            (error_trace.as_ref(), format!("bytes {} to {}, the file has {size}", range.start, range.end))
        }
        Invalid::SignedOffsetOutOfBounds { soffset, position, error_trace } => {
            let message = format!("the vtable offset {soffset} at byte {position} leads out of the file");
            (error_trace.as_ref(), format!("{message} of {size} bytes"))
        }
        Invalid::Unaligned { position, unaligned_type, error_trace } => {
            (error_trace.as_ref(), format!("a {unaligned_type} at byte {position} is not aligned"))
        }
        Invalid::TooManyTables => (&[], format!("more than {MAX_TABLES} tables")),
        Invalid::ApparentSizeTooLarge => {
            (&[], format!("parts overlap so often that {READS} times the {size} bytes are read"))
        }
        Invalid::DepthLimitReached => (&[], format!("more than {MAX_DEPTH} tables inside of each other")),
        // Nothing is required, and texts and unions are not looked at.
        Invalid::MissingRequiredField { .. }
        | Invalid::InconsistentUnion { .. }
        | Invalid::Utf8Error { .. }
        | Invalid::MissingNullTerminator { .. } => (&[], invalid.to_string()),
    };
    Problem::new(match path(trace).as_str() {
        "" => format!("damaged: {message}"),
        path => format!("damaged at `{path}`: {message}"),
    })
}

/// `subgraphs[0].operators[3].inputs`.
fn path(trace: &[ErrorTraceDetail]) -> String {
    let mut path = String::new();
    // It starts where the problem is.
    for detail in trace.iter().rev() {
        match detail {
            ErrorTraceDetail::VectorElement { index, .. } => path.push_str(&format!("[{index}]")),
            ErrorTraceDetail::TableField { field_name: name, .. }
            | ErrorTraceDetail::UnionVariant { variant: name, .. } => {
                let separator = if path.is_empty() { "" } else { "." };
                path.push_str(&format!("{separator}{name}"));
            }
        }
    }
    path
}

type Text = ForwardsUOffset<Vector<'static, u8>>;
type Numbers<T> = ForwardsUOffset<Vector<'static, T>>;
type Tables<T> = ForwardsUOffset<Vector<'static, ForwardsUOffset<T>>>;

/// A table whose fields are not looked at.
struct Any;

impl Verifiable for Any {
    fn run_verifier(verifier: &mut Verifier<'_, '_>, position: usize) -> Result<(), InvalidFlatbuffer> {
        verifier.visit_table(position)?.finish();
        Ok(())
    }
}

/// Tables of the schema, version 3: the slots of their fields, which are all optional.
macro_rules! tables {
    ($($table:ident { $($slot:literal $field:ident: $ty:ty,)* })*) => {$(
        struct $table;

        impl Verifiable for $table {
            fn run_verifier(
                verifier: &mut Verifier<'_, '_>,
                position: usize,
            ) -> Result<(), InvalidFlatbuffer> {
                let table = verifier.visit_table(position)?;
                $(let table = table.visit_field::<$ty>(stringify!($field), 4 + 2 * $slot, false)?;)*
                table.finish();
                Ok(())
            }
        }
    )*};
}

tables! {
    Model {
        0 version: u32,
        1 operator_codes: Tables<OperatorCode>,
        2 subgraphs: Tables<SubGraph>,
        3 description: Text,
        4 buffers: Tables<Buffer>,
        5 metadata_buffer: Numbers<i32>,
        6 metadata: Tables<Metadata>,
        7 signature_defs: Tables<SignatureDef>,
    }
    OperatorCode {
        0 deprecated_builtin_code: i8,
        1 custom_code: Text,
        2 version: i32,
        3 builtin_code: i32,
    }
    SubGraph {
        0 tensors: Tables<Tensor>,
        1 inputs: Numbers<i32>,
        2 outputs: Numbers<i32>,
        3 operators: Tables<Operator>,
        4 name: Text,
    }
    Tensor {
        0 shape: Numbers<i32>,
        1 type: i8,
        2 buffer: u32,
        3 name: Text,
        4 quantization: ForwardsUOffset<Quantization>,
        5 is_variable: u8,
        6 sparsity: ForwardsUOffset<Any>,
        7 shape_signature: Numbers<i32>,
        8 has_rank: u8,
        9 variant_tensors: Tables<Any>,
        10 external_buffer: u32,
    }
    Quantization {
        0 min: Numbers<f32>,
        1 max: Numbers<f32>,
        2 scale: Numbers<f32>,
        3 zero_point: Numbers<i64>,
        4 details_type: u8,
        5 details: ForwardsUOffset<Any>,
        6 quantized_dimension: i32,
    }
    Operator {
        0 opcode_index: u32,
        1 inputs: Numbers<i32>,
        2 outputs: Numbers<i32>,
        3 builtin_options_type: u8,
        4 builtin_options: ForwardsUOffset<Any>,
        5 custom_options: Numbers<u8>,
        6 custom_options_format: i8,
        7 mutating_variable_inputs: Numbers<u8>,
        8 intermediates: Numbers<i32>,
        9 large_custom_options_offset: u64,
        10 large_custom_options_size: u64,
        11 builtin_options_2_type: u8,
        12 builtin_options_2: ForwardsUOffset<Any>,
    }
    Buffer {
        0 data: Numbers<u8>,
        1 offset: u64,
        2 size: u64,
    }
    Metadata {
        0 name: Text,
        1 buffer: u32,
    }
    SignatureDef {
        0 inputs: Tables<TensorMap>,
        1 outputs: Tables<TensorMap>,
        2 signature_key: Text,
        4 subgraph_index: u32,
    }
    TensorMap {
        0 name: Text,
        1 tensor_index: u32,
    }
}
