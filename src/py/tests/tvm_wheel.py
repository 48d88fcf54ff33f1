"""The bridge to TVM against TVM's own objects. Run by .ci/full, which installs the wheel: python tvm_wheel.py"""

import random

import lanebook as lb
from lanebook import bridges
from tvm.tirx.layout import Iter, TileLayout

random.seed(11)
AXES = ["m", "laneid", "warpid", "tid_in_wg", "tx"]


def places(theirs, shape):
    """Positions of all elements, by TVM itself."""
    size = 1
    for extent in shape:
        size *= extent
    return [{axis: int(n) for axis, n in theirs.apply(x).items()} for x in range(size)]


tried = 0
for _ in range(150):
    shape = [random.choice([2, 3, 4, 8]) for _ in range(random.randint(1, 4))]
    iters = [Iter(extent, random.choice([1, 2, 3, 4, 16]), random.choice(AXES)) for extent in shape]
    copies = [Iter(2, 32, "tx")] if random.random() < 0.3 else []
    offset = {random.choice(AXES): random.randint(1, 7)} if random.random() < 0.4 else {}
    theirs = TileLayout.from_iters(iters, copies, offset)
    ours = bridges.from_tvm(theirs)
    assert list(ours.shape) == shape, (str(theirs), ours.shape)
    for x, wanted in enumerate(places(theirs, shape)):
        at, rest = [], x
        for extent in reversed(shape):
            at.insert(0, rest % extent)
            rest //= extent
        found = ours.places(*at)[0]
        assert {axis: found.get(axis, 0) for axis in wanted} == wanted, (str(theirs), str(ours), at, found)
        tried += 1
    assert str(bridges.to_tvm(ours)) == str(theirs), (str(theirs), str(ours))
# An axis that TVM does not have, and a layout that counts the other way round.
for text in ["mma.m16n8k16.f32.f16.D", "(8,4):(4,1)", "S<3,4,3> o (8,64):(64,1)"]:
    try:
        made = bridges.to_tvm(lb.layout(text))
    except lb.LanebookError:
        continue
    raise AssertionError(f"{text} became {made}")
print(f"TVM's TileLayout: {tried} elements of random layouts lie where it says, and all come back as they were")
assert tried >= 2000
