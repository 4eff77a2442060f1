"""Prints flash and time of models by calling convention, as in docs/calls.md.

    python3 tools/bench/calls.py --flash thumbv7em-none-eabihf --toolchain embedded
    python3 tools/bench/calls.py --time

`--flash` links a program for each model and way of calling, without the standard library
and with one call of the model, and reads what of it is stored in flash. `--time` times runs
on this machine, the ways in turn, and takes the fastest of each; other load spoils the
figures less than it would a mean. Models of `../shared/models` (or $AOT_SHARED/models) are
measured where they are there.
"""

import argparse
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("AOT_SHARED", ROOT.parent / "shared")) / "models"

MODELS = [
    "tflm_hello_world_int8",
    "digits_int8",
    "mlperf_kws_int8",
    "mlperf_ad_int8",
    "mlperf_resnet_int8",
    "mlperf_vww_int8",
    "tflm_person_detect",
    "tflm_micro_speech",
    "tflm_mnist_lstm_int8",
]

# Name, keys, the argument of `run_in_place`.
WAYS = [
    ("direct, speed", 'optimize = "speed"', ""),
    ("direct, size", 'optimize = "size"', ""),
    ("packed", 'calls = "packed"', ""),
    ("registry", 'calls = "registry"', "&kernels"),
]

# The tables are hidden from the compiler, which would find the kernels at compile time.
BIND = "let Ok(kernels) = Net::bind(core::hint::black_box(&[Net::KERNELS])) else { return };"

MANIFEST = """[package]
name = "calls"
version = "0.0.0"
edition = "2024"

[dependencies]
aot-macros = {{ path = "{root}/aot-macros" }}
aot-rt = {{ path = "{root}/aot-rt" }}

[profile.release]
panic = "abort"
lto = "fat"
codegen-units = 1
opt-level = {level}

[workspace]
"""

FLASH = """#![no_std]
#![no_main]

aot_macros::aot_model! {{ struct Net = "{path}" {{ {keys} }} }}

#[unsafe(no_mangle)]
extern "C" fn _start() {{
    let Some(net) = Net::take() else {{ return }};
    {bind}
    let _ = core::hint::black_box(core::hint::black_box(net).run_in_place({argument}));
}}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{
    loop {{}}
}}
"""

TIME = """use std::hint::black_box;
use std::time::{{Duration, Instant}};

{modules}

/// Shortest time of a run: of `rounds` rounds of about 20 ms, each way in turn.
fn time(model: &str, ways: &mut [&mut dyn FnMut()]) {{
    let mut best = vec![Duration::MAX; ways.len()];
    for _ in 0..40 {{
        for (run, best) in ways.iter_mut().zip(&mut best) {{
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(20) {{
                let start = Instant::now();
                run();
                *best = start.elapsed().min(*best);
            }}
        }}
    }}
    let cells: Vec<_> = best.iter().map(|best| format!("{{:.1}}", best.as_nanos() as f64 / 1e3)).collect();
    println!("| {{model}} | {{}} |", cells.join(" | "));
}}

fn main() {{
{calls}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flash", metavar="TARGET")
    parser.add_argument("--toolchain", help="the rustup toolchain that has the target")
    parser.add_argument("--time", action="store_true")
    arguments = parser.parse_args()
    models = [(name, path) for name in MODELS if (path := model_path(name)).is_file()]
    if arguments.flash:
        header("bytes of flash")
        for name, path in models:
            print(f"| {name} | " + " | ".join(flash_row(path, arguments)) + " |", flush=True)
    if arguments.time:
        header("µs")
        print(time_table(models), end="")


def header(what):
    print(f"| model, {what} | " + " | ".join(f"`{name}`" for name, _, _ in WAYS) + " |")
    print("| --- | " + " | ".join("---:" for _ in WAYS) + " |", flush=True)


def model_path(name):
    digits = ROOT / "examples/digits/model/digits.tflite"
    return digits if name == "digits_int8" else SHARED / name / "model.tflite"


def flash_row(path, arguments):
    """Flash in bytes of a program for each way."""
    for _, keys, argument in WAYS:
        bind = BIND if argument else ""
        source = FLASH.format(path=str(path), keys=keys, bind=bind, argument=argument)
        program = build(source, '"s"', arguments.flash, arguments.toolchain)
        yield f"{stored(program):,}".replace(",", " ")


def time_table(models):
    modules, calls = [], []
    for name, path in models:
        ways = []
        for i, (_, keys, argument) in enumerate(WAYS):
            module = f"{name}_{i}"
            modules.append(f"mod {module} {{ aot_macros::aot_model! {{ pub struct Net = {str(path)!r} {{ {keys} }} }} }}".replace("'", '"'))
            calls.append(f"    let {module} = {module}::Net::take().unwrap();")
            if argument:
                calls.append(f"    let kernels = {module}::Net::bind(black_box(&[{module}::Net::KERNELS])).unwrap();")
            ways.append(f"&mut || {{ let _ = black_box({module}.run_in_place({argument})); }}")
        calls.append(f'    time("{name}", &mut [{", ".join(ways)}]);')
    source = TIME.format(modules="\n".join(modules), calls="\n".join(calls))
    return run([build(source, "3", None, None)])


def build(source, level, target, toolchain):
    """Builds a program and gives its path."""
    folder = ROOT / "target/calls"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(MANIFEST.format(root=ROOT, level=level))
    (folder / "src/main.rs").write_text(source)
    command = ["cargo", *([f"+{toolchain}"] if toolchain else []), "build", "--release", "--quiet"]
    command += ["--target-dir", str(folder / "target"), *(["--target", target] if target else [])]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "target" / (target or "") / "release/calls"


def stored(program):
    """Bytes of the sections that are stored in flash: code, constants, initial values."""
    lines = run(["llvm-size", "-A", program]).splitlines()
    sections = [line.split() for line in lines if line.startswith((".text", ".rodata", ".data"))]
    return sum(int(size) for _, size, _ in sections)


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
