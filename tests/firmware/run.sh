#!/usr/bin/env bash
# Builds the library for seven targets without an operating system, and runs it on one of them: a Cortex-M4F in QEMU compiles
# the GEMM example for each architecture, and its text must be the host's, byte for byte (length and FNV-1a).
#
# Uses Debian's rustc and cargo as a pair, with `-Z build-std=core` from rust-web-src; see .ci/tools.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}/firmware
board=thumbv7em-none-eabihf
others=(thumbv6m-none-eabi riscv32imac-unknown-none-elf riscv64gc-unknown-none-elf aarch64-unknown-none x86_64-unknown-none wasm32-unknown-unknown)
for tool in /usr/bin/rustc /usr/bin/cargo qemu-system-arm; do command -v "$tool" > /dev/null || { echo "$tool is missing: run .ci/tools all" >&2; exit 1; }; done

want=$(cargo run -q --release --manifest-path tests/firmware/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-$root/target}")

bare() { env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS= /usr/bin/cargo build -q -Z build-std=core --target-dir "$target" "$@"; }
bare --release --manifest-path tests/firmware/Cargo.toml --target "$board"
image=$target/$board/release/lanebook-firmware
size "$image"
got=$(timeout 120 qemu-system-arm -machine mps2-an386 -nographic -semihosting-config enable=on,target=native -kernel "$image" < /dev/null)
echo "$got"
[ "$got" = "$want" ] || { echo "the host writes:"; echo "$want"; exit 1; }
echo "$board: the Cortex-M4F writes what the host writes ($SECONDS s)"
# The others need no optimiser to show that they build: one cargo, which shares the work between the cores.
rest=()
for other in "${others[@]}"; do rest+=(--target "$other"); done
CARGO_PROFILE_DEV_BUILD_OVERRIDE_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0 bare -p lanebook "${rest[@]}"
echo "builds for ${others[*]} ($SECONDS s)"
