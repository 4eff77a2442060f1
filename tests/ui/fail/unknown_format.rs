aot_macros::aot_model!("models/notes.txt");

fn main() {}
