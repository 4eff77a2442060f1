//! Rows that are pushed: the device comes in when all are there.

use aot_rt::StepInfo;

use crate::mock::{Fault, Log, Mock, product};
use crate::rows::{Rows, RowsDevices, RowsNpu};
use crate::weights::{CELLS, SCORES};

impl RowsNpu for Mock<'_> {
    fn fully_connected_f32(
        &mut self,
        step: &'static StepInfo,
        _: &'static aot_rt::kernels::FullyConnectedF32,
        x: &[f32],
        y: &mut [f32],
        weights: &[f32],
        _: &[f32],
    ) -> Result<(), Fault> {
        self.kernel(step)?;
        y.copy_from_slice(&product(x, weights));
        Ok(())
    }
}

const ROWS: [[f32; 4]; 4] =
    [[1.0, 2.0, -1.0, 0.0], [3.0, 0.0, 1.0, 5.0], [-2.0, 4.0, 0.0, 1.0], [2.0, 2.0, 7.0, -3.0]];

/// What the model computes, said plainly: cells outside the image are 0.
fn expected() -> Vec<f32> {
    let at = |row: usize, column: usize| {
        let row: Option<&[f32; 4]> = row.checked_sub(1).and_then(|row| ROWS.get(row));
        row.and_then(|row| row.get(column.checked_sub(1)?)).copied().unwrap_or(0.0)
    };
    let cell = |i: usize| -> f32 {
        CELLS.iter().enumerate().map(|(j, weight)| weight * at(i / 4 + j / 3, i % 4 + j % 3)).sum()
    };
    product(&(0..16).map(cell).collect::<Vec<_>>(), &SCORES.concat())
}

/// Feeds all rows; only the last one may give something.
fn feed(net: &mut Rows, devices: &mut RowsDevices<Mock<'_>>) -> Result<Vec<f32>, ()> {
    let [first @ .., last] = &ROWS;
    for row in first {
        assert_eq!(net.feed_row(devices, row), Ok(None));
    }
    net.feed_row(devices, last).map(|y| y.unwrap().to_vec()).map_err(drop)
}

#[test]
fn the_last_row_calls_the_device() {
    let log = Log::default();
    let mut devices = RowsDevices::new(Mock { name: "npu", log: &log });
    let mut net = Rows::new();
    assert_eq!(feed(&mut net, &mut devices), Ok(expected()));
    let usual = log.text();
    assert_eq!(
        usual,
        ["npu.activate", "npu.open scores", "npu.kernel scores", "npu.close scores", "npu.deactivate"]
    );
    for fault in 0..usual.len() {
        log.restart(fault..fault + 1);
        assert_eq!(feed(&mut net, &mut devices), Err(()));
        // The next row is the first again.
        log.restart(0..0);
        assert_eq!(feed(&mut net, &mut devices), Ok(expected()));
        assert_eq!(log.text(), usual);
        assert_eq!(net.run(&mut devices, &ROWS.concat().try_into().unwrap()).unwrap()[..], expected());
    }
}
