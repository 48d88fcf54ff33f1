#!/usr/bin/env bash
# Makes the page and uses it in a headless browser as a person would: Debian's Chromium, driven by Selenium.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
for tool in chromium chromedriver; do command -v "$tool" > /dev/null || { echo "$tool is missing: run .ci/tools all" >&2; exit 1; }; done
gen/page/build.sh
venv=$target/venv-page
[ -x "$venv/bin/pytest" ] || { python3 -m venv "$venv"; "$venv/bin/pip" install -q --disable-pip-version-check 'selenium>=4.20,<5' pytest; }
cargo build -q -p lanebook-cli
PAGE=$target/page/lanebook.html LANEBOOK=$target/debug/lanebook "$venv/bin/python" -m pytest -q -p no:cacheprovider gen/page/tests
