//! The tensors that a file declares, and the elements of its constants.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use aot_rt::DType;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::format::{DataEntry, Entries, Name, QuantizationEntry, TensorEntry};
use super::text::Findings;
use crate::error::{Location, Problem};
use crate::graph::{Data, Quantization, Shape, TensorType};
use crate::import::Source;
use crate::weights::safetensors::SafeTensors;
use crate::weights::{Stored, npy};

/// Most bytes of all constants together.
const MAX_CONSTANT_BYTES: u64 = Source::MAX_BYTES;

/// A tensor as the file declares it.
#[derive(Debug)]
pub(super) struct Declaration<'a> {
    /// Where its name is written.
    pub(super) place: &'a str,
    /// `None` when it has a problem, which is reported.
    pub(super) ty: Option<TensorType>,
    /// What it is.
    pub(super) role: Role,
    /// Whether anything names it.
    pub(super) used: bool,
}

/// What a declared tensor is.
#[derive(Debug)]
pub(super) enum Role {
    /// An input or an activation.
    Activation,
    /// A constant; `None` when its elements have a problem, which is reported.
    Constant(Option<Data>),
    /// The declaration cannot be read, which is reported.
    Unknown,
}

/// Everything that is declared, by name.
pub(super) type Declarations<'a> = HashMap<String, Declaration<'a>>;

/// Reads all declarations, and the files that they name. Gives the names in the
/// order of the file, too.
pub(super) fn read<'a>(
    entries: Entries<'a, TensorEntry<'a>>,
    source: &mut Source,
    findings: &mut Findings<'a>,
) -> (Declarations<'a>, Vec<String>) {
    let mut reader = Reader { source, findings, files: BTreeMap::new(), bytes: 0 };
    let (mut declarations, mut names) = (HashMap::with_capacity(entries.0.len()), Vec::new());
    for (Name { place, value: name }, entry) in entries.0 {
        if declarations.contains_key(&name) {
            reader.findings.add(place, Problem::new(format!("tensor `{name}` is declared twice")));
            continue;
        }
        let owner = Location::Tensor(name.clone());
        let entry: Option<TensorEntry<'a>> = reader.findings.read(entry.json, &owner);
        let (mut ty, mut role) = (None, Role::Unknown);
        if let Some(TensorEntry { dtype, shape, quantization: parameters, data }) = entry {
            role = match data {
                Some(data) => Role::Constant(reader.data(&owner, place, (dtype, &shape), data)),
                None => Role::Activation,
            };
            ty = match parameters.map(quantization).transpose() {
                Ok(quantization) => Some(TensorType { dtype, shape, quantization }),
                Err(message) => {
                    reader.findings.add(place, Problem::new(format!("{owner}{message}")));
                    None
                }
            };
        }
        names.push(name.clone());
        declarations.insert(name, Declaration { place, ty, role, used: false });
    }
    (declarations, names)
}

fn quantization(entry: QuantizationEntry) -> Result<Quantization, String> {
    let QuantizationEntry { scale, zero_point, axis } = entry;
    if scale.len() > 1 && axis.is_none() {
        return Err(format!("{} scales, but no `axis` that they belong to", scale.len()));
    }
    Quantization::per_axis(scale, zero_point, axis.unwrap_or(0))
}

struct Reader<'r, 'a> {
    source: &'r mut Source,
    findings: &'r mut Findings<'a>,
    /// The `.safetensors` files that were read; `None` for those that cannot be.
    files: BTreeMap<PathBuf, Option<Rc<SafeTensors>>>,
    /// Bytes of the constants so far.
    bytes: u64,
}

