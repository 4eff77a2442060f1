use aot_rt::Workspace;

fn main() {
    let _x = Workspace::<64>::new().read::<i8, 60, 5>();
}
