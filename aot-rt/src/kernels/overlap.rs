//! How far the output of a window kernel may reach into its input.
//!
//! A cell of `y` is written when all cells of `x` under its window have been read.
//! What must survive is what *later* cells read. Going forward, cell `q` of `y` begins
//! where all cells before it have been written, and the first element that it reads
//! must lie behind that: `y + q * y_channels <= x + first(q) * x_channels`. Going
//! backward, the last element that cell `q` reads must lie before cell `q + 1`.

use super::Kernel;
use super::window::{Axis, Window2d, min};

/// Where `x` and `y` lie in one region, and in which order cells are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// First element of `x`.
    pub(super) x: usize,
    /// First element of `y`.
    pub(super) y: usize,
    /// From the last cell to the first.
    pub(super) reverse: bool,
}

/// How many elements `x` and `y` must start apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distances {
    /// With `y + forward <= x`, cells may be computed from the first to the last.
    pub forward: isize,
    /// With `x + backward <= y`, cells may be computed from the last to the first.
    pub backward: isize,
}

impl Window2d {
    /// The smallest distances at which `y`, of `y_channels`, may lie over `x`.
    ///
    /// They are negative where `y` may even start inside of what has been read.
    #[must_use]
    pub const fn distances(&self, [x_channels, y_channels]: [usize; 2]) -> Distances {
        let [x_channels, y_channels] = [x_channels as isize, y_channels as isize];
        // With one cell, nothing is read after anything is written.
        let least = -((self.batch * self.input_cells()) as isize * x_channels
            + (self.batch * self.output_cells()) as isize * y_channels);
        let mut distances = Distances { forward: least, backward: least };
        let [rows, columns] = self.axes();
        let mut image = 0;
        while image < self.batch {
            let mut row = 0;
            while row < self.output[0] {
                let mut column = 0;
                while column < self.output[1] {
                    if let Some([first, end]) = self.span([image, row, column]) {
                        let cell = ((image * self.output[0] + row) * self.output[1] + column) as isize;
                        if cell > 0 {
                            let forward = cell * y_channels - first as isize * x_channels;
                            distances.forward = max(distances.forward, forward);
                        }
                        if cell + 1 < (self.batch * self.output_cells()) as isize {
                            let backward = end as isize * x_channels - (cell + 1) * y_channels;
                            distances.backward = max(distances.backward, backward);
                        }
                    }
                    column = columns.next_corner(column, self.output[1]);
                }
                row = rows.next_corner(row, self.output[0]);
            }
            // The distance grows or falls from image to image.
            image = if image > 1 && image + 2 < self.batch { self.batch - 2 } else { image + 1 };
        }
        distances
    }

    /// The first cell of `x` that a cell of `y` reads, and the one behind the last, if
    /// it reads any.
    const fn span(&self, [image, row, column]: [usize; 3]) -> Option<[usize; 2]> {
        let [row_axis, column_axis] = self.axes();
        let (rows, columns) = (row_axis.taps(row), column_axis.taps(column));
        if rows.count == 0 || columns.count == 0 {
            return None;
        }
        let first = (image * self.input[0] + rows.start) * self.input[1] + columns.start;
        let last_row = (rows.count - 1) * row_axis.dilation * self.input[1];
        Some([first, first + last_row + (columns.count - 1) * column_axis.dilation + 1])
    }

    /// The order in which `y` can be computed with both tensors in one region, `x` from
    /// element `x` on and `y` from element `y`; `None` when there is none.
    #[must_use]
    pub const fn overlap(&self, channels: [usize; 2], [x, y]: [usize; 2]) -> Option<Overlap> {
        let Distances { forward, backward } = self.distances(channels);
        let above = x as isize - y as isize;
        if above >= forward {
            Some(Overlap { x, y, reverse: false })
        } else if -above >= backward {
            Some(Overlap { x, y, reverse: true })
        } else {
            None
        }
    }
}

impl Overlap {
    /// First elements of `x` and `y` in the region.
    #[must_use]
    pub const fn starts(self) -> [usize; 2] {
        [self.x, self.y]
    }

    /// Where `x` and `y` start in a region, for constants of generated code.
    ///
    /// # Panics
    ///
    /// When no order of cells leaves what later cells read: then a constant does not
    /// compile.
    #[must_use]
    pub const fn new(window: &Window2d, channels: [usize; 2], x: usize, y: usize) -> Self {
        match window.overlap(channels, [x, y]) {
            Some(overlap) => overlap,
            None => panic!("y would be written over what is still to be read of x"),
        }
    }

