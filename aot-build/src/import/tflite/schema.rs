//! The tables and fields of a TFLite file that are read.
//!
//! Slot numbers and defaults follow the schema of version 3. The structure (which
//! tensors, operators and buffers there are) is read at once; what belongs to one
//! operator or tensor is read when it is needed.

use std::rc::Rc;

use super::flatbuffer::{Fault, File, Table};
use crate::error::Problem;
use crate::report::label;

/// Most tensors, operators, operator codes or buffers: far more than any model has,
/// few enough that what is kept of each needs little memory.
pub(super) const MAX_TABLES: usize = 1 << 17;
/// Most bytes of a name; longer ones are cut.
const MAX_NAME: usize = 1024;

pub(super) mod model {
    pub(super) const VERSION: usize = 0;
    pub(super) const OPERATOR_CODES: usize = 1;
    pub(in super::super) const SUBGRAPHS: usize = 2;
    pub(super) const BUFFERS: usize = 4;
    pub(super) const METADATA: usize = 6;
    pub(super) const METADATA_BUFFER: usize = 1;
    pub(in super::super) const SIGNATURES: usize = 7;
}

mod operator_code {
    pub(super) const DEPRECATED_BUILTIN_CODE: usize = 0;
    pub(super) const CUSTOM_CODE: usize = 1;
    pub(super) const VERSION: usize = 2;
    pub(super) const BUILTIN_CODE: usize = 3;
}

pub(super) mod subgraph {
    pub(super) const TENSORS: usize = 0;
    pub(in super::super) const INPUTS: usize = 1;
    pub(in super::super) const OUTPUTS: usize = 2;
    pub(super) const OPERATORS: usize = 3;
    pub(in super::super) const NAME: usize = 4;
}

mod tensor {
    pub(super) const SHAPE: usize = 0;
    pub(super) const TYPE: usize = 1;
    pub(super) const BUFFER: usize = 2;
    pub(super) const NAME: usize = 3;
    pub(super) const QUANTIZATION: usize = 4;
    pub(super) const IS_VARIABLE: usize = 5;
    pub(super) const SPARSITY: usize = 6;
    pub(super) const SHAPE_SIGNATURE: usize = 7;
    pub(super) const VARIANT_TENSORS: usize = 9;
    pub(super) const EXTERNAL_BUFFER: usize = 10;
}

mod quantization {
    pub(super) const SCALE: usize = 2;
    pub(super) const ZERO_POINT: usize = 3;
    pub(super) const DETAILS_TYPE: usize = 4;
    pub(super) const QUANTIZED_DIMENSION: usize = 6;
}

mod buffer {
    pub(super) const DATA: usize = 0;
    pub(super) const OFFSET: usize = 1;
    pub(super) const SIZE: usize = 2;
}

mod operator {
    pub(super) const OPCODE_INDEX: usize = 0;
    pub(super) const INPUTS: usize = 1;
    pub(super) const OUTPUTS: usize = 2;
    pub(super) const OPTIONS_TYPE: usize = 3;
    pub(super) const OPTIONS: usize = 4;
    pub(super) const CUSTOM_OPTIONS: usize = 5;
    pub(super) const CUSTOM_OPTIONS_FORMAT: usize = 6;
    pub(super) const LARGE_CUSTOM_OPTIONS_OFFSET: usize = 9;
    pub(super) const OPTIONS_2_TYPE: usize = 11;
}

/// A model: one of its subgraphs, the first being the main one, and what that refers to.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) operator_codes: Rc<[OperatorCode]>,
    pub(super) buffers: Rc<[Table<'a>]>,
    subgraphs: Rc<[Table<'a>]>,
    /// Whether it is the main one.
    pub(super) is_main: bool,
    pub(super) tensors: Vec<Tensor<'a>>,
    pub(super) operators: Vec<Operator<'a>>,
    /// Positions in `tensors`.
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
}

/// What an operator is.
#[derive(Debug)]
pub(super) struct OperatorCode {
    /// Number in the schema's list.
    pub(super) builtin: i32,
    /// Name of a custom operator.
    pub(super) custom: Option<String>,
    pub(super) version: i32,
}

/// A tensor.
#[derive(Debug)]
pub(super) struct Tensor<'a> {
    /// Name in the file, if there is one.
    pub(super) name: Option<String>,
    pub(super) ty: i8,
    /// Extents; 1 where the signature leaves one open.
    pub(super) shape: Vec<i32>,
    /// Position in `buffers`.
    pub(super) buffer: u32,
    /// It is kept from run to run.
    pub(super) is_variable: bool,
    table: Table<'a>,
}

/// An operator applied to tensors.
#[derive(Debug)]
pub(super) struct Operator<'a> {
    /// Position in `operator_codes`.
    pub(super) code: u32,
    /// Positions in `tensors`; -1 where an operand is left out.
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
    table: Table<'a>,
}

/// Scale and zero point, or one of each for every slice along `dimension`.
#[derive(Debug)]
pub(super) struct QuantizationParameters {
    pub(super) scales: Vec<f32>,
    pub(super) zero_points: Vec<i64>,
    pub(super) dimension: i32,
    /// Another scheme than scales and zero points.
    pub(super) details: bool,
}

