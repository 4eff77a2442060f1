// Attributes, visibility, name, and every key.
mod nets {
    aot_macros::aot_model! {
        /// Two numbers from three.
        #[repr(align(64))]
        pub(crate) struct Net = "models/dense.json" {
            optimize = "size",
            rounding = "single",
            inputs = "caller",
            outputs = "workspace",
            ram_limit = 1_024,
            flash_limit = 0x400,
            config = "models/aot.toml",
        }
    }
}

fn main() {
    assert_eq!(align_of::<nets::Net>(), 64);
    assert_eq!(nets::Net::new().run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
}