impl<'a> Reader<'_, 'a> {
    /// The elements of the constant `owner`, which is declared at `place`.
    fn data(
        &mut self,
        owner: &Location,
        place: &'a str,
        (dtype, shape): (DType, &Shape),
        data: DataEntry<'a>,
    ) -> Option<Data> {
        self.bytes = self.bytes.saturating_add(shape.elements() as u64 * dtype.size() as u64);
        if self.bytes > MAX_CONSTANT_BYTES {
            let message = format!(
                "with this one the constants have {} bytes, the limit is {MAX_CONSTANT_BYTES}",
                self.bytes
            );
            self.findings.add(place, Problem::new(format!("{owner}{message}")));
            return None;
        }
        match data {
            DataEntry { values: Some(values), npy: None, safetensors: None, tensor: None } => {
                self.values(owner, (dtype, shape), values.get())
            }
            DataEntry { values: None, npy: Some(file), safetensors: None, tensor: None } => {
                let bytes = self.file(owner, &file)?;
                let stored = npy::read(&bytes).and_then(|stored| elements(&stored, dtype, shape));
                self.checked(owner, &file, &format!("`{}`", file.value), stored)
            }
            DataEntry { values: None, npy: None, safetensors: Some(file), tensor: Some(tensor) } => {
                let tensors = self.safetensors(owner, &file)?;
                let within = format!("`{}` in `{}`", tensor.value, file.value);
                let Some(stored) = tensors.get(&tensor.value) else {
                    let problem = Problem::new(format!("{owner}there is no tensor {within}"));
                    self.findings.add_near(tensor.place, problem, &tensor.value, tensors.names());
                    return None;
                };
                let stored = stored.and_then(|stored| elements(&stored, dtype, shape));
                self.checked(owner, &tensor, &within, stored)
            }
            _ => {
                let message = "`data` needs one of `values`, `npy`, or `safetensors` with `tensor`";
                self.findings.add(place, Problem::new(format!("{owner}{message}")));
                None
            }
        }
    }

    /// The elements that are written in the file itself.
    fn values(&mut self, owner: &Location, (dtype, shape): (DType, &Shape), json: &'a str) -> Option<Data> {
        let mut numbers = Numbers { findings: self.findings, owner, json };
        let bytes = match dtype {
            DType::I8 => numbers.read(i8::to_le_bytes),
            DType::U8 => numbers.read(u8::to_le_bytes),
            DType::I16 => numbers.read(i16::to_le_bytes),
            DType::I32 => numbers.read(i32::to_le_bytes),
            DType::I64 => numbers.read(i64::to_le_bytes),
            DType::F32 => numbers.read(|Finite(number)| number.to_le_bytes()),
        }?;
        let count = bytes.len() / dtype.size();
        if count != shape.elements() {
            let message = format!("{owner}{count} values, {shape} has {}", shape.elements());
            self.findings.add(json, Problem::new(message));
            return None;
        }
        Some(Data::from_bytes(bytes))
    }

    fn safetensors(&mut self, owner: &Location, file: &Name<'a>) -> Option<Rc<SafeTensors>> {
        // `./a` is `a`: no file is held twice.
        let path: PathBuf =
            Path::new(&file.value).components().filter(|part| *part != Component::CurDir).collect();
        if let Some(tensors) = self.files.get(&path) {
            return tensors.clone();
        }
        let tensors = self.file(owner, file).map(SafeTensors::read);
        let tensors = tensors.and_then(|read| self.checked(owner, file, &format!("`{}`", file.value), read));
        let tensors = tensors.map(Rc::new);
        self.files.insert(path, tensors.clone());
        tensors
    }

    fn file(&mut self, owner: &Location, file: &Name<'a>) -> Option<Vec<u8>> {
        let problem = match self.source.beside(&file.value) {
            Ok(bytes) => return Some(bytes),
            Err(problem) => problem,
        };
        let message = format!("{owner}{}", problem.message);
        self.findings.add(file.place, Problem { message, ..problem });
        None
    }

    /// What was read from `within`, or a problem at `name`.
    fn checked<T>(
        &mut self,
        owner: &Location,
        name: &Name<'a>,
        within: &str,
        read: Result<T, String>,
    ) -> Option<T> {
        read.map_err(|error| {
            self.findings.add(name.place, Problem::new(format!("{owner}{within}: {error}")));
        })
        .ok()
    }
}

/// The elements of a stored tensor, when it is what the model declares.
fn elements(stored: &Stored<'_>, dtype: DType, shape: &Shape) -> Result<Data, String> {
    if (stored.dtype, &stored.shape) == (dtype, shape) {
        return Ok(Data::from_bytes(stored.bytes));
    }
    let (found, declared) = (stored.dtype.name(), dtype.name());
    Err(format!("is {found} {}, declared is {declared} {shape}", stored.shape))
}

/// A list of numbers in the text.
struct Numbers<'n, 'a> {
    findings: &'n mut Findings<'a>,
    owner: &'n Location,
    json: &'a str,
}

impl<'a> Numbers<'_, 'a> {
    /// The bytes of the numbers.
    fn read<T: Deserialize<'a>, const N: usize>(&mut self, bytes: impl Fn(T) -> [u8; N]) -> Option<Vec<u8>> {
        let numbers: Vec<T> = self.findings.read(self.json, self.owner)?;
        Some(numbers.into_iter().flat_map(bytes).collect())
    }
}

/// A number that `f32` can hold.
struct Finite(f32);

impl<'de> Deserialize<'de> for Finite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f32::deserialize(deserializer)?;
        if number.is_finite() {
            Ok(Self(number))
        } else {
            Err(D::Error::custom(format!("the number is larger than f32 can hold, {}", f32::MAX)))
        }
    }
}
