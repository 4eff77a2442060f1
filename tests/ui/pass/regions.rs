use aot_rt::{Constants, Read, Workspace, Write};

static WEIGHTS: Constants<8> = Constants::new([0, 0, 128, 63, 0, 0, 0, 64]);

fn main() {
    let mut workspace = Workspace::<64>::new();
    let (x, _same, y) = workspace.borrow::<(Read<f32, 0, 4>, Read<f32, 0, 4>, Write<f32, 16, 12>)>();
    y[11] = x[3] + WEIGHTS.get::<f32, 4, 1>()[0];
    assert_eq!(workspace.read::<f32, 60, 1>(), &[2.0]);
}