impl<'a> Model<'a> {
    /// Reads the structure of a file, and its main subgraph, the one at position `subgraph`.
    ///
    /// # Errors
    ///
    /// When it is no TFLite file, of another version, damaged, or has no subgraph.
    pub(super) fn read(file: &'a File<'a>, subgraph: usize) -> Result<Self, Problem> {
        let root = file.root()?;
        let version = root.scalar(model::VERSION, 0_u32)?;
        if version != 3 {
            return Err(Problem::new(format!("the schema has version {version}, expected 3")));
        }
        let operator_codes = root.tables(model::OPERATOR_CODES, MAX_TABLES)?;
        let buffers = root.tables(model::BUFFERS, MAX_TABLES)?;
        for metadata in root.tables(model::METADATA, MAX_TABLES)? {
            let buffer = metadata.scalar(model::METADATA_BUFFER, 0_u32)?;
            if buffer as usize >= buffers.len() {
                let count = buffers.len();
                return Err(Problem::new(format!("metadata refers to buffer {buffer} of {count}")));
            }
        }
        // Further subgraphs are read when an operator runs them.
        let model = Self {
            file,
            operator_codes: operator_codes.iter().map(OperatorCode::read).collect::<Result<_, _>>()?,
            buffers: buffers.into(),
            subgraphs: root.tables(model::SUBGRAPHS, MAX_TABLES)?.into(),
            is_main: true,
            tensors: Vec::new(),
            operators: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        if !model.buffers.is_empty() {
            // Tensors without data refer to the first buffer, which must have none.
            model.buffer(0)?;
        }
        let main = model.subgraph(subgraph)?;
        Ok(Self { is_main: true, ..main })
    }

    /// The same with another subgraph.
    ///
    /// # Errors
    ///
    /// When there is none at this position, or it is damaged.
    pub(super) fn subgraph(&self, position: usize) -> Result<Self, Problem> {
        let missing = || match self.subgraphs.len() {
            0 => Problem::new("the model has no subgraph"),
            count => Problem::new(format!("there is no subgraph {position}, but {count}")),
        };
        let table = self.subgraphs.get(position).ok_or_else(missing)?;
        let tensors = table.tables(subgraph::TENSORS, MAX_TABLES)?;
        let operators = table.tables(subgraph::OPERATORS, MAX_TABLES)?;
        Ok(Self {
            file: self.file,
            operator_codes: Rc::clone(&self.operator_codes),
            buffers: Rc::clone(&self.buffers),
            subgraphs: Rc::clone(&self.subgraphs),
            is_main: false,
            tensors: tensors.into_iter().map(Tensor::read).collect::<Result<_, _>>()?,
            operators: operators.into_iter().map(Operator::read).collect::<Result<_, _>>()?,
            inputs: table.scalars(subgraph::INPUTS)?,
            outputs: table.scalars(subgraph::OUTPUTS)?,
        })
    }

    /// The bytes of a buffer; `None` where it has none, as those of activations.
    ///
    /// # Errors
    ///
    /// When there is no such buffer, it is damaged, or the file states two places.
    pub(super) fn buffer(&self, index: u32) -> Result<Option<&'a [u8]>, Problem> {
        let count = self.buffers.len();
        let table = usize::try_from(index).ok().and_then(|index| self.buffers.get(index));
        let table = table.ok_or_else(|| Problem::new(format!("refers to buffer {index} of {count}")))?;
        let data = table.bytes(buffer::DATA)?.filter(|data| !data.is_empty());
        // Files over 2 GB keep their data behind the flatbuffer. An offset of 1 is
        // what writers put before they know the place.
        let (offset, size) = (table.scalar(buffer::OFFSET, 0_u64)?, table.scalar(buffer::SIZE, 0_u64)?);
        let outside = match (data, offset, size) {
            (None, 0..=1, 0) => return Ok(None),
            _ if index == 0 => "stands for no data and has some",
            (Some(_), 0..=1, 0) => return Ok(data),
            (Some(_), ..) => "has data both inside and outside of the flatbuffer",
            (None, 0..=1, _) => "has a size and no offset",
            (None, ..) => match (usize::try_from(offset), usize::try_from(size)) {
                (Ok(offset), Ok(size)) => return Ok(Some(self.file.slice(offset, size)?)),
                _ => "lies outside of the file",
            },
        };
        Err(Problem::new(format!("buffer {index} {outside} (offset {offset}, size {size})")))
    }

    /// How messages name a tensor: `` `name` (tensor #3) ``.
    pub(super) fn describe(&self, index: usize) -> String {
        match self.tensors.get(index).and_then(|tensor| tensor.name.as_ref()) {
            Some(name) => format!("`{}` (tensor #{index})", label(name)),
            None => format!("tensor #{index}"),
        }
    }
}

