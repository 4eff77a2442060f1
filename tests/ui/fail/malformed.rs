use aot_macros::aot_model;

aot_model!();
aot_model!(net.json);
aot_model!("models/dense.json" optimize = "size");
aot_model!("models/dense.json", "size");
aot_model!("models/dense.json", optimize);
aot_model!("models/dense.json", optimize = size);
aot_model!("models/dense.json", ram_limit = 10usize);
aot_model!(pub enum Net = "models/dense.json");
aot_model!(struct Net("models/dense.json"));
aot_model! {
    struct A = "models/dense.json";
    struct B = "models/dense.json";
}

fn main() {}
