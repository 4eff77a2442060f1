//! Reads flatbuffers.
//!
//! A flatbuffer is a net of offsets: a table points to its vtable, which says where
//! each field is, and to vectors, strings and further tables. [`super::verify`] has looked
//! at those of the schema, not at the fields of options: every read is checked against the
//! file's end and for alignment, so that none depends on what was looked at. Many offsets may lead to the same
//! place, so a small file can describe a large amount of work; all reading together
//! is therefore limited to a multiple of the file's size ([`File::charge`]).

use std::cell::Cell;

use crate::error::{OpError, Problem};

/// What is wrong with the file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Byte of the file.
    position: usize,
    message: String,
}

impl Fault {
    pub(super) fn new(position: usize, message: impl Into<String>) -> Self {
        Self { position, message: message.into() }
    }
}

impl From<Fault> for OpError {
    fn from(Fault { position, message }: Fault) -> Self {
        format!("at byte {position}: {message}").into()
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        OpError::from(fault).into()
    }
}

/// A number as it stands in a flatbuffer, little-endian.
pub(super) trait Scalar: Copy {
    /// Bytes, which is also the alignment.
    const SIZE: usize;
    /// Reads `SIZE` bytes.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! scalars {
    ($($ty:ty),*) => {$(
        impl Scalar for $ty {
            const SIZE: usize = size_of::<Self>();
            fn read(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

scalars!(u8, i8, u16, i16, i32, u32, i64, u64, f32);

/// The bytes of a file, and how many more may be read.
#[derive(Debug)]
pub(super) struct File<'a> {
    bytes: &'a [u8],
    allowance: Cell<usize>,
}

impl<'a> File<'a> {
    /// How often, on average, a byte may be read. Files share some of their parts,
    /// such as vtables and equal vectors, but by far not as often as this.
    const READS: usize = 16;

    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, allowance: Cell::new(bytes.len().saturating_mul(Self::READS)) }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The table that the file starts with.
    pub(super) fn root(&self) -> Result<Table<'_>, Fault> {
        Table::at(self, self.follow(0)?)
    }

    /// Counts `bytes` as read.
    ///
    /// # Errors
    ///
    /// When that is more than may be read.
    pub(super) fn charge(&self, position: usize, bytes: usize) -> Result<(), Fault> {
        let Some(left) = self.allowance.get().checked_sub(bytes) else {
            let (times, size) = (Self::READS, self.len());
            let message = format!("parts overlap so often that {times} times the {size} bytes are read");
            return Err(Fault::new(position, message));
        };
        self.allowance.set(left);
        Ok(())
    }

    /// `length` bytes at `position`.
    ///
    /// # Errors
    ///
    /// When the file ends before.
    pub(super) fn slice(&self, position: usize, length: usize) -> Result<&'a [u8], Fault> {
        let end = position.checked_add(length);
        end.and_then(|end| self.bytes.get(position..end)).ok_or_else(|| {
            let size = self.len();
            Fault::new(position, format!("{length} bytes are expected, the file ends at byte {size}"))
        })
    }

    fn scalar<T: Scalar>(&self, position: usize) -> Result<T, Fault> {
        self.aligned(position, T::SIZE)?;
        let misread = || Fault::new(position, "no number");
        T::read(self.slice(position, T::SIZE)?).ok_or_else(misread)
    }

    fn aligned(&self, position: usize, alignment: usize) -> Result<(), Fault> {
        if position.is_multiple_of(alignment) {
            return Ok(());
        }
        Err(Fault::new(position, format!("not at a multiple of {alignment} bytes")))
    }

    /// Where the offset at `position` leads.
    fn follow(&self, position: usize) -> Result<usize, Fault> {
        let offset: u32 = self.scalar(position)?;
        // Adding in 64 bits cannot overflow: the position is inside the file.
        let target = position as u64 + u64::from(offset);
        match usize::try_from(target) {
            Ok(target) if offset > 0 && target < self.len() => Ok(target),
            _ => Err(Fault::new(
                position,
                format!("the offset {offset} leads nowhere in the file of {} bytes", self.len()),
            )),
        }
    }
}

/// A table: fields by number ("slot"), each of which may be left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    file: &'a File<'a>,
    position: usize,
    /// Bytes from `position` on.
    length: usize,
    /// Where each field is, two bytes for each slot; 0 where it is left out.
    fields: &'a [u8],
}

