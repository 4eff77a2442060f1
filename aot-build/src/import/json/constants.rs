//! The elements of constants: numbers in the file, or in files beside it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use aot_rt::{DType, bf16, f16, pack_i4};
use serde::Deserialize;

use super::format::{DataEntry, Name, Unread};
use super::text::Findings;
use crate::error::{Location, Problem, spaced};
use crate::graph::{Data, TensorType};
use crate::import::Source;
use crate::weights::safetensors::SafeTensors;
use crate::weights::{Stored, npy};

/// Reads constants.
pub(super) struct Constants<'s> {
    source: &'s mut Source,
    /// The `.safetensors` files that were read; `None` for those that cannot be.
    files: BTreeMap<PathBuf, Option<Rc<SafeTensors>>>,
    /// Bytes of the constants so far.
    bytes: u64,
}

impl<'s> Constants<'s> {
    pub(super) fn new(source: &'s mut Source) -> Self {
        Self { source, files: BTreeMap::new(), bytes: 0 }
    }

    /// The elements of the constant `owner` of type `ty`.
    pub(super) fn read<'a>(
        &mut self,
        entry: Unread<'a, DataEntry<'a>>,
        ty: &TensorType,
        owner: &Location,
        findings: &mut Findings<'a>,
    ) -> Option<Data> {
        let place = entry.json;
        self.bytes = self.bytes.saturating_add(ty.bytes() as u64);
        let limit = self.source.limit();
        if self.bytes > limit {
            let (bytes, limit) = (spaced(self.bytes), spaced(limit));
            let message = format!("with this one the constants have {bytes} bytes, `model_limit` is {limit}");
            findings.add(place, Problem::new(format!("{owner}{message}")));
            return None;
        }
        match findings.object(place, owner)? {
            DataEntry { values: Some(values), npy: None, safetensors: None, tensor: None } => {
                inline(values.get(), ty, owner, findings)
            }
            DataEntry { values: None, npy: Some(file), safetensors: None, tensor: None } => {
                let bytes = self.file(&file, owner, findings)?;
                let data = npy::read(&bytes).and_then(|stored| elements(&stored, ty));
                let within = format!("`{}`", file.value);
                checked(data, &file, &within, owner, findings)
            }
            DataEntry { values: None, npy: None, safetensors: Some(file), tensor: Some(tensor) } => {
                let tensors = self.safetensors(&file, owner, findings)?;
                let within = format!("`{}` in `{}`", tensor.value, file.value);
                let Some(stored) = tensors.get(&tensor.value) else {
                    let problem = Problem::new(format!("{owner}there is no tensor {within}"));
                    findings.add_near(tensor.place, problem, &tensor.value, tensors.names());
                    return None;
                };
                let data = stored.and_then(|stored| elements(&stored, ty));
                checked(data, &tensor, &within, owner, findings)
            }
            _ => {
                let message = "`data` needs one of `values`, `npy`, or `safetensors` with `tensor`";
                findings.add(place, Problem::new(format!("{owner}{message}")));
                None
            }
        }
    }

    fn safetensors<'a>(
        &mut self,
        name: &Name<'a>,
        owner: &Location,
        findings: &mut Findings<'a>,
    ) -> Option<Rc<SafeTensors>> {
        // `./a` is `a`: no file is held twice.
        let parts = Path::new(&name.value).components();
        let path: PathBuf = parts.filter(|part| *part != Component::CurDir).collect();
        if let Some(tensors) = self.files.get(&path) {
            return tensors.clone();
        }
        let read = self.file(name, owner, findings).map(SafeTensors::read);
        let within = format!("`{}`", name.value);
        let tensors = read.and_then(|read| checked(read, name, &within, owner, findings)).map(Rc::new);
        self.files.insert(path, tensors.clone());
        tensors
    }

    fn file<'a>(
        &mut self,
        name: &Name<'a>,
        owner: &Location,
        findings: &mut Findings<'a>,
    ) -> Option<Vec<u8>> {
        let file = self.source.beside(&name.value);
        file.map_err(|problem| {
            let message = format!("{owner}{}", problem.message);
            findings.add(name.place, Problem { message, ..problem });
        })
        .ok()
    }
}

