#!/usr/bin/env bash
# Proves by linking that no public entry point of what ships can panic, format, or allocate.
#
#   tests/proof/panic_free.sh [list|linked] [algebra|engine] [OPT...]     algebra: the algebra and the table types alone; default: engine 3
#
# list: writes down the entry points, and is done; linked: those of the last list.
#
# Writes into $CARGO_TARGET_DIR/proof (default target/proof): entries.rs (the wrappers), entries.txt (their names) and
# proof-<opt>.elf. Needs only the stable toolchain, binutils' nm and python3. What is linked is built with the profile of the
# C library that ships, so that both share the library, and stack_bound.sh measures this very archive.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
part=all
case ${1:-} in list | linked) part=$1; shift ;; esac
what=${1:-engine}; [ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 3
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/proof
mkdir -p "$out"
lld=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
rm -f "$out"/*.a

# 1. The list of entry points, from rustdoc.
if [ "$part" != linked ]; then
  crates=(lanebook-layout lanebook-tables)
  [ "$what" = algebra ] || crates+=(lanebook-ir lanebook-tile lanebook-passes lanebook-plan lanebook-emit lanebook-check lanebook-infer lanebook-loops lanebook-query lanebook)
  docs=()
  for crate in "${crates[@]}"; do
    # Flags of its own, so that cargo does not take the pages of `cargo doc` for it. What is hidden from the pages is linked all the same.
    RUSTDOC=$root/tests/proof/rustdoc.sh RUSTDOCFLAGS="-D warnings -Z unstable-options --document-hidden-items" cargo rustdoc -q -p "$crate" --lib --target-dir "$target"
    docs+=("$target/doc/${crate//-/_}.json")
  done
  python3 tests/proof/entries.py "$out/entries.rs" "${docs[@]}"
fi
export LANEBOOK_ENTRIES=$out/entries.rs
[ "$part" != list ] || exit 0

# 2. Build and link it, with the tables that documenting the library has compiled. Nothing but these symbols may be missing: the four functions that any embedder supplies (string compare
#    leaves bcmp) and the embedder's text sink.
supplied='memcpy|memmove|memset|memcmp|bcmp|lanebook_proof_sink'
link() { # link OPT NAME FEATURES ENTRIES: leaves NAME.a, proof-NAME.elf
  CARGO_PROFILE_FREESTANDING_OPT_LEVEL=$1 RUSTC_WRAPPER=$root/tests/proof/rustc.sh \
    cargo rustc -q -p lanebook-proof --profile freestanding --no-default-features --features "$3" --crate-type staticlib --target-dir "$target"
  cp "$target/freestanding/liblanebook_proof.a" "$out/$2.a"
  sed 's/.*/--undefined="&"/' "$4" > "$out/link.rsp"
  "$lld" -flavor gnu --gc-sections --unresolved-symbols=ignore-all -e memcpy "@$out/link.rsp" "$out/$2.a" -o "$out/proof-$2.elf"
}
bad() { # bad NAME: prints what must not be there, fails if there is nothing
  { nm -u "$out/proof-$1.elf" | awk '{print $NF}' | grep -vxE "$supplied" || true
    nm "$out/proof-$1.elf" | awk '{print $NF}' | grep -E '_ZN4core9panicking|_ZN4core3fmt|core\.\.fmt|_ZN5alloc|__rust_alloc|__rg_alloc|__rdl_alloc|_RN.*4core.*(9panicking|3fmt)|_RN.*5alloc' || true; } | sort -u | grep .
}
for opt; do
  link "$opt" "$opt" "$what" "$out/entries.txt"
  missing=$(comm -23 <(sort -u "$out/entries.txt") <(nm "$out/proof-$opt.elf" | awk '$2 ~ /[Tt]/' | cut -d' ' -f3- | sort -u))
  [ -z "$missing" ] || { echo "entry points that are not in the linked program:"; echo "$missing"; exit 1; }
  if found=$(bad "$opt"); then
    echo "opt-level $opt: reachable from a public entry point, but must not be:"; echo "$found" | sed 's/^/  /'
    python3 tests/proof/blame.py "$out/proof-$opt.elf" || true
    exit 1
  fi
  echo "opt-level $opt: $(wc -l < "$out/entries.txt") entry points, no panic, no formatting, no allocator; undefined: $(nm -u "$out/proof-$opt.elf" | awk '{print $NF}' | paste -sd' ')"
done

# 3. The proof notices a panic: a function that panics, alone, through the same build, link and look.
echo broken > "$out/broken-entry.txt"
link "$1" broken broken "$out/broken-entry.txt"
bad broken > "$out/broken.txt" || { echo "the proof lets a function through that panics"; exit 1; }
echo "a function that panics is noticed: $(tr '\n' ' ' < "$out/broken.txt")"
