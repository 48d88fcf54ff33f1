#!/usr/bin/env bash
# Builds and links the smallest programs that use lanebook for one architecture, without an operating system, and writes
# what they weigh to $CARGO_TARGET_DIR/image/sizes.txt (default target/image), where the bench finds it. Then builds the
# algebra alone from nothing and writes the sections of all of its code, and the seconds it took, to layout.txt there.
#
#   tests/bench/size.sh [ARCH...]     default: sm_80 sm_100a gfx950; then one program with all architectures
#
# Needs the stable toolchain and binutils' size.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${CARGO_TARGET_DIR:-$root/target}/image
mkdir -p "$out"
host=$(rustc -vV | sed -n 's/^host: //p')
lld=$(rustc --print sysroot)/lib/rustlib/$host/bin/rust-lld
[ $# -gt 0 ] || set -- sm_80 sm_100a gfx950
: > "$out/sizes.new"
weigh() { # weigh ARCH NAME BUDGET OPT FEATURES...; ARCH all: every one
  local arch=$1 name=$2 budget=$3 opt=$4; shift 4
  local archs=$arch
  [ "$arch" != all ] || archs=
  # Static addresses: tables are then read-only data, without relocations. `--target` keeps the flag from build scripts.
  LANEBOOK_ARCHS=$archs CARGO_PROFILE_RELEASE_OPT_LEVEL=$opt RUSTFLAGS="-C relocation-model=static" \
    cargo build -q --release --manifest-path "$root/tests/bench/image/Cargo.toml" --target "$host" --target-dir "$out/build-$opt" "$@"
  "$lld" -flavor gnu --gc-sections --unresolved-symbols=ignore-all -e image "$out/build-$opt/$host/release/liblanebook_image.a" -o "$out/$arch-$name-$opt.elf"
  size -A "$out/$arch-$name-$opt.elf" | awk -v name="$arch,$name,opt-$opt" -v budget="$budget" '
    $1 ~ /^\.text/ { text += $2 } $1 ~ /^\.rodata/ { rodata += $2 } $1 ~ /^\.data/ { data += $2 }
    END { printf "%s %s %d %d %d\n", name, budget, text, rodata, data }' | tee -a "$out/sizes.new"
}
for arch in "$@"; do
  weigh "$arch" choose+emit ONE s
  weigh "$arch" emit EMIT s --features emit
  weigh "$arch" whole ONE s --features whole
  weigh "$arch" choose+emit ONE 3
done
weigh all choose+emit ALL s
mv "$out/sizes.new" "$out/sizes.txt"

algebra() { # algebra OPT
  local opt=$1 dir="$out/layout-$1"
  # Its dependencies first: only the crate itself is timed.
  local build=(cargo build -q --release -p lanebook-layout --manifest-path "$root/Cargo.toml" --target-dir "$dir")
  rm -rf "$dir"
  CARGO_PROFILE_RELEASE_OPT_LEVEL=$opt "${build[@]}"
  rm -f "$dir"/release/deps/*lanebook_layout* "$dir"/release/*lanebook_layout*
  rm -rf "$dir"/release/.fingerprint/lanebook-layout*
  local start; start=$(date +%s%N)
  CARGO_PROFILE_RELEASE_OPT_LEVEL=$opt "${build[@]}"
  local millis=$(( ($(date +%s%N) - start) / 1000000 ))
  size -A "$dir"/release/liblanebook_layout.rlib 2>/dev/null | awk -v opt="$opt" -v millis="$millis" '
    $1 ~ /^\.text/ { text += $2 } $1 ~ /^\.rodata/ { rodata += $2 } $1 ~ /^\.data/ { data += $2 }
    END { printf "opt-%s %d %d %d %d\n", opt, text, rodata, data, millis }' | tee -a "$out/layout.new"
}
: > "$out/layout.new"
for opt in s 3; do algebra $opt; done
mv "$out/layout.new" "$out/layout.txt"
