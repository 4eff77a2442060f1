use aot_rt::{Workspace, Write};

fn main() {
    let mut workspace = Workspace::<64>::new();
    workspace.borrow::<(Write<i32, 52, 4>,)>().0[0] = 1;
}
