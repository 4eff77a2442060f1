#!/usr/bin/env bash
# Everything that firmware needs here: a compiler with `core` for each bare-metal target, by
# the name `embedded`, and QEMU. Run as root; a second run finds all there and ends.
#
# At home it is `rustup target add thumbv7em-none-eabihf` and so on; where that has been done
# for all targets, `embedded` is rustup's compiler. This is for machines that cannot reach
# rustup: there it is Debian 12's own, and `cargo +embedded build --target …` works the same.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

targets=(
    thumbv6m-none-eabi
    thumbv7m-none-eabi
    thumbv7em-none-eabi
    thumbv7em-none-eabihf
    thumbv8m.main-none-eabihf
    riscv32imc-unknown-none-elf
    riscv32imac-unknown-none-elf
    wasm32-unknown-unknown
)

has_all_targets() {
    for target in "${targets[@]}"; do
        [ -d "$1/lib/rustlib/$target/lib" ] || return 1
    done
}

# The compiler: what has the name already, rustup's own, or Debian's.
if command -v rustup >/dev/null && rustup toolchain list | grep -q '^embedded\b'; then
    compiler=$(rustc +embedded --print sysroot)
else
    compiler=$(rustc --print sysroot 2>/dev/null || true)
    has_all_targets "$compiler" || compiler=/usr
fi

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# rust-web-llvm and lld-22 hold rust-lld, the linker of all these targets; binutils reads
# symbols and disassembles.
wanted=(binutils-arm-none-eabi gcc libc6-dev)
if [ "$compiler" = /usr ]; then
    wanted+=(rustc-web cargo-web rust-web-src rust-web-llvm lld-22)
fi
packages=()
for package in "${wanted[@]}"; do
    installed "$package" || packages+=("$package")
done
# Any QEMU that is there will do: 7.2 and 10.0 count the same instructions.
command -v qemu-system-arm >/dev/null || packages+=(qemu-system-arm)
command -v qemu-system-riscv32 >/dev/null || packages+=(qemu-system-misc)
if [ ${#packages[@]} -gt 0 ]; then
    echo "apt-get install ${packages[*]}"
    apt-get update -q >/dev/null
    apt-get install -q -y --no-install-recommends "${packages[@]}" >/dev/null
fi

# A name for the compiler beside rustup's own; the default stays what it is.
if command -v rustup >/dev/null && ! rustup toolchain list | grep -q '^embedded\b'; then
    rustup toolchain link embedded "$compiler"
fi

# Debian's `core` for each target that lacks it, or has it from another compiler. Its sources
# and their dependencies are Debian's, so nothing is downloaded. The bitcode is for `lto`.
sysroot=/usr/lib/rustlib
missing=()
if [ "$compiler" = /usr ]; then
    stamp=$(/usr/bin/rustc -vV | sed -n 's/^commit-hash: //p')
    for target in "${targets[@]}"; do
        [ "$(cat "$sysroot/$target/.stamp" 2>/dev/null)" = "$stamp" ] || missing+=("$target")
    done
fi
if [ ${#missing[@]} -gt 0 ]; then
    echo "building core for ${missing[*]}"
    vendor=$(readlink -f "$sysroot/src/rust")/library/vendor
    build=$(mktemp -d)
    trap 'rm -rf "$build"' EXIT
    mkdir "$build/src"
    echo '#![no_std]' >"$build/src/lib.rs"
    cat >"$build/Cargo.toml" <<TOML
[package]
name = "core-for-firmware"
edition = "2024"

[workspace]

[profile.release]
panic = "abort"
codegen-units = 1
TOML
    (
        cd "$build"
        unset RUSTC_WRAPPER RUSTUP_TOOLCHAIN CARGO_BUILD_TARGET CARGO_ENCODED_RUSTFLAGS
        export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes
        export CARGO_HOME=$build/home CARGO_TARGET_DIR=$build/target
        /usr/bin/cargo build --quiet --offline --release -Zbuild-std=core "${missing[@]/#/--target=}" \
            --config 'source.crates-io.replace-with="debian"' \
            --config "source.debian.directory=\"$vendor\""
    )
    for target in "${missing[@]}"; do
        rm -rf "${sysroot:?}/$target"
        mkdir -p "$sysroot/$target/lib"
        cp "$build/target/$target"/release/deps/lib{core,compiler_builtins}-*.rlib "$sysroot/$target/lib/"
        echo "$stamp" >"$sysroot/$target/.stamp"
    done
fi
if ! has_all_targets "$compiler"; then
    echo "$compiler has not all of ${targets[*]}; rustup target add …, or rustup toolchain uninstall embedded" >&2
    exit 1
fi
echo "$("$compiler/bin/rustc" -V) in $compiler, $(qemu-system-arm --version | head -1)"
