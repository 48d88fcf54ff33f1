#!/usr/bin/env python3
"""hash.py NAME < TEXT   the line that the firmware prints for a text: name, bytes, FNV-1a."""
import sys

text, fnv = sys.stdin.buffer.read(), 0xcbf29ce484222325
for byte in text: fnv = (fnv ^ byte) * 0x100000001b3 & 0xffffffffffffffff
print(sys.argv[1], len(text), f"{fnv:016x}")