    /// The same for a kernel whose type is known at run time only.
    ///
    /// # Panics
    ///
    /// As [`Overlap::new`] does, and when the kernel has no window.
    #[must_use]
    pub const fn of(kernel: &Kernel, x: usize, y: usize) -> Self {
        match kernel.window() {
            Some((window, channels)) => Self::new(&window, channels, x, y),
            None => panic!("the kernel has no window"),
        }
    }
}

impl Kernel {
    /// The window and the channels of `x` and `y`, of a kernel that has one.
    #[must_use]
    pub const fn window(&self) -> Option<(Window2d, [usize; 2])> {
        Some(match self {
            Self::AveragePool2dF32(p) => (p.window, [p.channels; 2]),
            Self::AveragePool2dI16(p) | Self::AveragePool2dI8(p) => (p.window, [p.channels; 2]),
            Self::Conv2dDynamicI8(p) => (p.window, [p.in_channels, p.out_channels]),
            Self::Conv2dF16(p) | Self::Conv2dF32(p) => (p.window, [p.in_channels, p.out_channels]),
            Self::Conv2dI16(p) => (p.window, [p.in_channels, p.out_channels]),
            Self::Conv2dI8(p) => (p.window, [p.in_channels, p.out_channels]),
            Self::Conv2dAddF16(p) | Self::Conv2dAddF32(p) => {
                (p.conv2d.window, [p.conv2d.in_channels, p.conv2d.out_channels])
            }
            Self::Conv2dAddI8(p) => (p.conv2d.window, [p.conv2d.in_channels, p.conv2d.out_channels]),
            Self::DepthwiseConv2dDynamicI8(p) => {
                (p.window, [p.in_channels, p.in_channels * p.depth_multiplier])
            }
            Self::DepthwiseConv2dF16(p) | Self::DepthwiseConv2dF32(p) => {
                (p.window, [p.in_channels, p.in_channels * p.depth_multiplier])
            }
            Self::DepthwiseConv2dI16(p) => (p.window, [p.in_channels, p.in_channels * p.depth_multiplier]),
            Self::DepthwiseConv2dI8(p) => (p.window, [p.in_channels, p.in_channels * p.depth_multiplier]),
            Self::DepthwiseConv2dAsymmetricI8(p) => {
                (p.window, [p.in_channels, p.in_channels * p.depth_multiplier])
            }
            Self::L2Pool2dF32(p) => (p.window, [p.channels; 2]),
            Self::MaxPool2dF32(p) => (p.window, [p.channels; 2]),
            Self::MaxPool2dI16(p) | Self::MaxPool2dI8(p) => (p.window, [p.channels; 2]),
            _ => return None,
        })
    }
}

impl Axis {
    /// The next position where what the window reads may change other than in
    /// proportion: all of them where it leaves the image, and two at both ends of the
    /// rest, since the first and the last cell of all do not count.
    const fn next_corner(self, position: usize, positions: usize) -> usize {
        let reach = (self.kernel.saturating_sub(1)) * self.dilation;
        // Positions of windows that lie wholly in the image: all from `first` to before `end`.
        let inside = (self.padding + self.input).saturating_sub(reach);
        let (first, end) = if self.stride == 0 {
            (0, 0)
        } else {
            (self.padding.div_ceil(self.stride), min(inside.div_ceil(self.stride), positions))
        };
        if position > first && position + 2 < end { end - 2 } else { position + 1 }
    }
}

