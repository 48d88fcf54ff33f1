"""The bridge to TileLang against TileLang's own objects. Run by .ci/full, which installs the wheel: python tilelang_wheel.py

TileLang imports torch, of which a fragment uses nothing: an empty module stands in for it, so that gigabytes are not installed."""

import importlib.abc
import importlib.machinery
import random
import sys
import types


class Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (), {})


class Empty(types.ModuleType):
    __path__: list = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (), {"__init__": lambda *_, **__: None, "__call__": lambda _, function=None, *__: function})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "torch":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Empty(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())

import lanebook as lb  # noqa: E402
from lanebook import bridges  # noqa: E402
from tilelang.language import Fragment  # noqa: E402

random.seed(5)


def theirs_at(fragment, point):
    """Thread and local index of an element, by TileLang."""
    [thread] = fragment.map_forward_thread(list(point))
    return int(thread), [int(n) for n in fragment.map_forward_index(list(point))]


MAPS = [
    ((16, 8), lambda i, j: (i % 8 * 4 + j // 2, i // 8 * 2 + j % 2)),
    ((32, 32), lambda i, j: (i, j)),
    ((64,), lambda i: (i // 4, i % 4)),
    ((8, 4, 16), lambda i, j, k: (i * 16 + k, j)),
    ((128, 8), lambda i, j: (i % 64 * 2 + j // 4, i // 64 * 4 + j % 4)),
]
tried = 0
for shape, forward in MAPS:
    theirs = Fragment(list(shape), forward_fn=forward)
    ours = bridges.from_tilelang(theirs)
    assert ours.shape == shape, repr(theirs)
    back = bridges.to_tilelang(ours)
    for _ in range(200):
        point = tuple(random.randrange(extent) for extent in shape)
        thread, [index] = theirs_at(theirs, point)
        found = ours.places(*point)[0]
        assert (found.get("tx", 0), found.get("m", 0)) == (thread, index), (repr(theirs), str(ours), point)
        assert theirs_at(back, point) == (thread, [index]), (repr(theirs), repr(back), point)
        tried += 1

# By threads alone: what they leave open is the local index, counted alike.
for shape, forward in [((16, 8), lambda i, j: i % 8 * 4 + j // 2), ((64, 16), lambda i, j: (i * 16 + j) // 8)]:
    theirs = Fragment(list(shape), forward_thread_fn=forward)
    ours = bridges.from_tilelang(theirs)
    for i in range(shape[0]):
        for j in range(shape[1]):
            thread, [index] = theirs_at(theirs, (i, j))
            found = ours.places(i, j)[0]
            assert (found.get("tx", 0), found.get("m", 0)) == (thread, index), (repr(theirs), str(ours), i, j)
            tried += 1

# Copies, warps, and registers counted in bits.
copied = Fragment([8], forward_thread_fn=lambda i, rep: i + 8 * rep, replicate=4)
ours = bridges.from_tilelang(copied)
assert sorted(place["tx"] for place in ours.places(3)) == [3, 11, 19, 27], (repr(copied), str(ours))
back = bridges.from_tilelang(bridges.to_tilelang(ours))
assert sorted(place["tx"] for place in back.places(3)) == [3, 11, 19, 27], str(back)
accumulators = bridges.to_tilelang(lb.atom("mma.m16n8k16.f32.f16").D)
assert all(theirs_at(accumulators, (i, j)) == (i % 8 * 4 + j // 2, [i // 8 * 2 + j % 2]) for i in range(16) for j in range(8))
blocked = lb.layout("#ttg.blocked<{sizePerThread=[1,4],threadsPerWarp=[8,4],warpsPerCTA=[4,1],order=[1,0]}> @ 32x16")
spread = bridges.to_tilelang(blocked, lanes=32)
assert theirs_at(spread, (9, 6)) == (32 + 4 + 1, [2]), repr(spread)
for refused in [lambda: bridges.to_tilelang(blocked), lambda: bridges.to_tilelang(lb.layout("(8,4):(4,1)"))]:
    try:
        refused()
    except lb.LanebookError:
        continue
    raise AssertionError("it became a fragment")
print(f"TileLang's Fragment: {tried} elements lie where it says, both ways")
