#!/usr/bin/env bash
# Builds the library for targets without an operating system, and runs it on one of them: a Cortex-M4F in QEMU compiles the GEMM
# example for an architecture of each vendor, and its text must be the command's on the host, byte for byte (length and FNV-1a).
#
#   tests/firmware/run.sh [board|rest]     board, the default: the Cortex-M4F; rest: five more targets build (WebAssembly: gen/page)
#
# Uses Debian's rustc and cargo as a pair, with `-Z build-std=core` from rust-web-src; see .ci/tools.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}/firmware
board=thumbv7em-none-eabihf
for tool in /usr/bin/rustc /usr/bin/cargo qemu-system-arm; do command -v "$tool" > /dev/null || { echo "$tool is missing: run .ci/tools all" >&2; exit 1; }; done

# One profile for all of it: what the build itself runs is then built once.
bare() { env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS= /usr/bin/cargo build -q --release -Z build-std=core --manifest-path tests/firmware/Cargo.toml --target-dir "$target" "$@"; }
library() { # library TARGET...: the library alone; one cargo, which shares the work between the cores
  local args=() name
  for name; do args+=(--target "$name"); done
  bare -p lanebook "${args[@]}"
  echo "builds for $* ($SECONDS s)"
}
host() { # host build|run [MORE]: the command, on this machine
  local verb=$1
  shift
  cargo "$verb" -q -p lanebook-cli --target-dir "${CARGO_TARGET_DIR:-$root/target}" "$@"
}
# Leaves the tables that all of this is built with.
host build
if [ "${1:-board}" = rest ]; then
  library thumbv6m-none-eabi riscv32imac-unknown-none-elf riscv64gc-unknown-none-elf aarch64-unknown-none x86_64-unknown-none
  exit
fi

bare --target "$board"
image=$target/$board/release/lanebook-firmware
size "$image"
# Storage is zeros, so statics of it weigh nothing in an image; the C interface takes zeroed memory for empty storage.
nm -S --size-sort "$image" | awk '$2 ~ /^000[1-9a-f]/ || $2 ~ /^0000[4-9a-f]/' | grep -iE ' [bd] ' > "$target/statics.txt" || true
if ! grep -qi ' b ' "$target/statics.txt" || grep -i ' d ' "$target/statics.txt"; then echo "statics of storage should be zeros:"; cat "$target/statics.txt"; exit 1; fi
got=$(timeout 120 qemu-system-arm -machine mps2-an386 -nographic -semihosting-config enable=on,target=native -kernel "$image" < /dev/null)
echo "$got"
want=
for pair in sm_80:ptx gfx950:amdgcn; do
  arch=${pair%:*}
  host run -- compile gen/cli/examples/gemm.tile --arch "$arch" --emit "${pair#*:}" -o "$target/host.txt"
  want+=$(python3 tests/firmware/hash.py "$arch" < "$target/host.txt")$'\n'
done
[ "$got"$'\n' = "$want" ] || { echo "the host writes:"; echo "$want"; exit 1; }
echo "$board: the Cortex-M4F writes what the host writes ($SECONDS s)"
