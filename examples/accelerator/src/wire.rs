//! Messages between the driver and the unit: a kind, and pieces of bytes.

use std::io::{self, Read, Write};

/// A convolution to be kept: its number, its shape, its constants.
pub(crate) const LOAD: u8 = 1;
/// An image for the convolution of this number.
pub(crate) const RUN: u8 = 2;
/// The result.
pub(crate) const DONE: u8 = 3;
/// Why there is none.
pub(crate) const REFUSED: u8 = 4;

/// Most bytes of a piece: no length that was garbled takes all memory.
const MOST: u32 = 1 << 26;

/// A message.
pub(crate) struct Message {
    pub(crate) kind: u8,
    pub(crate) pieces: Vec<Vec<u8>>,
}

pub(crate) fn send(to: &mut impl Write, kind: u8, pieces: &[&[u8]]) -> io::Result<()> {
    to.write_all(&[kind, u8::try_from(pieces.len()).map_err(io::Error::other)?])?;
    for piece in pieces {
        to.write_all(&u32::try_from(piece.len()).map_err(io::Error::other)?.to_le_bytes())?;
        to.write_all(piece)?;
    }
    to.flush()
}

/// The next message; `None` where the other side has ended before one.
pub(crate) fn receive(from: &mut impl Read) -> io::Result<Option<Message>> {
    let mut head = [0];
    if from.read(&mut head)? == 0 {
        return Ok(None);
    }
    let [kind] = head;
    from.read_exact(&mut head)?;
    let pieces = (0..head[0]).map(|_| piece(from)).collect::<io::Result<_>>()?;
    Ok(Some(Message { kind, pieces }))
}

fn piece(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len);
    if len > MOST {
        return Err(io::Error::other(format!("a piece of {len} bytes")));
    }
    let mut bytes = vec![0; len as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn i32s(bytes: &[u8]) -> impl Iterator<Item = i32> {
    bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes))
}

pub(crate) fn bytes_of_i32s(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(crate) fn bytes_of_i8s(numbers: &[i8]) -> Vec<u8> {
    numbers.iter().map(|number| number.cast_unsigned()).collect()
}
