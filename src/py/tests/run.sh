#!/usr/bin/env bash
# Builds the wheel, installs it into a virtual environment of its own, and runs the tests.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
venv=$target/venv-py
[ -x "$venv/bin/maturin" ] || { python3 -m venv "$venv"; "$venv/bin/pip" install -q --disable-pip-version-check 'maturin>=1.5,<2' pytest numpy; }
# pycute, for the bridge to it; the rest of CUTLASS's package is not needed.
"$venv/bin/python" -c 'import pycute' 2> /dev/null || "$venv/bin/pip" install -q --disable-pip-version-check --no-deps nvidia-cutlass==4.2.0.0
rm -rf "$target/wheels"
"$venv/bin/maturin" build -q -m src/py/Cargo.toml --profile dev --target-dir "$target" -i "$venv/bin/python" -o "$target/wheels"
"$venv/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps "$target"/wheels/lanebook-*.whl
"$venv/bin/python" -m pytest -q -p no:cacheprovider src/py/tests
"$venv/bin/python" -c "import doctest, lanebook, sys; tried = [doctest.testmod(part) for part in (lanebook, lanebook.bridges)]; sys.exit(any(one.failed or not one.attempted for one in tried))"
# Sessions of pages; fences are no part of what they print.
for page in docs/launching.md README.md; do
  sed 's/^```.*//' "$page" > "$target/page-python.txt"
  "$venv/bin/python" -c "import doctest, sys; tried = doctest.testfile(sys.argv[1], module_relative=False); sys.exit(tried.failed or not tried.attempted)" "$target/page-python.txt"
done
