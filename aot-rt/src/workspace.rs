//! Memory for activations, handed out as typed regions.
//!
//! Generated code knows every offset, so [`Workspace::borrow`] checks the
//! regions of a call in a `const` block: out of bounds, misaligned or
//! overlapping regions do not compile. The evaluator and the VM learn offsets at
//! run time; [`Arena::borrow`] makes the same check and returns an error.
#![expect(unsafe_code, reason = "the only place that splits memory into regions")]

use core::marker::PhantomData;

use crate::{DType, Element, Tensor};

/// Static memory of a model: `BYTES` bytes, aligned to [`Workspace::ALIGN`].
#[repr(C, align(16))]
pub struct Workspace<const BYTES: usize>([u8; BYTES]);

/// A shared region: `LEN` elements of `T` from byte `OFFSET` on.
pub struct Read<T, const OFFSET: usize, const LEN: usize>(PhantomData<T>);

/// An exclusive region: `LEN` elements of `T` from byte `OFFSET` on. In-place
/// kernels read it, too.
pub struct Write<T, const OFFSET: usize, const LEN: usize>(PhantomData<T>);

/// Whether a region is shared or exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Other readers may share the bytes.
    Read,
    /// Nothing else may touch the bytes.
    Write,
}

/// The bytes of one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub offset: usize,
    /// Number of bytes.
    pub bytes: usize,
    /// Element type, which gives the alignment.
    pub dtype: DType,
    /// Shared or exclusive.
    pub access: Access,
}

/// Why a set of regions cannot be handed out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanError {
    /// A region ends beyond the memory.
    OutOfBounds,
    /// A region starts where its element type must not.
    Misaligned,
    /// An exclusive region shares bytes with another.
    Overlap,
}

const fn check(spans: &[Span], memory: usize) -> Result<(), SpanError> {
    let mut i = 0;
    while i < spans.len() {
        let a = spans[i];
        if a.offset > memory || a.bytes > memory - a.offset {
            return Err(SpanError::OutOfBounds);
        }
        if !a.offset.is_multiple_of(a.dtype.size()) {
            return Err(SpanError::Misaligned);
        }
        let mut j = 0;
        while j < i {
            let b = spans[j];
            let exclusive = matches!(a.access, Access::Write) || matches!(b.access, Access::Write);
            if exclusive && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes {
                return Err(SpanError::Overlap);
            }
            j += 1;
        }
        i += 1;
    }
    Ok(())
}

impl<const BYTES: usize> Workspace<BYTES> {
    /// Alignment of byte 0: enough for every element type and for 128-bit loads.
    pub const ALIGN: usize = 16;

    /// Zeroed memory; a static of it costs no flash.
    #[must_use]
    pub const fn new() -> Self {
        Self([0; BYTES])
    }

    /// Sets all bytes to `byte`.
    pub fn fill(&mut self, byte: u8) {
        self.0.fill(byte);
    }

    /// Hands out the regions `R`, a tuple of [`Read`] and [`Write`], together.
    ///
    /// Does not compile when a region is out of bounds or misaligned, or when an
    /// exclusive one overlaps another:
    ///
    /// ```
    /// # use aot_rt::{Read, Workspace, Write};
    /// let mut workspace = Workspace::<64>::new();
    /// let (x, y) = workspace.borrow::<(Read<i8, 0, 16>, Write<i32, 16, 4>)>();
    /// y[0] = i32::from(x[0]);
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use aot_rt::{Read, Workspace, Write};
    /// let mut workspace = Workspace::<64>::new();
    /// let (x, y) = workspace.borrow::<(Read<i8, 0, 20>, Write<i32, 16, 4>)>();
    /// ```
    #[inline(always)]
    pub fn borrow<R: Regions>(&mut self) -> R::Refs<'_> {
        const {
            match check(R::SPANS, BYTES) {
                Ok(()) => (),
                Err(SpanError::OutOfBounds) => panic!("a region ends beyond the workspace"),
                Err(SpanError::Misaligned) => panic!("a region is misaligned for its element type"),
                Err(SpanError::Overlap) => panic!("an exclusive region overlaps another region"),
            }
        }
        // SAFETY: the const block has proved that all regions lie in `self.0`,
        // are aligned (the workspace is aligned to 16) and that exclusive ones
        // overlap no other. The references borrow `self` exclusively.
        unsafe { R::refs(self.0.as_mut_ptr()) }
    }

    /// Reads one region.
    #[inline(always)]
    #[must_use]
    pub fn read<T: Element, const OFFSET: usize, const LEN: usize>(&self) -> &[T; LEN] {
        const {
            let span = <Read<T, OFFSET, LEN> as Region>::SPAN;
            assert!(check(&[span], BYTES).is_ok(), "a region is out of bounds or misaligned");
        }
        // SAFETY: the region is in bounds and aligned, and `Element` admits every
        // bit pattern. The reference borrows `self`.
        unsafe { &*self.0.as_ptr().add(OFFSET).cast() }
    }

    /// Borrows one region exclusively.
    #[inline(always)]
    pub fn write<T: Element, const OFFSET: usize, const LEN: usize>(&mut self) -> &mut [T; LEN] {
        self.borrow::<(Write<T, OFFSET, LEN>,)>().0
    }
}

