//! Fourier transforms of complex numbers, as the reference has them: decimation in time,
//! by radix 4, and once by radix 2 where the length is no power of 4. Numbers in fixed
//! point are divided before each sum, so that it fits; the result is the transform
//! divided by the length.

use crate::kernels::loops::chunks_mut;

/// Real and imaginary part.
pub(super) type Complex<T> = [T; 2];

/// What the parts of complex numbers are.
pub(crate) trait Number: Copy + Default {
    /// A summand of a sum of 2 to the power of `bits`: divided by that, in fixed point.
    fn share(self, bits: u32) -> Self;
    /// Sum; it wraps in fixed point.
    fn plus(self, other: Self) -> Self;
    /// Difference; it wraps in fixed point.
    fn minus(self, other: Self) -> Self;
    /// Half of a sum, rounded down in fixed point.
    fn half_sum(self, other: Self) -> Self;
    /// Half of a difference, rounded down in fixed point.
    fn half_difference(self, other: Self) -> Self;
    /// `a b + c d`, rounded once.
    fn products(ab: [Self; 2], cd: [Self; 2]) -> Self;
    /// The number times -1; it wraps in fixed point.
    fn negative(self) -> Self;
}

macro_rules! fixed_point {
    ($ty:ty, $wide:ty) => {
        impl Number for $ty {
            #[inline(always)]
            fn share(self, bits: u32) -> Self {
                // The largest number stands for 1.
                Self::products([self, Self::MAX >> bits], [0, 0])
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn half_sum(self, other: Self) -> Self {
                ((<$wide>::from(self) + <$wide>::from(other)) >> 1) as Self
            }

            #[inline(always)]
            fn half_difference(self, other: Self) -> Self {
                ((<$wide>::from(self) - <$wide>::from(other)) >> 1) as Self
            }

            #[inline(always)]
            fn products([a, b]: [Self; 2], [c, d]: [Self; 2]) -> Self {
                const SHIFT: u32 = <$ty>::BITS - 1;
                let [ab, cd] = [[a, b], [c, d]].map(|[a, b]| <$wide>::from(a) * <$wide>::from(b));
                (ab.wrapping_add(cd).wrapping_add(1 << (SHIFT - 1)) >> SHIFT) as Self
            }

            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
        }
    };
}

fixed_point!(i16, i32);
fixed_point!(i32, i64);

impl Number for f32 {
    #[inline(always)]
    fn share(self, _: u32) -> Self {
        self
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }

    #[inline(always)]
    fn half_sum(self, other: Self) -> Self {
        (self + other) * 0.5
    }

    #[inline(always)]
    fn half_difference(self, other: Self) -> Self {
        (self - other) * 0.5
    }

    #[inline(always)]
    fn products([a, b]: [Self; 2], [c, d]: [Self; 2]) -> Self {
        a * b + c * d
    }

    #[inline(always)]
    fn negative(self) -> Self {
        -self
    }
}

pub(super) fn share<T: Number>([re, im]: Complex<T>, bits: u32) -> Complex<T> {
    [re.share(bits), im.share(bits)]
}

pub(super) fn plus<T: Number>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    [a[0].plus(b[0]), a[1].plus(b[1])]
}

pub(super) fn minus<T: Number>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    [a[0].minus(b[0]), a[1].minus(b[1])]
}

pub(super) fn times<T: Number>([a, b]: Complex<T>, [c, d]: Complex<T>) -> Complex<T> {
    [T::products([a, c], [b, d.negative()]), T::products([a, d], [b, c])]
}

/// Which element of its input a transform takes to place `place`: digits to the base of 4
/// and once of 2, in reverse.
pub(super) fn source(mut place: usize, length: usize) -> usize {
    let (mut bits, mut done, mut source) = (length.trailing_zeros(), 0, 0);
    while bits > 0 {
        let digit = bits.min(2);
        bits -= digit;
        source |= (place >> bits) << done;
        place &= (1 << bits) - 1;
        done += digit;
    }
    source
}

/// Transforms `y`, in place, whose elements stand where [`source`] says.
///
/// The length of `y` is a power of two; `turns` are the powers of its root of unity, of
/// which three quarters are used.
pub(super) fn transform<T: Number>(y: &mut [Complex<T>], turns: &[Complex<T>]) {
    let mut done = 1;
    if y.len().trailing_zeros() % 2 == 1 {
        for pair in y.as_chunks_mut().0 {
            *pair = butterfly2(*pair, turns);
        }
        done = 2;
    }
    while done < y.len() {
        // The length is a power of two: this divides.
        let step = y.len() >> (done.trailing_zeros() + 2);
        for block in chunks_mut(y, 4 * done) {
            combine(block, turns, step);
        }
        done *= 4;
    }
}

/// Makes one transform of four of a quarter of its length each.
fn combine<T: Number>(block: &mut [Complex<T>], turns: &[Complex<T>], step: usize) {
    let (low, high) = block.split_at_mut(block.len() / 2);
    let ((a, b), (c, d)) = (low.split_at_mut(low.len() / 2), high.split_at_mut(high.len() / 2));
    for (i, (((a, b), c), d)) in a.iter_mut().zip(b).zip(c).zip(d).enumerate() {
        let turn = |power: usize| turns.get(power * i * step).copied().unwrap_or_default();
        [*a, *b, *c, *d] = butterfly4([*a, *b, *c, *d], [1, 2, 3].map(turn));
    }
}

fn butterfly2<T: Number>(x: [Complex<T>; 2], turns: &[Complex<T>]) -> [Complex<T>; 2] {
    let [a, b] = x.map(|x| share(x, 1));
    // In fixed point, the first power is not quite 1.
    let b = times(b, turns.first().copied().unwrap_or_default());
    [plus(a, b), minus(a, b)]
}

fn butterfly4<T: Number>(x: [Complex<T>; 4], turns: [Complex<T>; 3]) -> [Complex<T>; 4] {
    let [a, b, c, d] = x.map(|x| share(x, 2));
    let [b, c, d] = [times(b, turns[0]), times(c, turns[1]), times(d, turns[2])];
    let (even, odd) = ((plus(a, c), minus(a, c)), (plus(b, d), minus(b, d)));
    let turned = [odd.1[1], odd.1[0].negative()];
    [plus(even.0, odd.0), plus(even.1, turned), minus(even.0, odd.0), minus(even.1, turned)]
}
