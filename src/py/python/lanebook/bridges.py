"""Layouts from and to the objects of other packages. None of them is needed to import this.

>>> import lanebook as lb
>>> d = lb.atom("mma.m16n8k16.f32.f16").D
>>> lb.bridges.to_linear(d)["lane"]
[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]
>>> lb.bridges.from_linear(lb.bridges.to_linear(d), (16, 8))(3, 5)
{'register': 1, 'laneid': 14}
>>> lb.bridges.to_cute(lb.layout("((2,2),4):((1,2),4)"))
(((2, 2), 4), ((1, 2), 4))
"""

from __future__ import annotations

import ast as _ast
import re as _re
from typing import Any, Iterable, Mapping

from . import Layout, LanebookError

#: Triton's names of dimensions, and the axes that they are.
_AXES = {"register": "register", "lane": "laneid", "warp": "warpid"}


def _cute(part: Any) -> str:
    if isinstance(part, (tuple, list)):
        return "(" + ",".join(_cute(inner) for inner in part) + ")"
    return str(int(part))


def from_cute(shape: Any, stride: Any) -> Layout:
    """CuTe's layout of a shape and strides: integers, or tuples of them in tuples."""
    return Layout(f"{_cute(shape)}:{_cute(stride)}")


def from_pycute(layout: Any) -> Layout:
    """The layout of a `pycute.Layout` (or of whatever else has `shape` and `stride`)."""
    return from_cute(layout.shape, layout.stride)


def _unshaped(layout: Layout) -> str:
    """The layout's text without the shape behind it, which says how coordinates are counted."""
    return _re.sub(r" @ \d+(x\d+)*$", "", str(layout))


def to_cute(layout: Layout) -> tuple[Any, Any]:
    """Shape and strides, as tuples. Raises where they do not say all: a swizzle, axes of lanes or registers, symbols."""
    text = _unshaped(layout)
    shape, colon, stride = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return _ast.literal_eval(shape), _ast.literal_eval(stride)
    except (ValueError, SyntaxError):
        raise LanebookError(f"{text} is more than a shape with strides") from None


def to_pycute(layout: Layout) -> Any:
    """The `pycute.Layout`; pycute is in NVIDIA's package `nvidia-cutlass`."""
    import pycute

    return pycute.Layout(*to_cute(layout))


def from_linear(bases: Mapping[str, Iterable[Any]] | Iterable[tuple[str, Iterable[Any]]], shape: Iterable[int]) -> Layout:
    """The layout of linear bases, as Triton has them: for `register`, `lane` and `warp` (of distributed tensors), or for `offset` (of shared
    memory), the coordinates that each bit of that number stands for. `shape`: the tile's extents. Of a distributed tensor each basis is a single
    bit of one coordinate or nothing, as Triton demands of its linear encoding."""
    named = {name: [list(map(int, basis)) for basis in own] for name, own in dict(bases).items()}
    block = named.pop("block", [])
    if any(any(basis) for basis in block):
        raise LanebookError("a tile spread over blocks of a cluster is no layout here: blocks do not exchange registers")
    tile = "x".join(str(int(extent)) for extent in shape)
    if set(named) == {"offset"}:
        return Layout(f"#ttg.shared_linear<{{offset = {named['offset']}}}, alignment = 16> @ {tile}")
    unknown = set(named) - set(_AXES)
    if unknown:
        raise LanebookError(f"no dimension of a distributed tensor is called {sorted(unknown)[0]!r}; there are register, lane, warp and block")
    parts = ", ".join(f"{name} = {named.get(name, [])}" for name in _AXES)
    return Layout(f"#ttg.linear<{{{parts}, block = []}}> @ {tile}")


def from_triton(layout: Any) -> Layout:
    """The layout of Triton's `LinearLayout` (whatever has `bases` and `out_dims`)."""
    return from_linear(layout.bases, [extent for _, extent in layout.out_dims])


