//! Pools with link sections, in a crate that forbids `unsafe`.
#![deny(warnings)]
#![forbid(unsafe_code)]

aot_macros::aot_model! {
    struct Net = "models/two_layers.json" {
        pools = {
            dtcm = { limit = 32, section = ".bss_dtcm", alignment = 32 },
            sram = { cost = 1 },
            hot = { kind = "constants", limit = 64, copy = true, section = ".bss_hot" },
            cold = { kind = "constants", section = ".flash2", cost = 1 },
        },
    }
}

aot_macros::aot_model! {
    struct Own = "models/two_layers.json" { pools = { a = { limit = 64 }, b = { cost = 1 } } }
}

aot_macros::aot_model! {
    struct Plain = "models/two_layers.json" {}
}

fn main() {
    let mut net = Net::take().expect("it is taken once");
    let (mut own, mut plain) = (Own::new(), Plain::new());
    let input = [1.0; Plain::X_LEN];
    assert_eq!(net.run(&input), plain.run(&input));
    assert_eq!(own.run(&input), plain.run(&input));
    assert!(Net::take().is_none());
    const { assert!(Net::DTCM_BYTES <= 32 && Net::HOT_BYTES <= 64) };
    assert_eq!(Own::A_BYTES + Own::B_BYTES, Own::ARENA_BYTES);

    // Whoever has memory of his own brings it.
    let memory: (&'static mut NetDtcm, &'static mut NetSram, &'static mut NetHot) = (
        Box::leak(Box::default()),
        Box::leak(Box::default()),
        Box::leak(Box::default()),
    );
    let mut placed = Net::new(memory.0, memory.1, memory.2);
    assert_eq!(placed.run(&input), plain.run(&input));
}
