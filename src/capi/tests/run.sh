#!/usr/bin/env bash
# Links the C interface, as the header says, into a C program without a C library, runs it on a small stack, and adds up the stack
# that each function needs.
#
#   src/capi/tests/run.sh [OPT...]     opt-levels; default 3, the profile's own
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/capi
limit=16384
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml | awk -F. '{print $1 * 65536 + $2 * 256 + $3}')
flags=(-O2 -std=gnu11 -Wall -Wextra -Werror -ffreestanding -nostdlib -static -fno-builtin -fno-stack-protector -fno-tree-loop-distribute-patterns)
lld=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
mkdir -p "$out"
# The header stands by itself, in C and in C++.
echo '#include "lanebook.h"' | gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -Isrc/capi -fsyntax-only -xc -
sed -n 's/^[a-z].*[ *]\(lb_[a-z_]*\)(.*/\1/p' src/capi/lanebook.h | grep -v '^lb_sink$' | sort -u > "$out/functions.txt"
supplied=()
for f in memcpy memmove memset memcmp bcmp; do supplied+=(--frame "$f=0"); done
[ $# -gt 0 ] || set -- 3
# Leaves the tables, so that no second table compiler is built.
cargo build -q -p lanebook --target-dir "$target"
for opt; do
  CARGO_PROFILE_FREESTANDING_OPT_LEVEL=$opt RUSTC_WRAPPER=$root/tests/proof/rustc.sh \
    cargo rustc -q -p lanebook-capi --profile freestanding --no-default-features --features freestanding --crate-type staticlib --target-dir "$target"
  archive=$target/freestanding/liblanebook_capi.a
  gcc "${flags[@]}" -Isrc/capi "-DGEMM=\"$root/gen/cli/examples/gemm.tile\"" "-DGRID=\"$root/tests/kernels/programs/grid_of_copies.tile\"" "-DQUESTIONS=\"$root/tests/questions/ten.tsv\"" "-DLB_EXPECTED_VERSION=$version" \
    src/capi/tests/c/embed.c "$archive" -Wl,--gc-sections -o "$out/embed-$opt"
  (ulimit -s 64; "$out/embed-$opt")
  if found=$(nm "$out/embed-$opt" | grep -E '9panicking|4core3fmt|__rust_alloc|5alloc'); then echo "in the program, but must not be:"; echo "$found"; exit 1; fi
  size -A "$out/embed-$opt" | awk -v o="$opt" '/^\.text|^\.rodata|^\.data\.rel\.ro/ {s += $2; t = t " " $1 "=" $2} END {print "opt-level " o ":" t ", together " s " bytes (test program included)"}'
  # Programs of pages, with a C library, print what stands below them.
  for page in docs/launching.md README.md; do
    sed -n '/^```c$/,/^```$/p' "$page" | grep -v '^```' > "$out/page.c"
    sed -n '/^```text$/,/^```$/p' "$page" | grep -v '^```' > "$out/page.txt"
    gcc -std=c11 -O2 -Wall -Wextra -Werror -Isrc/capi "$out/page.c" "$archive" -Wl,--gc-sections -o "$out/page"
    "$out/page" | diff "$out/page.txt" - || { echo "$page shows something else than its program prints"; exit 1; }
  done
  # What the header declares is what the archive has, and each of it needs no more than the header says. The sink's own stack is its own.
  gcc -c -O2 -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector src/capi/tests/c/memory.c -o "$out/memory.o"
  "$lld" -flavor gnu -static --gc-sections -e memcpy $(sed 's/^/--undefined=/' "$out/functions.txt") "$archive" "$out/memory.o" -o "$out/stack-$opt.elf"
  diff "$out/functions.txt" <(nm "$out/stack-$opt.elf" | sed -n 's/.* T \(lb_.*\)/\1/p' | sort) || { echo "the header and the archive differ"; exit 1; }
  echo "stack, bytes, of each function (opt-level $opt, $(rustc --version)):"
  python3 tests/proof/stackbound.py --chain "${supplied[@]}" --indirect 'lanebook_capi=0' --indirect '^lb_compile=0' "$out/stack-$opt.elf" "$limit" < "$out/functions.txt"
done