def to_linear(layout: Layout) -> dict[str, list[list[int]]]:
    """The linear bases of a distributed layout, by Triton's names: coordinates by bits of `register`, `lane` and `warp`.

    Raises where the layout is of memory, or is not linear over bits."""
    facts = layout._facts
    axes = {axis["axis"]: axis["last"] for axis in facts["axes"]}
    width = 1
    if "bit" in axes:
        width = int(facts.get("element_bits") or 1)
    names = {"register": "bit" if "bit" in axes else "register", "lane": "laneid", "warp": "warpid"}
    strange = set(axes) - set(names.values())
    if strange:
        raise LanebookError(f"this is no distribution over registers, lanes and warps: it has positions on axis {sorted(strange)[0]}")

    def element(**at: int) -> list[int]:
        found = layout.where(**{axis: at.get(axis, 0) for axis in axes})
        if len(found) != 1:
            raise LanebookError("not every register of every lane has one element: this is no linear layout")
        return list(found[0])

    def bases(name: str) -> list[list[int]]:
        axis, step = names[name], width if name == "register" else 1
        count = axes.get(axis, 0) // step + 1
        if count & (count - 1):
            raise LanebookError(f"{count} positions on axis {axis} are no power of two: this is no linear layout")
        return [element(**{axis: step << bit}) for bit in range(count.bit_length() - 1)]

    if any(element()):
        raise LanebookError("the first register of lane 0 does not hold the first element: this is no linear layout")
    out = {name: bases(name) for name in names}
    if from_linear(out, layout.shape) != _with_registers(layout, axes, width):
        raise LanebookError("bits of registers, lanes and warps do not add up: this is no linear layout")
    return out


def _with_registers(layout: Layout, axes: Mapping[str, int], width: int) -> Layout:
    """The same with elements counted in place of bits."""
    if "bit" not in axes:
        return layout
    text = str(layout)

    def counted(found: Any) -> str:
        bits = int(found.group(1))
        if bits % width:
            raise LanebookError("an element begins in the middle of another one's place: this is no linear layout")
        return f"{bits // width}@register"

    return Layout(_re.sub(r"(\d+)\s*@\s*bit\b", counted, text))


def _apart(text: str, sign: str) -> list[str]:
    """The parts of a text between a sign that stands in no bracket."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == sign and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()]


#: An extent, a stride and the stride's axis.
_Iter = tuple[int, int, str]


def _step(text: str) -> tuple[int, str]:
    number, _, axis = text.partition("@")
    return int(number), axis.strip() or "m"


def _iters(layout: Layout) -> tuple[list[_Iter], list[_Iter], list[tuple[int, str]]]:
    """Iters (the last is the fastest), those of copies, and offsets, of a layout that TIRx's notation says with numbers alone."""
    parts: dict[str, list[_Iter]] = {"S": [], "R": []}
    offsets = []
    try:
        for part in _apart(_unshaped(layout), "+"):
            if not part.endswith("]"):
                offsets.append(_step(part))
                continue
            extents, strides = ([one.strip("() ") for one in _apart(side.strip("()"), ",")] for side in _apart(part[2:-1], ":"))
            parts[part[0]] += [(int(extent), *_step(stride)) for extent, stride in zip(extents, strides, strict=True)]
    except (KeyError, ValueError):
        raise LanebookError(f"{layout} is more than extents with strides on axes") from None
    return parts["S"], parts["R"], offsets


def from_tvm(layout: Any) -> Layout:
    """The layout of a `tvm.tirx` `TileLayout` or `ComposeLayout`, as it prints itself."""
    return Layout(str(layout))


def to_tvm(layout: Layout) -> Any:
    """The `TileLayout` of `tvm.tirx.layout`; the package is apache-tvm. Raises of a swizzle, of symbols and of a notation without axes
    whose first coordinate is the fastest (CuTe's)."""
    from tvm.tirx.layout import Axis, Iter, TileLayout

    if not layout._facts["row_major"]:
        raise LanebookError(f"{layout} counts its first coordinate fastest, and a TileLayout its last one: write it as S[..]")
    shard, copies, offsets = _iters(layout)

    def named(axis: str) -> Any:
        found = getattr(Axis, axis, None)
        if found is None:
            raise LanebookError(f"TVM has no axis {axis}")
        return found

    made = [[Iter(extent, stride, named(axis)) for extent, stride, axis in part] for part in (shard, copies)]
    return TileLayout.from_iters(*made, {named(axis): offset for offset, axis in offsets})


