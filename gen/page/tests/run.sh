#!/usr/bin/env bash
# Makes the page and uses it in a headless browser as a person would: Debian's Chromium, driven by Selenium.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
for tool in chromium chromedriver; do command -v "$tool" > /dev/null || { echo "$tool is missing: run .ci/tools all" >&2; exit 1; }; done
# The command is asked beside the page; building it leaves the tables, so that no second table compiler is built.
cargo build -q -p lanebook-cli --target-dir "$target"
gen/page/build.sh --no-default-features
venv=$target/venv-page
[ -x "$venv/bin/pytest" ] || { python3 -m venv "$venv"; "$venv/bin/pip" install -q --disable-pip-version-check 'selenium>=4.20,<5' pytest; }
PAGE=$target/page/lanebook.html LANEBOOK=$target/debug/lanebook "$venv/bin/python" -m pytest -q -p no:cacheprovider gen/page/tests
