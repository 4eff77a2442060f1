use aot_rt::{Read, Workspace, Write};

fn main() {
    let mut workspace = Workspace::<64>::new();
    let (_x, _y) = workspace.borrow::<(Read<i8, 0, 20>, Write<i32, 16, 4>)>();
}