impl<const BYTES: usize> Default for Workspace<BYTES> {
    fn default() -> Self {
        Self::new()
    }
}

/// Its size: what it holds between runs means nothing.
impl<const BYTES: usize> core::fmt::Debug for Workspace<BYTES> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Workspace<{BYTES}>")
    }
}

/// A [`Read`] or [`Write`].
///
/// # Safety
///
/// `SPAN` covers exactly the bytes that `get` makes a reference to.
pub unsafe trait Region {
    /// The bytes of the region.
    const SPAN: Span;
    /// Reference to an array.
    type Ref<'a>;
    /// The region as an array.
    ///
    /// # Safety
    ///
    /// `base` is valid for `SPAN` for the lifetime `'a`, aligned for the element
    /// type, and aliased by no exclusive reference (by none for [`Write`]).
    unsafe fn get<'a>(base: *mut u8) -> Self::Ref<'a>;
}

const fn span<T: Element>(offset: usize, len: usize, access: Access) -> Span {
    let Some(bytes) = len.checked_mul(T::DTYPE.size()) else {
        panic!("a region is larger than the address space")
    };
    Span { offset, bytes, dtype: T::DTYPE, access }
}

// SAFETY: `SPAN` is `LEN` elements of `T` from `OFFSET` on, as is the array.
unsafe impl<T: Element, const OFFSET: usize, const LEN: usize> Region for Read<T, OFFSET, LEN> {
    const SPAN: Span = span::<T>(OFFSET, LEN, Access::Read);
    type Ref<'a> = &'a [T; LEN];
    #[inline(always)]
    unsafe fn get<'a>(base: *mut u8) -> &'a [T; LEN] {
        // SAFETY: the caller vouches for bounds, alignment and aliasing.
        unsafe { &*base.add(OFFSET).cast() }
    }
}

// SAFETY: as for `Read`.
unsafe impl<T: Element, const OFFSET: usize, const LEN: usize> Region for Write<T, OFFSET, LEN> {
    const SPAN: Span = span::<T>(OFFSET, LEN, Access::Write);
    type Ref<'a> = &'a mut [T; LEN];
    #[inline(always)]
    unsafe fn get<'a>(base: *mut u8) -> &'a mut [T; LEN] {
        // SAFETY: the caller vouches for bounds, alignment and exclusiveness.
        unsafe { &mut *base.add(OFFSET).cast() }
    }
}

/// A tuple of up to eight regions.
///
/// # Safety
///
/// `SPANS` holds the span of every region that `refs` makes a reference to.
pub unsafe trait Regions {
    /// The bytes of all regions.
    const SPANS: &'static [Span];
    /// Tuple of references.
    type Refs<'a>;
    /// The regions as references.
    ///
    /// # Safety
    ///
    /// `base` is valid for all `SPANS` for the lifetime `'a`, they are aligned,
    /// and no exclusive one overlaps another.
    unsafe fn refs<'a>(base: *mut u8) -> Self::Refs<'a>;
}

macro_rules! regions {
    ($($region:ident)+) => {
        // SAFETY: one span a region, one region a reference.
        unsafe impl<$($region: Region),+> Regions for ($($region,)+) {
            const SPANS: &'static [Span] = &[$($region::SPAN),+];
            type Refs<'a> = ($($region::Ref<'a>,)+);
            #[inline(always)]
            unsafe fn refs<'a>(base: *mut u8) -> Self::Refs<'a> {
                // SAFETY: the caller vouches for every region.
                unsafe { ($($region::get(base),)+) }
            }
        }
    };
}

regions!(A);
regions!(A B);
regions!(A B C);
regions!(A B C D);
regions!(A B C D E);
regions!(A B C D E F);
regions!(A B C D E F G);
regions!(A B C D E F G H);

/// Sixteen aligned bytes: what memory of a size known at run time is made of.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
pub struct Block([u8; 16]);

