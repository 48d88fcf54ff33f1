#!/usr/bin/env bash
# Proves by linking that no public entry point of what ships can panic, format, or allocate.
#
#   tests/proof/panic_free.sh [layout|engine]     layout: the algebra and the table types alone; default engine: everything
#
# Writes into $CARGO_TARGET_DIR/proof (default target/proof): entries.rs (the wrappers), entries.txt (their names) and
# proof-<opt>.elf. Needs only the stable toolchain, binutils' nm and python3. RUSTC_BOOTSTRAP is for rustdoc's JSON; what is
# built with it has a folder of its own (proof/unstable, shared with stack_bound.sh), because it makes procedural macros
# build differently. The rest is built in the target folder itself, so that build scripts are compiled once.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
what=${1:-engine}
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/proof
mkdir -p "$out"
lld=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld

# 1. The list of entry points, from rustdoc.
crates=(lanebook-layout lanebook-tables)
features=()
[ "$what" = layout ] && features=(--no-default-features) || crates+=(lanebook)
docs=()
for crate in "${crates[@]}"; do
  RUSTC_BOOTSTRAP=1 cargo rustdoc -q --release -p "$crate" --lib --target-dir "$out/unstable" -- -Zunstable-options --output-format json --cap-lints allow
  docs+=("$out/unstable/doc/${crate//-/_}.json")
done
python3 tests/proof/entries.py "$out/entries.rs" "${docs[@]}"
export LANEBOOK_ENTRIES=$out/entries.rs

# 2. Build and link it, optimised for speed and for size. Nothing but these symbols may be missing: the four functions that any
#    embedder supplies (string compare leaves bcmp) and the embedder's text sink.
supplied='memcpy|memmove|memset|memcmp|bcmp|lanebook_proof_sink'
link() { # link OPT NAME FEATURES...: leaves proof-NAME.elf
  local opt=$1 name=$2; shift 2
  CARGO_PROFILE_RELEASE_OPT_LEVEL=$opt cargo build -q --release --manifest-path tests/proof/Cargo.toml --target-dir "$target" "${features[@]}" "$@"
  sed 's/.*/--undefined="&"/' "$out/entries.txt" > "$out/link.rsp"
  "$lld" -flavor gnu --gc-sections --unresolved-symbols=ignore-all -e memcpy "@$out/link.rsp" "$target/release/liblanebook_proof.a" -o "$out/proof-$name.elf"
}
bad() { # bad NAME: prints what must not be there, fails if there is nothing
  { nm -u "$out/proof-$1.elf" | awk '{print $NF}' | grep -vxE "$supplied" || true
    nm "$out/proof-$1.elf" | awk '{print $NF}' | grep -E '_ZN4core9panicking|_ZN4core3fmt|core\.\.fmt|_ZN5alloc|__rust_alloc|__rg_alloc|__rdl_alloc|_RN.*4core.*(9panicking|3fmt)|_RN.*5alloc' || true; } | sort -u | grep .
}
for opt in 3 s; do
  link "$opt" "$opt"
  missing=$(comm -23 <(sort -u "$out/entries.txt") <(nm "$out/proof-$opt.elf" | awk '$2 ~ /[Tt]/' | cut -d' ' -f3- | sort -u))
  [ -z "$missing" ] || { echo "entry points that are not in the linked program:"; echo "$missing"; exit 1; }
  if found=$(bad "$opt"); then
    echo "opt-level $opt: reachable from a public entry point, but must not be:"; echo "$found" | sed 's/^/  /'
    python3 tests/proof/blame.py "$out/proof-$opt.elf" || true
    exit 1
  fi
  echo "opt-level $opt: $(wc -l < "$out/entries.txt") entry points, no panic, no formatting, no allocator; undefined: $(nm -u "$out/proof-$opt.elf" | awk '{print $NF}' | paste -sd' ')"
done

# 3. The proof notices a panic.
echo broken >> "$out/entries.txt"
link 3 broken --features broken
sed -i '$d' "$out/entries.txt"
bad broken > "$out/broken.txt" || { echo "the proof lets a function through that panics"; exit 1; }
echo "a function that panics is noticed: $(tr '\n' ' ' < "$out/broken.txt")"