def from_tilelang(fragment: Any) -> Layout:
    """The layout of TileLang's `Fragment`, as it prints itself: threads on axis `tx`, local indices on `m`. Raises of a map that no
    strides say."""
    return Layout(repr(fragment))


def to_tilelang(layout: Layout, lanes: int | None = None) -> Any:
    """TileLang's `Fragment`: the thread and the local index of each element, and copies on further threads. `lanes` of a warp are needed
    where the layout has warps."""
    from tilelang.language import Fragment

    shape, thread, index, copies = _as_fragment(layout, lanes)
    flat = _flat(shape)

    def forward(*point: Any) -> tuple[Any, Any]:
        # With copies TileLang's last argument is their loop's variable with its range.
        coordinates, copy = point[: len(shape)], [getattr(one, "var", one) for one in point[len(shape) :]]
        at = flat(coordinates)
        moved = _sum(copy[0], copies) if copy else 0
        return _sum(at, thread) + moved, _sum(at, index)

    replicate = 1
    for _, extent, _ in copies:
        replicate *= extent
    return Fragment(list(shape), forward_fn=forward, replicate=replicate)


#: A digit of a number: what it is divided by, its extent, and what a step of it is worth.
_Digit = tuple[int, int, int]


def _flat(shape: tuple[int, ...]) -> Any:
    def number(coordinates: Iterable[Any]) -> Any:
        out: Any = 0
        for extent, x in zip(shape, coordinates, strict=True):
            out = out * extent + x
        return out

    return number


def _sum(number: Any, digits: list[_Digit]) -> Any:
    out: Any = 0
    for weight, extent, step in digits:
        out = out + number // weight % extent * step
    return out


def _as_fragment(layout: Layout, lanes: int | None) -> tuple[tuple[int, ...], list[_Digit], list[_Digit], list[_Digit]]:
    """Shape; digits of the row-major number of an element that move the thread, and the local index; digits of the copy's number."""
    facts = layout._facts
    if not facts["row_major"]:
        raise LanebookError(f"{layout} counts its first coordinate fastest, and a Fragment its last one: write it as S[..]")
    shard, replicas, offsets = _iters(layout)
    if any(offset for offset, _ in offsets):
        raise LanebookError(f"{layout} begins behind thread 0 or its first register, and a Fragment there")
    width = int(facts.get("element_bits") or 1)

    def moves(stride: int, axis: str) -> tuple[bool, int]:
        if axis in ("tx", "laneid", "tid_in_wg"):
            return True, stride
        if axis in ("warpid", "wid_in_wg"):
            if lanes is None:
                raise LanebookError("the layout has warps: say of how many lanes they are, such as lanes=32")
            return True, stride * lanes
        if axis in ("m", "register"):
            return False, stride
        if axis == "bit" and stride % width == 0:
            return False, stride // width
        raise LanebookError(f"a Fragment has threads and local indices, and the layout positions on axis {axis}")

    thread: list[_Digit] = []
    index: list[_Digit] = []
    weight = 1
    for extent, stride, axis in reversed(shard):
        if stride:
            threads, step = moves(stride, axis)
            (thread if threads else index).append((weight, extent, step))
        weight *= extent
    copies: list[_Digit] = []
    weight = 1
    for extent, stride, axis in reversed(replicas):
        threads, step = moves(stride, axis)
        if not threads:
            raise LanebookError("a Fragment's copies are on other threads, and the layout has some in a thread's own registers")
        copies.append((weight, extent, step))
        weight *= extent
    return layout.shape, thread, index, copies