/// The bytes of `blocks`.
#[must_use]
pub fn block_bytes(blocks: &[Block]) -> &[u8] {
    // SAFETY: a `Block` is 16 bytes without padding.
    unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast(), size_of_val(blocks)) }
}

/// The bytes of `blocks`, exclusively.
#[must_use]
pub fn block_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
    // SAFETY: a `Block` is 16 bytes without padding, and any bytes are a `Block`.
    unsafe { core::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), size_of_val(blocks)) }
}

/// Memory whose regions are known at run time only: the evaluator's, the VM's.
pub struct Arena<'a>(&'a mut [Block]);

impl<'a> Arena<'a> {
    /// Takes `blocks` as memory.
    #[must_use]
    pub fn new(blocks: &'a mut [Block]) -> Self {
        Self(blocks)
    }

    /// Hands out the regions `spans` together, in their order.
    ///
    /// # Errors
    ///
    /// When a region is out of bounds or misaligned, or an exclusive one overlaps
    /// another.
    pub fn borrow<'s>(
        &'s mut self,
        spans: &'s [Span],
    ) -> Result<impl ExactSizeIterator<Item = Tensor<'s>>, SpanError> {
        let memory = block_bytes_mut(self.0);
        check(spans, memory.len())?;
        let base = memory.as_mut_ptr();
        Ok(spans.iter().map(move |span| {
            // SAFETY: in bounds, so the sum stays in the allocation.
            let start = unsafe { base.add(span.offset) };
            if span.access == Access::Write {
                // SAFETY: in bounds, and no other region overlaps it; each span is
                // visited once, and `'s` keeps the memory borrowed.
                let bytes = unsafe { core::slice::from_raw_parts_mut(start, span.bytes) };
                Tensor::write_bytes(span.dtype, bytes)
            } else {
                // SAFETY: in bounds, and no exclusive region overlaps it.
                let bytes = unsafe { core::slice::from_raw_parts(start, span.bytes) };
                Tensor::read_bytes(span.dtype, bytes)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KernelError;

    const fn bytes(offset: usize, bytes: usize, access: Access) -> Span {
        Span { offset, bytes, dtype: DType::I8, access }
    }

    #[test]
    fn check_cases() {
        use Access::{Read, Write};
        let words = Span { offset: 2, bytes: 8, dtype: DType::I32, access: Read };
        for (name, spans, expect) in [
            ("neighbours", &[bytes(0, 4, Write), bytes(4, 4, Write)][..], Ok(())),
            ("two readers share", &[bytes(0, 4, Read), bytes(2, 4, Read)], Ok(())),
            ("writer on reader", &[bytes(0, 4, Read), bytes(3, 4, Write)], Err(SpanError::Overlap)),
            ("reader in writer", &[bytes(0, 9, Write), bytes(3, 4, Read)], Err(SpanError::Overlap)),
            ("last byte", &[bytes(60, 4, Write)], Ok(())),
            ("beyond the end", &[bytes(60, 5, Read)], Err(SpanError::OutOfBounds)),
            ("sum overflows", &[bytes(8, usize::MAX, Read)], Err(SpanError::OutOfBounds)),
            ("misaligned", &[words], Err(SpanError::Misaligned)),
        ] {
            assert_eq!(check(spans, 64), expect, "{name}");
        }
    }

    #[test]
    fn static_and_dynamic_regions_see_the_same_bytes() {
        let mut workspace = Workspace::<32>::new();
        let (a, b) = workspace.borrow::<(Write<i8, 0, 4>, Write<i32, 4, 2>)>();
        a.copy_from_slice(&[1, 2, 3, 4]);
        b[1] = 7;
        assert_eq!(workspace.read::<i8, 0, 12>(), &[1, 2, 3, 4, 0, 0, 0, 0, 7, 0, 0, 0]);

        let mut blocks = [Block::default(); 2];
        let mut arena = Arena::new(&mut blocks);
        let spans = [
            bytes(0, 4, Access::Write),
            Span { offset: 4, bytes: 8, dtype: DType::I32, access: Access::Write },
        ];
        let mut regions = arena.borrow(&spans).unwrap();
        let (mut a, mut b) = (regions.next().unwrap(), regions.next().unwrap());
        a.elements_mut::<i8>().unwrap().copy_from_slice(&[1, 2, 3, 4]);
        b.elements_mut::<i32>().unwrap()[1] = 7;
        assert_eq!(b.elements::<i32>().unwrap().len(), 2);
        assert_eq!(a.elements::<i32>(), Err(KernelError::Type));
        drop((regions, a, b));
        assert_eq!(block_bytes(&blocks)[..12], [1, 2, 3, 4, 0, 0, 0, 0, 7, 0, 0, 0]);
    }
}
