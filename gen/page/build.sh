#!/usr/bin/env bash
# Makes the page: one file, target/page/lanebook.html, which a browser opens from a disk; nothing is fetched.
#
#   gen/page/build.sh [CARGO-FLAG...]
#
# Uses Debian's rustc and cargo as a pair, with `-Z build-std` from rust-web-src; see .ci/tools.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}/page
for tool in /usr/bin/rustc /usr/bin/cargo python3; do command -v "$tool" > /dev/null || { echo "$tool is missing: run .ci/tools all" >&2; exit 1; }; done
# The library's fixed storage is built on the stack before it is boxed: some megabytes at a time.
env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="-C link-arg=-zstack-size=67108864" \
  /usr/bin/cargo build -q --profile page -Z build-std=std,panic_abort --target wasm32-unknown-unknown \
  -p lanebook-page --target-dir "$target" "$@"
python3 gen/page/one_file.py gen/page/web "$target/wasm32-unknown-unknown/page/lanebook_page.wasm" "$target/lanebook.html"
