//! Nothing generated warns, used or not.
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, unused, unsafe_code)]
#![deny(nonstandard_style, rust_2018_idioms, single_use_lifetimes, trivial_casts, unused_qualifications)]

pub mod nets {
    //! Models that nothing uses.

    aot_macros::aot_model!("models/dense.json");
    aot_macros::aot_model!("models/two_layers.json", inputs = "caller", outputs = "caller");
    aot_macros::aot_model! {
        /// A public one.
        pub struct Net = "models/dense.json";
    }
}

fn main() {}
