#!/usr/bin/env python3
"""Reads cargo's unit graph from standard input; fails if a library is built twice for one run.

What the build script stands on and what the command stands on are the same crates. With another feature or another word in a profile
on one side cargo builds them twice, the table compiler among them, and says nothing.
"""
import collections
import json
import sys

built = collections.defaultdict(list)
for unit in json.load(sys.stdin)["units"]:
    if unit["mode"] == "build" and "lib" in unit["target"]["kind"]:
        built[unit["pkg_id"]].append((unit["features"], unit["profile"]))
if "lanebook-gen@" not in " ".join(built):
    sys.exit("the table compiler is not among what is built: this check looks at the wrong thing")
twice = {package: ways for package, ways in built.items() if len(ways) > 1}
for package, ways in sorted(twice.items()):
    print(f"{package} is built {len(ways)} times:", *ways, sep="\n  ")
print(f"{len(built)} libraries, {len(twice)} of them built more than once")
sys.exit(bool(twice))
