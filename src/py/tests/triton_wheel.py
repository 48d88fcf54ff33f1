"""The bridge to Triton against Triton's own objects. Run by .ci/full, which installs the wheel: python triton_wheel.py"""

import random

import lanebook as lb
from lanebook import bridges
from triton._C.libtriton.linear_layout import LinearLayout

random.seed(7)
tried = 0
for _ in range(60):
    rows, columns = random.choice([(16, 8), (32, 16), (8, 64), (64, 64)])
    units = [[1 << k, 0] for k in range(rows.bit_length() - 1)] + [[0, 1 << k] for k in range(columns.bit_length() - 1)]
    random.shuffle(units)
    lanes = 5
    if len(units) < lanes:
        continue
    warps = min(2, len(units) - lanes)
    bases = [("register", units[lanes + warps :]), ("lane", units[:lanes]), ("warp", units[lanes : lanes + warps])]
    theirs = LinearLayout.from_bases(bases, ["dim0", "dim1"], [rows, columns], True)
    ours = bridges.from_triton(theirs)
    assert bridges.to_linear(ours) == dict(bases), (bases, str(ours))
    for _ in range(20):
        at = {"register": random.randrange(1 << len(bases[0][1])), "lane": random.randrange(32), "warp": random.randrange(1 << warps)}
        element = theirs.apply(at)
        place = ours(element["dim0"], element["dim1"])
        place = place if isinstance(place, dict) else {ours.axes[0]: place}
        assert [place.get(axis, 0) for axis in ("register", "laneid", "warpid")] == list(at.values()), (bases, at, place)
        tried += 1
print(f"Triton's LinearLayout: {tried} elements of random layouts lie where it says")
assert tried >= 800
