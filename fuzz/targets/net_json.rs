//! Any bytes as `net.json`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    aot_fuzz::survive("json", bytes);
});
