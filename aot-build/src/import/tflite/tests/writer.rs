//! Writes flatbuffers, good and bad ones, for the tests.

use std::collections::BTreeMap;

/// A field of a table.
#[derive(Clone)]
pub(super) enum Field {
    /// A number, little-endian.
    Scalar(Vec<u8>),
    /// A vector or string: bytes of an element, and all bytes.
    Vector(usize, Vec<u8>),
    Table(Table),
    Tables(Vec<Table>),
    /// A vector of offsets that all lead to one table.
    Repeated(Table, usize),
}

/// A table: fields by slot.
#[derive(Clone, Default)]
pub(super) struct Table(BTreeMap<usize, Field>);

impl Table {
    pub(super) fn with(mut self, slot: usize, field: impl Into<Field>) -> Self {
        self.set(slot, field);
        self
    }

    pub(super) fn set(&mut self, slot: usize, field: impl Into<Field>) {
        self.0.insert(slot, field.into());
    }

    pub(super) fn remove(&mut self, slot: usize) {
        self.0.remove(&slot);
    }

    /// The table in this field, made if it is not there.
    pub(super) fn table(&mut self, slot: usize) -> &mut Self {
        match self.0.entry(slot).or_insert_with(|| Field::Table(Self::default())) {
            Field::Table(table) => table,
            _ => panic!("field {slot} is no table"),
        }
    }

    /// The whole file.
    pub(super) fn file(&self, identifier: &[u8; 4]) -> Vec<u8> {
        let mut file = vec![0; 4];
        file.extend(identifier);
        let root = emit_table(&mut file, self);
        point(&mut file, 0, root);
        file
    }
}

macro_rules! fields {
    ($($scalar:ty),*) => {$(
        impl From<$scalar> for Field {
            fn from(value: $scalar) -> Self {
                Self::Scalar(value.to_le_bytes().into())
            }
        }

        impl From<Vec<$scalar>> for Field {
            fn from(values: Vec<$scalar>) -> Self {
                let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                Self::Vector(size_of::<$scalar>(), bytes)
            }
        }
    )*};
}

fields!(u8, i8, i32, u32, i64, u64, f32);

impl From<&str> for Field {
    fn from(text: &str) -> Self {
        text.as_bytes().to_vec().into()
    }
}

impl From<Table> for Field {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Vec<Table>> for Field {
    fn from(tables: Vec<Table>) -> Self {
        Self::Tables(tables)
    }
}

fn align(file: &mut Vec<u8>, alignment: usize, before: usize) {
    while !(file.len() + before).is_multiple_of(alignment) {
        file.push(0);
    }
}

/// Lets the offset at `position` lead to `target`.
fn point(file: &mut [u8], position: usize, target: usize) {
    let offset = u32::try_from(target - position).unwrap();
    file[position..position + 4].copy_from_slice(&offset.to_le_bytes());
}

fn emit_table(file: &mut Vec<u8>, table: &Table) -> usize {
    let slots = table.0.keys().max().map_or(0, |slot| slot + 1);
    let mut offsets = vec![0_u16; slots];
    let mut end = 4_usize;
    for (slot, field) in &table.0 {
        let size = match field {
            Field::Scalar(bytes) => bytes.len(),
            Field::Vector(..) | Field::Table(_) | Field::Tables(_) | Field::Repeated(..) => 4,
        };
        end = end.next_multiple_of(size);
        offsets[*slot] = u16::try_from(end).unwrap();
        end += size;
    }
    align(file, 2, 0);
    let vtable = file.len();
    let header = [u16::try_from(4 + 2 * slots).unwrap(), u16::try_from(end).unwrap()];
    file.extend(header.iter().chain(&offsets).flat_map(|offset| offset.to_le_bytes()));
    align(file, 8, 0);
    let start = file.len();
    file.resize(start + end, 0);
    let back = i32::try_from(start - vtable).unwrap();
    file[start..start + 4].copy_from_slice(&back.to_le_bytes());
    for (slot, field) in &table.0 {
        let position = start + usize::from(offsets[*slot]);
        let target = match field {
            Field::Scalar(bytes) => {
                file[position..position + bytes.len()].copy_from_slice(bytes);
                continue;
            }
            Field::Vector(size, bytes) => {
                align(file, (*size).max(4), 4);
                let target = file.len();
                file.extend(u32::try_from(bytes.len() / size).unwrap().to_le_bytes());
                file.extend(bytes);
                target
            }
            Field::Table(table) => emit_table(file, table),
            Field::Tables(tables) => emit_offsets(file, tables.len(), |file, i| emit_table(file, &tables[i])),
            Field::Repeated(table, count) => {
                let mut shared = None;
                emit_offsets(file, *count, |file, _| *shared.get_or_insert_with(|| emit_table(file, table)))
            }
        };
        point(file, position, target);
    }
    start
}

fn emit_offsets(
    file: &mut Vec<u8>,
    count: usize,
    mut emit: impl FnMut(&mut Vec<u8>, usize) -> usize,
) -> usize {
    align(file, 4, 0);
    let target = file.len();
    file.extend(u32::try_from(count).unwrap().to_le_bytes());
    file.resize(target + 4 + 4 * count, 0);
    for i in 0..count {
        let element = emit(file, i);
        point(file, target + 4 + 4 * i, element);
    }
    target
}
