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


def to_cute(layout: Layout) -> tuple[Any, Any]:
    """Shape and strides, as tuples. Raises where they do not say all: a swizzle, axes of lanes or registers, symbols."""
    text = str(layout)
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
    import re

    def counted(found: Any) -> str:
        bits = int(found.group(1))
        if bits % width:
            raise LanebookError("an element begins in the middle of another one's place: this is no linear layout")
        return f"{bits // width}@register"

    return Layout(re.sub(r"(\d+)\s*@\s*bit\b", counted, text))
