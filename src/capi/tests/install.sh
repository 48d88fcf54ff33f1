#!/usr/bin/env bash
# Installs the C library into a folder and uses it from there as others do: by pkg-config, by CMake, beside another Rust library. Holds the binary
# interface against tests/abi.txt (LANEBOOK_BLESS=1 writes it anew; then it is for a new minor version).
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/capi/installed
rm -rf "$out"
mkdir -p "$out"
prefix=$out/prefix
# With the library that run.sh has built.
LANEBOOK_CARGO_FLAGS=--no-default-features src/capi/install.sh "$prefix"
flags=(-std=gnu11 -O2 -Wall -Wextra -Werror)
package() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" lanebook; }
expected=128

# The interface: functions of both libraries, structures, numbers.
python3 src/capi/tests/abi.py src/capi/lanebook.h > "$out/abi.inc"
gcc "${flags[@]}" -I"$out" -Isrc/capi src/capi/tests/c/abi.c -o "$out/abi"
{ nm -D --defined-only "$prefix/lib/liblanebook.so" | awk '{print $3}'; "$out/abi"; } > "$out/abi.txt"
nm "$prefix/lib/liblanebook.a" | awk '$2 ~ /[A-TV-Z]/ {print $3}' | sort | diff - <(nm -D --defined-only "$prefix/lib/liblanebook.so" | awk '{print $3}' | sort)
[ -z "${LANEBOOK_BLESS:-}" ] || cp "$out/abi.txt" src/capi/tests/abi.txt
diff src/capi/tests/abi.txt "$out/abi.txt" || { echo "the binary interface is another than the recorded one"; exit 1; }

# pkg-config, shared and static.
gcc "${flags[@]}" -DALONE src/capi/tests/c/second.c $(package --cflags --libs) -o "$out/shared"
[ "$(LD_LIBRARY_PATH=$prefix/lib "$out/shared")" = $expected ]
gcc "${flags[@]}" -DALONE src/capi/tests/c/second.c $(package --cflags) "$prefix/lib/liblanebook.a" -Wl,--gc-sections -o "$out/static"
[ "$("$out/static")" = $expected ]
[ "$(package --modversion)" = "$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)" ]

# What cargo-c is told is what is installed here.
python3 - "$prefix" <<'END'
import os, re, sys, tomllib

told = tomllib.load(open("src/capi/Cargo.toml", "rb"))["package"]["metadata"]["capi"]
prefix = sys.argv[1]
config = open(f"{prefix}/lib/pkgconfig/{told['pkg_config']['filename']}.pc").read()
assert re.search(r"^Name: (.*)$", config, re.M)[1] == told["pkg_config"]["name"]
assert re.search(r"^Description: (.*)$", config, re.M)[1] == told["pkg_config"]["description"]
for kind in ("a", "so"):
    assert os.path.exists(f"{prefix}/lib/lib{told['library']['name']}.{kind}")
for asset in told["install"]["include"]["asset"]:
    assert os.path.exists(f"{prefix}/include/{asset['to']}{asset['from']}") and os.path.exists(f"src/capi/{asset['from']}")
END

# Beside a Rust library with std, in both orders.
rustc --edition 2024 --crate-type staticlib -O src/capi/tests/c/second.rs -o "$out/libsecond.a"
gcc "${flags[@]}" -Isrc/capi -c src/capi/tests/c/second.c -o "$out/second.o"
for order in "$prefix/lib/liblanebook.a $out/libsecond.a" "$out/libsecond.a $prefix/lib/liblanebook.a"; do
  gcc "$out/second.o" $order -lpthread -ldl -lm -o "$out/both"
  [ "$("$out/both")" = $expected ]
done

# CMake.
cmake -S src/capi/tests/cmake -B "$out/cmake" -DCMAKE_PREFIX_PATH="$prefix" > "$out/cmake.log" || { cat "$out/cmake.log"; exit 1; }
cmake --build "$out/cmake" > "$out/cmake.log" || { cat "$out/cmake.log"; exit 1; }
for kind in lanebook static; do [ "$("$out/cmake/with_$kind")" = $expected ]; done
echo "installed: pkg-config, CMake, beside another Rust library, interface as recorded"
