#!/usr/bin/env bash
# Bounds the stack of every public entry point on x86-64 at opt-level 3: at most 16 KiB, with the compiler that is in use.
#
#   tests/proof/stack_bound.sh [layout|engine]      after panic_free.sh, which writes the list of entry points
#
# The budgets: 512 bytes for the embedder's text sink (called through a pointer by the IR's printer) and for its listener of passes, nothing for the four memory functions (their frames are the embedder's).
# RUSTC_BOOTSTRAP is for `-Z emit-stack-sizes`; the code is what stable makes, but for jump tables (which would look like
# calls through pointers) and direct calls in place of calls through the GOT.
# `--target` keeps the flags away from build scripts and procedural macros.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
limit=16384
what=${1:-engine}
out=${CARGO_TARGET_DIR:-$root/target}/proof
features=()
[ "$what" = layout ] && features=(--no-default-features)
lld=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
export LANEBOOK_ENTRIES=$out/entries.rs
RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Z emit-stack-sizes -Z plt=yes -C relocation-model=static -C jump-tables=no" CARGO_PROFILE_RELEASE_OPT_LEVEL=3 \
  cargo build -q --release --manifest-path tests/proof/Cargo.toml --target x86_64-unknown-linux-gnu --target-dir "$out/unstable" "${features[@]}"
gcc -c -O2 -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector tests/proof/supplied.c -o "$out/supplied.o"
sed 's/.*/--undefined="&"/' "$out/entries.txt" > "$out/link.rsp"
"$lld" -flavor gnu -static --gc-sections -e memcpy "@$out/link.rsp" "$out/unstable/x86_64-unknown-linux-gnu/release/liblanebook_proof.a" "$out/supplied.o" -o "$out/stack.elf"
supplied=()
for f in memcpy memmove memset memcmp bcmp; do supplied+=(--frame "$f=0"); done
echo "stack, bytes, of the deepest entry points (x86-64, opt-level 3, $(rustc --version)):"
python3 tests/proof/stackbound.py --chain --top "${LANEBOOK_STACK_TOP:-25}" "${supplied[@]}" --frame lanebook_proof_sink=512 --known tests/proof/above_limit.txt \
  --indirect 'lanebook.*ir.*print.*=512' --indirect 'lanebook6passes=512' --indirect 'lanebook8relayout=512' --indirect 'lanebook6anchor=512' --indirect 'notation4tree5write.*tileas5print=lanebook_layout::Iter::extent,lanebook_layout::Iter::stride' "$out/stack.elf" "$limit" < "$out/entries.stack.txt"