const fn max(a: isize, b: isize) -> isize {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_point::Multiplier;
    use crate::kernels::tests::{Random, for_each_tap};
    use crate::kernels::{
        Apart, AveragePool2dI8, Conv2dI8, DepthwiseConv2dI8, Images, MaxPool2dI8, OutputI8, Overlapping,
        RangeI8, Row, average_pool2d_i8, conv2d_i8, depthwise_conv2d_i8, max_pool2d_i8,
    };

    /// The distances, from the words of their definition.
    fn distances_by_definition(
        window: &Window2d,
        [x_channels, y_channels]: [usize; 2],
    ) -> [Option<isize>; 2] {
        let [height, width] = window.output;
        let cells = window.batch * height * width;
        let (mut forward, mut backward) = (None, None);
        for q in 0..cells {
            for_each_tap(window, [q / (height * width), q / width % height, q % width], |_, pixel| {
                let (first, end) = (pixel * x_channels, (pixel + 1) * x_channels);
                if q > 0 {
                    forward = forward.max(Some((q * y_channels) as isize - first as isize));
                }
                if q + 1 < cells {
                    backward = backward.max(Some(end as isize - ((q + 1) * y_channels) as isize));
                }
            });
        }
        [forward, backward]
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        let mut random = Random(11);
        for _ in 0..3000 {
            let mut window = random.window();
            window.batch = 1 + random.below(5);
            window.padding = [random.below(6), random.below(6)];
            window.input[1] += random.below(20);
            window.output[1] += random.below(20);
            let channels = [1 + random.below(4), 1 + random.below(4)];
            let Distances { forward, backward } = window.distances(channels);
            for (found, exact) in
                [forward, backward].into_iter().zip(distances_by_definition(&window, channels))
            {
                match exact {
                    Some(exact) => assert_eq!(found, exact, "{window:?} {channels:?}"),
                    None => assert!(found < 0, "{window:?} {channels:?}"),
                }
            }
        }
    }

    /// The kernels whose operands may overlap.
    #[derive(Clone, Copy, Debug)]
    enum Subject {
        Conv2d,
        Depthwise,
        AveragePool,
        MaxPool,
    }

    struct Case<'a> {
        subject: Subject,
        window: Window2d,
        channels: [usize; 2],
        weights: &'a [i8],
    }

    impl Case<'_> {
        fn run(&self, images: impl Images<i8>) {
            let (window, [in_channels, out_channels]) = (self.window, self.channels);
            let one = Multiplier::from_real(0.25).unwrap();
            let (multipliers, shifts) = ([one.multiplier], [one.shift as i8]);
            let output = OutputI8 { zero_point: 0, min: -128, max: 127, single_rounding: false };
            let range = RangeI8 { min: -128, max: 127 };
            match self.subject {
                Subject::Conv2d => {
                    let params = Conv2dI8 {
                        window,
                        in_channels,
                        out_channels,
                        groups: 1,
                        input_zero_point: 0,
                        weights_zero_point: 0,
                        output,
                    };
                    let weights = &self.weights[..window.kernel_cells() * in_channels * out_channels];
                    conv2d_i8(&params, images, weights, &[], &multipliers, &shifts);
                }
                Subject::Depthwise => {
                    let depth_multiplier = out_channels / in_channels;
                    let params = DepthwiseConv2dI8 {
                        window,
                        in_channels,
                        depth_multiplier,
                        input_zero_point: 0,
                        output,
                    };
                    let weights = &self.weights[..window.kernel_cells() * out_channels];
                    depthwise_conv2d_i8(&params, images, weights, &[], &multipliers, &shifts);
                }
                Subject::AveragePool => {
                    let params = AveragePool2dI8 {
                        window,
                        channels: in_channels,
                        count_padding: true,
                        padding_after: [1, 1],
                        zero_point: 3,
                        rounding_offset: 0,
                        range,
                    };
                    average_pool2d_i8(&params, images);
                }
                Subject::MaxPool => {
                    max_pool2d_i8(&MaxPool2dI8 { window, channels: in_channels, range }, images);
                }
            }
        }

        /// `y` of random images `x`, each in its place.
        fn apart(&self, x: &[i8]) -> [i8; 4096] {
            let mut y = [0; 4096];
            self.run(Apart { x, y: &mut y[..self.y_len()] });
            y
        }

        /// `y` of the same, with `x` and `y` in one region.
        fn overlapping(&self, x: &[i8], overlap: Overlap) -> [i8; 4096] {
            let mut memory = [0x55; 12_288];
            memory[overlap.x..][..x.len()].copy_from_slice(x);
            let end = (overlap.x + x.len()).max(overlap.y + self.y_len());
            self.run(Overlapping::<_, 8>::new(&mut memory[..end], overlap));
            let mut y = [0; 4096];
            y[..self.y_len()].copy_from_slice(&memory[overlap.y..][..self.y_len()]);
            y
        }

        fn x_len(&self) -> usize {
            self.window.batch * self.window.input_cells() * self.channels[0]
        }

        fn y_len(&self) -> usize {
            self.window.batch * self.window.output_cells() * self.channels[1]
        }
    }

    fn random_case<'a>(random: &mut Random, weights: &'a [i8], round: usize) -> Case<'a> {
        let subject =
            [Subject::Conv2d, Subject::Depthwise, Subject::AveragePool, Subject::MaxPool][round % 4];
        let in_channels = 1 + random.below(4);
        let out_channels = match subject {
            Subject::Conv2d => 1 + random.below(8),
            Subject::Depthwise => in_channels * (1 + random.below(2)),
            Subject::AveragePool | Subject::MaxPool => in_channels,
        };
        Case { subject, window: random.window(), channels: [in_channels, out_channels], weights }
    }

    /// Where `x` and `y` are to be for `y` to start `below` elements below `x`.
    fn places(below: isize) -> [usize; 2] {
        [below.max(0).unsigned_abs(), (-below).max(0).unsigned_abs()]
    }

    #[test]
    fn kernels_overlap_up_to_the_distance_and_no_further() {
        let mut random = Random(7);
        let weights = random.array::<2048>().map(|weight| if weight % 7 == 0 { 1 } else { weight % 7 });
        let mut tight = [0; 2];
        for round in 0..400 {
            let case = random_case(&mut random, &weights, round);
            let distances = case.window.distances(case.channels);
            let exact = distances_by_definition(&case.window, case.channels);
            for reverse in [false, true] {
                let distance = if reverse { distances.backward } else { distances.forward };
                let below = if reverse { -distance } else { distance };
                let [x_at, y_at] = places(below);
                let overlap = Overlap { x: x_at, y: y_at, reverse };
                let x = random.array::<4096>();
                let x = &x[..case.x_len()];
                assert_eq!(
                    case.overlapping(x, overlap),
                    case.apart(x),
                    "{:?} {:?}",
                    case.subject,
                    case.window
                );
                if exact[usize::from(reverse)].is_none() {
                    continue;
                }
                // With one element less, some images come out wrong.
                let [x_at, y_at] = places(if reverse { below + 1 } else { below - 1 });
                let overlap = Overlap { x: x_at, y: y_at, reverse };
                let wrong = (0..40).any(|_| {
                    let x = random.array::<4096>();
                    let x = &x[..case.x_len()];
                    case.overlapping(x, overlap) != case.apart(x)
                });
                // The maximum of a window hides one that was written into it, where the
                // other window is a part of it.
                let hidden = matches!(case.subject, Subject::MaxPool);
                assert!(wrong || hidden, "{:?} {:?} {:?}", case.subject, case.window, case.channels);
                tight[usize::from(reverse)] += 1;
            }
        }
        assert!(tight.iter().all(|tight| *tight > 200), "{tight:?}");
    }

    #[test]
    fn an_order_is_found_where_there_is_one() {
        let mut random = Random(9);
        for _ in 0..300 {
            let (window, channels) = (random.window(), [1 + random.below(3), 1 + random.below(3)]);
            let Distances { forward, backward } = window.distances(channels);
            for below in -40..40 {
                let [x, y] = places(below);
                let expect = if below >= forward {
                    Some(Overlap { x, y, reverse: false })
                } else if -below >= backward {
                    Some(Overlap { x, y, reverse: true })
                } else {
                    None
                };
                assert_eq!(window.overlap(channels, [x, y]), expect);
            }
        }
    }

    #[test]
    fn rows_in_rings_are_those_of_the_whole() {
        let mut random = Random(13);
        let weights = random.array::<2048>();
        for round in 0..400 {
            let mut case = random_case(&mut random, &weights, round);
            case.window.batch = 1;
            let (window, [x_channels, y_channels]) = (case.window, case.channels);
            let x = random.array::<4096>();
            let x = &x[..case.x_len()];
            let expect = case.apart(x);
            let [x_row, y_row] = [window.input[1] * x_channels, window.output[1] * y_channels];
            // Rows of the ring: as many as the window is high, or a few more.
            let reach = (window.kernel[0] - 1) * window.dilation[0] + 1;
            let rings = [reach + random.below(3), 1 + random.below(3)];
            let (mut x_ring, mut y_ring) = ([0x55; 4096], [0x55; 4096]);
            let mut arrived = 0;
            for row in 0..window.output[0] {
                let end = (row * window.stride[0] + reach).saturating_sub(window.padding[0]);
                while arrived < end.min(window.input[0]) {
                    let place = arrived % rings[0] * x_row;
                    x_ring[place..place + x_row].copy_from_slice(&x[arrived * x_row..][..x_row]);
                    arrived += 1;
                }
                case.run(Row {
                    x: &x_ring[..rings[0] * x_row],
                    y: &mut y_ring[..rings[1] * y_row],
                    rings,
                    row,
                });
                let found = &y_ring[row % rings[1] * y_row..][..y_row];
                assert_eq!(found, &expect[row * y_row..][..y_row], "{:?} {window:?}", case.subject);
            }
        }
    }
}
