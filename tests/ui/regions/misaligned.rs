use aot_rt::{Read, Workspace};

fn main() {
    let mut workspace = Workspace::<64>::new();
    let _x = workspace.borrow::<(Read<f32, 2, 4>,)>().0;
}