/// What was read from `within`, or a problem at `name`.
fn checked<'a, T>(
    read: Result<T, String>,
    name: &Name<'a>,
    within: &str,
    owner: &Location,
    findings: &mut Findings<'a>,
) -> Option<T> {
    read.map_err(|error| findings.add(name.place, Problem::new(format!("{owner}{within}: {error}")))).ok()
}

/// The elements of a stored tensor, when its type is what the model declares. No file has
/// a type for i4: they are stored as i8.
fn elements(stored: &Stored<'_>, ty: &TensorType) -> Result<Data, String> {
    if (stored.dtype, ty.dtype, &stored.shape) == (DType::I8, DType::I4, &ty.shape) {
        return packed(&stored.bytes.iter().map(|byte| byte.cast_signed()).collect::<Vec<_>>());
    }
    if (stored.dtype, &stored.shape) == (ty.dtype, &ty.shape) {
        return Ok(Data::from_bytes(stored.bytes));
    }
    Err(format!("{} {}, declared is {ty}", stored.dtype.name(), stored.shape))
}

/// The numbers that are written in the file itself.
fn inline<'a>(json: &'a str, ty: &TensorType, owner: &Location, findings: &mut Findings<'a>) -> Option<Data> {
    fn numbers<'a, T: Deserialize<'a>, const N: usize>(
        (json, owner): (&'a str, &Location),
        findings: &mut Findings<'a>,
        bytes: fn(T) -> [u8; N],
    ) -> Option<Vec<u8>> {
        let numbers: Vec<T> = findings.read(json, owner)?;
        Some(numbers.into_iter().flat_map(bytes).collect())
    }
    let text = (json, owner);
    let bytes = match ty.dtype {
        DType::I4 => return four_bits(findings.read(json, owner)?, ty, (json, owner), findings),
        DType::I8 => numbers(text, findings, i8::to_le_bytes),
        DType::U8 => numbers(text, findings, u8::to_le_bytes),
        DType::I16 => numbers(text, findings, i16::to_le_bytes),
        DType::I32 => numbers(text, findings, i32::to_le_bytes),
        DType::U32 => numbers(text, findings, u32::to_le_bytes),
        DType::I64 => numbers(text, findings, i64::to_le_bytes),
        DType::U64 => numbers(text, findings, u64::to_le_bytes),
        DType::F16 => numbers(text, findings, |value| f16::from_f32(value).to_le_bytes()),
        DType::BF16 => numbers(text, findings, |value| bf16::from_f32(value).to_le_bytes()),
        DType::F32 => numbers(text, findings, f32::to_le_bytes),
        DType::Bool => numbers(text, findings, |value: bool| [value.into()]),
    }?;
    counted(bytes.len() / ty.dtype.size(), ty, text, findings)?;
    Some(Data::from_bytes(bytes))
}

/// Reports another number of values than the shape takes.
fn counted<'a>(
    found: usize,
    ty: &TensorType,
    (json, owner): (&'a str, &Location),
    findings: &mut Findings<'a>,
) -> Option<()> {
    let expected = ty.shape.elements();
    if found != expected {
        let message = format!("{owner}{found} values, shape {} takes {expected}", ty.shape);
        findings.add(json, Problem::new(message));
    }
    (found == expected).then_some(())
}

/// Integers of four bits, two in a byte.
fn four_bits<'a>(
    values: Vec<i8>,
    ty: &TensorType,
    (json, owner): (&'a str, &Location),
    findings: &mut Findings<'a>,
) -> Option<Data> {
    counted(values.len(), ty, (json, owner), findings)?;
    packed(&values).map_err(|error| findings.add(json, Problem::new(format!("{owner}{error}")))).ok()
}

/// The same as constants.
fn packed(values: &[i8]) -> Result<Data, String> {
    if let Some(value) = values.iter().find(|value| !(-8..8).contains(*value)) {
        return Err(format!("element {value} does not fit 4 bits"));
    }
    let mut bytes = vec![0; DType::I4.bytes(values.len())];
    pack_i4(values, &mut bytes);
    Ok(Data::from_bytes(bytes))
}
