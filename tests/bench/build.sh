#!/usr/bin/env bash
# How long building takes, against the targets of the design: bash tests/bench/build.sh [first|edit|dependent|pregenerated]...
# Prints wall and processor seconds of each; exits with 1 where a target is missed. For quiet cores: what else runs is counted in wall time.
#   first      the README's first command, nothing built                     at most 120 s
#   edit       the same command after an edit of one table                   at most  15 s
#   dependent  a clean debug build of a crate that depends on lanebook       at most  60 processor s
#   pregenerated  the same, with the tables that a package has               at most  60 processor s
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0

# timed NAME LIMIT wall|cpu COMMAND...: runs it, and says what it took.
timed() {
  local name=$1 limit=$2 which=$3
  shift 3
  local TIMEFORMAT='%R %U %S' spent
  if ! spent=$( { time "$@" > "$work/log" 2>&1; } 2>&1 ); then
    tail -n 30 "$work/log" >&2
    echo "build.sh: $name failed" >&2
    exit 1
  fi
  awk -v name="$name" -v limit="$limit" -v which="$which" '{
    wall = $1; cpu = $2 + $3; took = which == "wall" ? wall : cpu
    printf "%-12s %6.1f s, %6.1f s of the processor; target %3d s %s: %s\n", name, wall, cpu, limit,
      which == "wall" ? "of wall time" : "of the processor", took <= limit ? "met" : "missed"
    exit took > limit
  }' <<< "$spent" || missed=1
}

# The sources without what git ignores, so that an edit stays out of the checkout.
tree="$work/tree"
mkdir "$tree"
(cd "$root" && git ls-files -z | tar --null -T - -cf -) | tar -xf - -C "$tree"
cd "$tree"
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(first edit dependent pregenerated)
asked() { printf '%s\n' "${wanted[@]}" | grep -qx "$1"; }
first=(cargo run --release -- compile --arch sm_80)
cargo fetch -q

export CARGO_TARGET_DIR="$work/target"
if asked first || asked edit; then
  timed first 120 wall "${first[@]}"
fi
if asked edit; then
  # One fact, which many architectures have from this one and the kernel does not need.
  sed -i 's/max_threads: 1024/max_threads: 512/' hw-tables/nvidia/sm_75.ron
  grep -q 'max_threads: 512' hw-tables/nvidia/sm_75.ron
  timed edit 15 wall "${first[@]}"
fi
# dependent NAME FEATURES: a crate with a clean target folder of its own.
dependent() {
  local of=$work/$1
  mkdir -p "$of/src"
  printf '[package]\nname = "dependent"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\nlanebook = { path = "%s", default-features = %s }\n[workspace]\n' "$tree" "$2" > "$of/Cargo.toml"
  echo 'fn main() { println!("{}", lanebook::TABLES.archs.len()); }' > "$of/src/main.rs"
  cp Cargo.lock "$of/"
  CARGO_TARGET_DIR=$of/target timed "$1" 60 cpu cargo build --manifest-path "$of/Cargo.toml"
}
if asked dependent; then dependent dependent true; fi
if asked pregenerated; then
  cargo build -q -p lanebook
  dependent pregenerated false
fi
exit "$missed"
