#!/usr/bin/env bash
# Bounds the stack of every public entry point on x86-64: at most 16 KiB, with the compiler that is in use.
#
#   tests/proof/stack_bound.sh [OPT]      after panic_free.sh with the same, whose archive it measures; default 3
#
# The budgets: 512 bytes for the embedder's text sink (called through a pointer by the IR's printer, and by the writers of layouts and of sentences
# that it hands its sink to), for its listeners of passes and of inference, and for who appraises programs while passes run (what compiling takes comes
# on top, and is bounded by itself), nothing for the four memory functions (their frames are the embedder's).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
limit=16384
opt=${1:-3}
out=${CARGO_TARGET_DIR:-$root/target}/proof
lld=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
gcc -c -O2 -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector tests/proof/supplied.c -o "$out/supplied.o"
sed 's/.*/--undefined="&"/' "$out/entries.txt" > "$out/link.rsp"
"$lld" -flavor gnu -static --gc-sections -e memcpy "@$out/link.rsp" "$out/$opt.a" "$out/supplied.o" -o "$out/stack.elf"
supplied=()
for f in memcpy memmove memset memcmp bcmp; do supplied+=(--frame "$f=0"); done
echo "stack, bytes, of the deepest entry points (x86-64, opt-level $opt, $(rustc --version)):"
python3 tests/proof/stackbound.py --chain --top "${LANEBOOK_STACK_TOP:-25}" "${supplied[@]}" --frame lanebook_proof_sink=512 --known tests/proof/above_limit.txt \
  --indirect 'lanebook_ir.*print.*=512' --indirect 'lanebook_layout8notation(5write|9ttg_print)=512' --indirect 'lanebook_layout5words=512' --indirect 'lanebook_passes=512' --indirect 'lanebook8pipeline5price=512' --indirect 'lanebook_infer=512' --indirect 'lanebook_loops=512' --indirect 'notation4tree5write.*tileas5print=lanebook_layout::Iter::extent,lanebook_layout::Iter::stride' "$out/stack.elf" "$limit" < "$out/entries.stack.txt"
