//! `signal_rfft`: the spectrum of real samples.
//!
//! Pairs of samples are transformed as complex numbers, and the spectra of the samples with
//! even and with odd numbers separated afterwards, all where the result is to be.

use super::fft::{Complex, Number, minus, plus, share, source, times, transform};
use crate::Params;
use crate::kernels::kernel_params;
use crate::kernels::loops::{chunks, chunks_mut};

kernel_params! {
    /// Parameters of the Fourier transforms of real samples.
    pub struct SignalRfft {
        /// Samples of a frame.
        pub frame: usize,
        /// Length of the transform, a power of two from 4 on: frames are filled up with
        /// zeros.
        pub length: usize,
    }
}

/// Fourier transforms of int16 samples, divided by their length.
///
/// `x`: `[frames, frame]`, `y`: `[frames, length / 2 + 1, 2]`, `turns`: cosines and sines,
/// the first three quarters of the powers of the root of unity of `length / 2`, and what
/// separates bins 1 to `length / 4`.
pub fn signal_rfft_i16(params: &impl Params<SignalRfft>, x: &[i16], y: &mut [i16], turns: &[i16]) {
    rfft(params.get(), x, y, turns);
}

/// The same as [`signal_rfft_i16`] with int32 samples.
pub fn signal_rfft_i32(params: &impl Params<SignalRfft>, x: &[i32], y: &mut [i32], turns: &[i32]) {
    rfft(params.get(), x, y, turns);
}

/// The same as [`signal_rfft_i16`] with f32 samples, and not divided.
pub fn signal_rfft_f32(params: &impl Params<SignalRfft>, x: &[f32], y: &mut [f32], turns: &[f32]) {
    rfft(params.get(), x, y, turns);
}

fn rfft<T: Number>(p: SignalRfft, x: &[T], y: &mut [T], turns: &[T]) {
    let half = p.length / 2;
    let (turns, _) = turns.as_chunks();
    let powers = half - half / 4;
    debug_assert_eq!(turns.len(), powers + half / 2);
    let Some((turns, separating)) = turns.split_at_checked(powers) else { return };
    for (x, y) in chunks(x, p.frame).zip(chunks_mut(y, p.length + 2)) {
        let (y, _) = y.as_chunks_mut();
        let Some((last, y)) = y.split_last_mut() else { return };
        for (place, y) in y.iter_mut().enumerate() {
            let sample = 2 * source(place, half);
            *y = [sample, sample + 1].map(|i| x.get(i).copied().unwrap_or_default());
        }
        transform(y, turns);
        separate(y, last, separating);
    }
}

/// Makes the spectrum of real samples of that of pairs of them; `last` is its last bin.
fn separate<T: Number>(y: &mut [Complex<T>], last: &mut Complex<T>, turns: &[Complex<T>]) {
    let Some(first) = y.first_mut() else { return };
    let [re, im] = share(*first, 1);
    *first = [re.plus(im), T::default()];
    *last = [re.minus(im), T::default()];
    for (i, &turn) in (1..).zip(turns) {
        let mirror = y.len() - i;
        let (Some(&a), Some(&[re, im])) = (y.get(i), y.get(mirror)) else { return };
        let (a, b) = (share(a, 1), share([re, im.negative()], 1));
        let (even, odd) = (plus(a, b), times(minus(a, b), turn));
        let bins = [
            (i, [even[0].half_sum(odd[0]), even[1].half_sum(odd[1])]),
            // In the middle, this is the one that counts.
            (mirror, [even[0].half_difference(odd[0]), odd[1].half_difference(even[1])]),
        ];
        for (i, bin) in bins {
            if let Some(y) = y.get_mut(i) {
                *y = bin;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::f64::consts::TAU;

    use super::*;

    /// The greatest length of a test.
    const MOST: usize = 64;

    fn turn(at: f64) -> [f64; 2] {
        [libm::cos(TAU * at), -libm::sin(TAU * at)]
    }

    /// The powers that the compiler makes constants of.
    fn turns(length: usize) -> [f64; 3 * MOST / 2] {
        let half = length / 2;
        let powers = half - half / 4;
        core::array::from_fn(|i| match i / 2 {
            power if power < powers => turn(power as f64 / half as f64)[i % 2],
            bin => turn((bin - powers + 1) as f64 / length as f64 + 0.25)[i % 2],
        })
    }

    fn sample(i: usize) -> f64 {
        ((i * i * 7 + i * 3) % 23) as f64 - 11.0
    }

    /// By the definition.
    fn expected(frame: usize, length: usize, bin: usize) -> [f64; 2] {
        (0..frame).fold([0.0, 0.0], |[re, im], i| {
            let [cos, sin] = turn((i * bin) as f64 / length as f64);
            [re + sample(i) * cos, im + sample(i) * sin]
        })
    }

    #[test]
    fn transforms_as_defined() {
        /// Bits behind the point.
        const BITS: f64 = 67_108_864.0;
        for (frame, length) in [(4, 4), (8, 8), (5, 16), (30, 32), (64, 64)] {
            let (params, turns) = (SignalRfft { frame, length }, turns(length));
            let (samples, turns) = (
                core::array::from_fn::<_, MOST, _>(sample),
                &turns[..2 * (length / 2 - length / 8 + length / 4)],
            );
            let mut y = [0.0; MOST + 2];
            let mut table = [0.0; 3 * MOST / 2];
            table.iter_mut().zip(turns).for_each(|(a, b)| *a = *b as f32);
            signal_rfft_f32(
                &params,
                &samples.map(|x| x as f32)[..frame],
                &mut y[..length + 2],
                &table[..turns.len()],
            );
            let mut fixed = [0; MOST + 2];
            let mut table = [0; 3 * MOST / 2];
            table.iter_mut().zip(turns).for_each(|(a, b)| *a = libm::round(b * f64::from(i32::MAX)) as i32);
            signal_rfft_i32(
                &params,
                &samples.map(|x| (x * BITS) as i32)[..frame],
                &mut fixed[..length + 2],
                &table[..turns.len()],
            );
            for bin in 0..=length / 2 {
                for (part, expect) in expected(frame, length, bin).into_iter().enumerate() {
                    let (y, fixed) = (y[2 * bin + part], fixed[2 * bin + part]);
                    assert!((f64::from(y) - expect).abs() < 1e-3, "{length}, bin {bin}: {y}, {expect}");
                    let fixed = f64::from(fixed) * length as f64 / BITS;
                    assert!((fixed - expect).abs() < 1e-3, "{length}, bin {bin}: {fixed}, {expect}");
                }
            }
        }
    }
}