impl OperatorCode {
    fn read(table: &Table<'_>) -> Result<Self, Fault> {
        let deprecated = i32::from(table.scalar(operator_code::DEPRECATED_BUILTIN_CODE, 0_i8)?);
        let builtin = table.scalar(operator_code::BUILTIN_CODE, 0_i32)?;
        // The first field had room for codes up to 126; 127 there says to look at
        // the second. Writers before and after that change fill one or both.
        const PLACEHOLDER: i32 = 127;
        let builtin = match (deprecated, builtin) {
            (0 | PLACEHOLDER, builtin) if builtin > 0 => builtin,
            (deprecated, 0) => deprecated,
            (deprecated, builtin) if deprecated == builtin => builtin,
            (deprecated, builtin) => {
                let message = format!("an operator code is both {deprecated} and {builtin}");
                return Err(Fault::new(table.position(), message));
            }
        };
        let custom = table.bytes(operator_code::CUSTOM_CODE)?;
        let custom = custom.map(|bytes| name(table, bytes)).transpose()?;
        Ok(Self { builtin, custom, version: table.scalar(operator_code::VERSION, 1_i32)? })
    }
}

impl<'a> Tensor<'a> {
    fn read(table: Table<'a>) -> Result<Self, Fault> {
        let bytes = table.bytes(tensor::NAME)?.filter(|bytes| !bytes.is_empty());
        Ok(Self {
            name: bytes.map(|bytes| name(&table, bytes)).transpose()?,
            ty: table.scalar(tensor::TYPE, 0_i8)?,
            shape: table.scalars(tensor::SHAPE)?,
            buffer: table.scalar(tensor::BUFFER, 0_u32)?,
            is_variable: table.flag(tensor::IS_VARIABLE)?,
            table,
        })
    }

    /// Extents, -1 where they are open; empty where the file does not say.
    pub(super) fn shape_signature(&self) -> Result<Vec<i32>, Fault> {
        self.table.scalars(tensor::SHAPE_SIGNATURE)
    }

    /// What is special about the tensor and not supported.
    pub(super) fn peculiarity(&self) -> Result<Option<&'static str>, Fault> {
        if !self.table.tables(tensor::VARIANT_TENSORS, MAX_TABLES)?.is_empty() {
            return Ok(Some("holds other tensors"));
        }
        let external = self.table.scalar(tensor::EXTERNAL_BUFFER, 0_u32)? != 0;
        Ok(external.then_some("has its data in another file"))
    }

    /// Which elements a sparse constant has.
    pub(super) fn sparsity(&self) -> Result<Option<Table<'a>>, Fault> {
        self.table.table(tensor::SPARSITY)
    }

    /// Scales and zero points, where the file states any.
    pub(super) fn quantization(&self) -> Result<Option<QuantizationParameters>, Fault> {
        let Some(table) = self.table.table(tensor::QUANTIZATION)? else { return Ok(None) };
        Ok(Some(QuantizationParameters {
            scales: table.scalars(quantization::SCALE)?,
            zero_points: table.scalars(quantization::ZERO_POINT)?,
            dimension: table.scalar(quantization::QUANTIZED_DIMENSION, 0_i32)?,
            details: table.scalar(quantization::DETAILS_TYPE, 0_u8)? != 0,
        }))
    }
}

impl<'a> Operator<'a> {
    fn read(table: Table<'a>) -> Result<Self, Fault> {
        Ok(Self {
            code: table.scalar(operator::OPCODE_INDEX, 0_u32)?,
            inputs: table.scalars(operator::INPUTS)?,
            outputs: table.scalars(operator::OUTPUTS)?,
            table,
        })
    }

    /// Which table the options are, and the table; 0 where there are none.
    pub(super) fn options(&self) -> Result<(u8, Option<Table<'a>>), Fault> {
        let second = self.table.scalar(operator::OPTIONS_2_TYPE, 0_u8)?;
        if second != 0 {
            let message = format!("options of the second kind, type {second}, are not known");
            return Err(Fault::new(self.table.position(), message));
        }
        Ok((self.table.scalar(operator::OPTIONS_TYPE, 0_u8)?, self.table.table(operator::OPTIONS)?))
    }

    /// The options of a custom operator, a flexbuffer; `None` where there are none.
    pub(super) fn custom_options(&self) -> Result<Option<&'a [u8]>, Fault> {
        let format = self.table.scalar(operator::CUSTOM_OPTIONS_FORMAT, 0_i8)?;
        let outside = self.table.scalar(operator::LARGE_CUSTOM_OPTIONS_OFFSET, 0_u64)?;
        if format != 0 || outside > 1 {
            let message = "custom options of another format than flexbuffers, or outside of the flatbuffer";
            return Err(Fault::new(self.table.position(), message));
        }
        let options = self.table.bytes(operator::CUSTOM_OPTIONS)?;
        self.table.file().charge(self.table.position(), options.map_or(0, <[u8]>::len))?;
        Ok(options)
    }
}

/// A name to show: no control characters, of limited length.
pub(super) fn name(table: &Table<'_>, bytes: &[u8]) -> Result<String, Fault> {
    let cut = bytes.get(..MAX_NAME).unwrap_or(bytes);
    table.file().charge(table.position(), cut.len())?;
    let mut name: String = String::from_utf8_lossy(cut)
        .chars()
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if cut.len() < bytes.len() {
        name.push('…');
    }
    Ok(name)
}
