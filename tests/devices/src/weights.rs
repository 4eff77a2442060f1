//! Weights of the models: small integers, so that sums are exact in any order.

/// Of the layer `first`.
pub(crate) const FIRST: [[f32; 4]; 4] =
    [[1.0, 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, -1.0], [2.0, 0.0, 1.0, 0.0], [0.0, 0.0, 3.0, 1.0]];
/// Of the layer `within`.
pub(crate) const WITHIN: [[f32; 4]; 4] =
    [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0]];
/// Of the layer `last`.
pub(crate) const LAST: [[f32; 4]; 2] = [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 2.0, 0.0]];
/// Of the convolution `image`.
pub(crate) const CELLS: [f32; 9] = [1.0, -2.0, 0.0, 3.0, 1.0, 2.0, 0.0, -1.0, 4.0];
/// Of the layer `scores`.
pub(crate) const SCORES: [[f32; 16]; 2] = [
    [1.0, 0.0, 2.0, -1.0, 0.0, 3.0, 1.0, 0.0, -2.0, 1.0, 0.0, 1.0, 4.0, 0.0, 0.0, -3.0],
    [0.0, 1.0, 0.0, 1.0, 2.0, 0.0, -1.0, 0.0, 1.0, 0.0, 5.0, 0.0, 0.0, -2.0, 1.0, 1.0],
];