impl<'a> Table<'a> {
    fn at(file: &'a File<'a>, position: usize) -> Result<Self, Fault> {
        let back: i32 = file.scalar(position)?;
        let outside = || Fault::new(position, format!("the vtable offset {back} leads out of the file"));
        let vtable = i64::try_from(position).map_err(|_| outside())? - i64::from(back);
        let vtable = usize::try_from(vtable).map_err(|_| outside())?;
        let (size, length): (u16, u16) = (file.scalar(vtable)?, file.scalar(vtable.saturating_add(2))?);
        let (size, length) = (usize::from(size), usize::from(length));
        file.slice(position, length)?;
        let fields = file.slice(vtable, size)?.get(4..).unwrap_or_default();
        file.charge(position, size + length)?;
        Ok(Self { file, position, length, fields })
    }

    /// The file it is in.
    pub(super) const fn file(&self) -> &'a File<'a> {
        self.file
    }

    /// Where it is.
    pub(super) const fn position(&self) -> usize {
        self.position
    }

    /// The highest slot that is not left out.
    pub(super) fn last_slot(&self) -> Option<usize> {
        self.fields.chunks(2).rposition(|offset| offset.iter().any(|byte| *byte != 0))
    }

    /// Where a field of `size` bytes is; `None` where it is left out.
    fn field(&self, slot: usize, size: usize) -> Result<Option<usize>, Fault> {
        let offset = self.fields.get(2 * slot..2 * slot + 2).and_then(u16::read).unwrap_or(0);
        match usize::from(offset) {
            0 => Ok(None),
            offset if offset >= 4 && offset + size <= self.length => Ok(Some(self.position + offset)),
            offset => {
                let length = self.length;
                let message = format!("field {slot} is at {offset} of a table of {length} bytes");
                Err(Fault::new(self.position, message))
            }
        }
    }

    /// A number; `default` where it is left out.
    pub(super) fn scalar<T: Scalar>(&self, slot: usize, default: T) -> Result<T, Fault> {
        self.field(slot, T::SIZE)?.map_or(Ok(default), |position| self.file.scalar(position))
    }

    /// A truth value; false where it is left out.
    pub(super) fn flag(&self, slot: usize) -> Result<bool, Fault> {
        Ok(self.scalar(slot, 0_u8)? != 0)
    }

    /// A table.
    pub(super) fn table(&self, slot: usize) -> Result<Option<Self>, Fault> {
        let Some(position) = self.field(slot, 4)? else { return Ok(None) };
        Self::at(self.file, self.file.follow(position)?).map(Some)
    }

    /// Position of the elements and their number, which the file has bytes for.
    fn vector(&self, slot: usize, size: usize) -> Result<Option<(usize, usize)>, Fault> {
        let Some(position) = self.field(slot, 4)? else { return Ok(None) };
        let position = self.file.follow(position)?;
        let count: u32 = self.file.scalar(position)?;
        let start = position + 4;
        if count > 0 {
            self.file.aligned(start, size)?;
        }
        let bytes = u64::from(count) * size as u64;
        if bytes > self.file.len().saturating_sub(start) as u64 {
            let message = format!("a vector of {count} × {size} bytes, the file has {}", self.file.len());
            return Err(Fault::new(position, message));
        }
        // As many as the bytes above, which fit.
        Ok(Some((start, count as usize)))
    }

    /// A vector of bytes, or a string.
    pub(super) fn bytes(&self, slot: usize) -> Result<Option<&'a [u8]>, Fault> {
        let Some((start, count)) = self.vector(slot, 1)? else { return Ok(None) };
        self.file.slice(start, count).map(Some)
    }

    /// A vector of numbers; empty where it is left out.
    pub(super) fn scalars<T: Scalar>(&self, slot: usize) -> Result<Vec<T>, Fault> {
        let Some((start, count)) = self.vector(slot, T::SIZE)? else { return Ok(Vec::new()) };
        let bytes = self.file.slice(start, count * T::SIZE)?;
        self.file.charge(start, bytes.len())?;
        Ok(bytes.chunks_exact(T::SIZE).filter_map(T::read).collect())
    }

    /// A vector of tables, at most `limit`; empty where it is left out.
    pub(super) fn tables(&self, slot: usize, limit: usize) -> Result<Vec<Self>, Fault> {
        let Some((start, count)) = self.vector(slot, 4)? else { return Ok(Vec::new()) };
        if count > limit {
            return Err(Fault::new(start, format!("a vector of {count} tables, the limit is {limit}")));
        }
        let table = |i: usize| Self::at(self.file, self.file.follow(start + 4 * i)?);
        (0..count).map(table).collect()
    }
}
