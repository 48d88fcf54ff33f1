#!/usr/bin/env bash
# Links the C interface into a C program without a C library, optimised for speed and for size, and runs it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml | awk -F. '{print $1 * 65536 + $2 * 256 + $3}')
flags=(-O2 -std=gnu11 -Wall -Wextra -Werror -ffreestanding -nostdlib -static -fno-builtin -fno-stack-protector -fno-tree-loop-distribute-patterns)
mkdir -p "$target/capi"
# The header stands by itself, in C and in C++.
echo '#include "lanebook.h"' | gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -Isrc/capi -fsyntax-only -xc -
for opt in 3 s; do
  CARGO_PROFILE_FREESTANDING_OPT_LEVEL=$opt cargo rustc -q -p lanebook-capi --profile freestanding --features freestanding --crate-type staticlib --target-dir "$target"
  gcc "${flags[@]}" -Isrc/capi "-DGEMM=\"$root/gen/cli/examples/gemm.tile\"" "-DLB_EXPECTED_VERSION=$version" \
    src/capi/tests/c/embed.c "$target/freestanding/liblanebook_capi.a" -Wl,--gc-sections -o "$target/capi/embed-$opt"
  "$target/capi/embed-$opt"
  if found=$(nm "$target/capi/embed-$opt" | grep -E '9panicking|4core3fmt|__rust_alloc|5alloc'); then echo "in the program, but must not be:"; echo "$found"; exit 1; fi
  size -A "$target/capi/embed-$opt" | awk -v o="$opt" '/^\.text|^\.rodata|^\.data\.rel\.ro/ {s += $2; t = t " " $1 "=" $2} END {print "opt-level " o ":" t ", together " s " bytes (test program included)"}'
done
