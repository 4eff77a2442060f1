//! What pools cannot be.

// A key that there is not.
aot_macros::aot_model! {
    struct A = "models/dense.json" { pools = { dtcm = { limits = 1_024 } } }
}

// A wrong value.
aot_macros::aot_model! {
    struct B = "models/dense.json" { pools = { dtcm = { alignment = 24 } } }
}

// A name that is none.
aot_macros::aot_model! {
    struct C = "models/dense.json" { pools = { Dtcm = { limit = 1_024 } } }
}

// No table.
aot_macros::aot_model! {
    struct D = "models/dense.json" { pools = { dtcm = 1_024 } }
}

// Keys that contradict each other.
aot_macros::aot_model! {
    struct E = "models/dense.json" { pools = { dtcm = { copy = true } } }
}

// Too small.
aot_macros::aot_model! {
    struct F = "models/dense.json" { pools = { dtcm = { limit = 2 } } }
}

// Too small for the constants.
aot_macros::aot_model! {
    struct G = "models/dense.json" { pools = { tables = { kind = "constants", limit = 2 } } }
}

// A unit that there is not.
aot_macros::aot_model! {
    struct H = "models/dense.json" {
        devices.npu_1.operators = ["fully_connected"],
        pools = { sram = { reach = ["cpu", "npu1"] } },
    }
}

// Twice.
aot_macros::aot_model! {
    struct I = "models/dense.json" { pools = { dtcm = {}, dtcm = {} } }
}

// Memory of a device alone.
aot_macros::aot_model! {
    struct J = "models/dense.json" {
        devices.npu.operators = ["fully_connected"],
        pools = { npu_ram = { reach = ["npu"] } },
    }
}

fn main() {}
