"""GPU data layouts, by the book.

>>> import lanebook as lb
>>> a = lb.layout("(8,4):(4,1)")
>>> a(3, 1)
13
>>> str(a.logical_divide("(2,2)"))
'((2,4),(2,2)):((4,8),(1,2))'
>>> lb.atom("mma.m16n8k16.f32.f16").D(3, 5)
{'bit': 32, 'laneid': 14}
>>> lb.conflicts("(64,64):(64,1)", "ldmatrix", "f16", "sm_90")["free_swizzle"]
'S<3,3,3>'

Every function asks a query of the language that `lanebook ask` speaks; `lb.ask` takes one as it is.
"""

from __future__ import annotations

import json as _json
from dataclasses import dataclass
from typing import Any

from ._lanebook import LanebookError, __version__, architectures
from . import _lanebook

__all__ = [
    "Answer",
    "Atom",
    "Inferred",
    "Kernel",
    "LanebookError",
    "Layout",
    "Linted",
    "Snippet",
    "architectures",
    "ask",
    "atom",
    "bridges",
    "compile",
    "conflicts",
    "convert",
    "infer",
    "layout",
    "lint",
]


class Answer(dict):
    """The answer to a query: a dictionary, as JSON has it; `str()` is the text for people."""

    def __init__(self, query: str, arch: str | None) -> None:
        super().__init__(_json.loads(_lanebook.ask(query, arch, True)))
        self.query = query
        self.arch = arch

    def __str__(self) -> str:
        return _lanebook.ask(self.query, self.arch, False).rstrip("\n")


def ask(query: str, arch: str | None = None) -> Answer:
    """Answers a query.

    `arch` is the architecture where the query does not say `on ARCH`. Raises `LanebookError` with the line, the column,
    what is wrong and what to do about it.
    """
    return Answer(query, arch)


class Layout:
    """A layout: from a coordinate to positions on axes. Units are those of the notation that it was written in."""

    def __init__(self, text: str, arch: str | None = None) -> None:
        found = Answer(text, arch)
        if found["kind"] != "layout":
            raise LanebookError(f"this is no layout but: {found['kind']}")
        self._facts = found
        self._query = text
        self.arch = arch

    def __str__(self) -> str:
        return self._facts["text"]

    def __repr__(self) -> str:
        return f"lanebook.layout({str(self)!r})"

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def to_svg(self, full: bool = False) -> str:
        """The picture as SVG: who has each element. Of a large tile that repeats, the part alone unless `full`."""
        return _lanebook.picture(self._query, self.arch, full)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the coordinates, as written."""
        return tuple(self._facts["shape"])

    @property
    def size(self) -> int:
        """Elements."""
        return self._facts["size"]

    @property
    def element_bits(self) -> int:
        """Bits of an element; 0 where they are not known."""
        return self._facts.get("element_bits", 0)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes of positions."""
        return tuple(axis["axis"] for axis in self._facts["axes"])

    @property
    def is_injective(self) -> bool:
        """Whether no two elements meet."""
        return self._facts["injective"]

    @property
    def cosize(self) -> int:
        """The greatest position on axis `m`, and 1."""
        return self._ask(f"cosize({self._query})")["value"]

    def _ask(self, query: str) -> Answer:
        return Answer(query, self.arch)

    def places(self, *coordinate: int) -> list[dict[str, int]]:
        """Where an element lies: a dictionary from axis to position for each copy."""
        numbers = ", ".join(str(int(x)) for x in coordinate)
        return self._ask(f"{self._query} at ({numbers})")["places"]

    def __call__(self, *coordinate: int) -> Any:
        """Where an element lies, at its first copy: a number where there is one axis, else a dictionary by axis."""
        first = {axis: n for axis, n in self.places(*coordinate)[0].items() if axis in self.axes}
        return first[self.axes[0]] if len(self.axes) == 1 else first

    def where(self, **position: int) -> list[tuple[int, ...]]:
        """The elements at a position: `where(lane=3, register=1)`."""
        parts = " ".join(f"{axis} {int(n)}" for axis, n in position.items())
        found = self._ask(f"{self._query} where {parts}")["elements"]
        return [tuple(element) for element in found]

    def _with(self, function: str, *arguments: Any) -> Layout:
        text = ", ".join([self._query, *(_written(argument) for argument in arguments)])
        made = Layout(f"{function}({text})", self.arch)
        # As it is written: what is asked next does not compute it again.
        return Layout(str(made), self.arch)

    def compose(self, other: Any) -> Layout:
        """self after other: x -> self(other(x))."""
        return self._with("compose", other)

    def complement(self, size: int | None = None) -> Layout:
        """What fills the gaps, up to a size."""
        return self._with("complement", *([] if size is None else [size]))

    def coalesce(self) -> Layout:
        """The same map of fewest modes."""
        return self._with("coalesce")

    def inverse(self) -> Layout:
        """The exact inverse."""
        return self._with("inverse")

    def right_inverse(self) -> Layout:
        """The greatest layout R with self(R(x)) = x."""
        return self._with("right_inverse")

    def left_inverse(self) -> Layout:
        """A layout L with L(self(x)) = x."""
        return self._with("left_inverse")

    def logical_divide(self, tiler: Any) -> Layout:
        """Tiles and the rest, mode by mode."""
        return self._with("logical_divide", tiler)

    def zipped_divide(self, tiler: Any) -> Layout:
        """All tiles first, then all rests."""
        return self._with("zipped_divide", tiler)

    def logical_product(self, tiler: Any) -> Layout:
        """Repeated as the tiler says."""
        return self._with("logical_product", tiler)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        if self.size != other.size:
            return False
        return self._ask(f"equal({self._query}, {other._query})")["equal"]

    __hash__ = None  # type: ignore[assignment]

    def to_numpy(self, axis: str | None = None) -> Any:
        """Positions of all elements on an axis (the only one, else `m`), of the layout's shape. Needs numpy."""
        import numpy

        axis = axis or (self.axes[0] if len(self.axes) == 1 else "m")
        flat = numpy.array(_lanebook.table(self._query, axis, self.arch), dtype=numpy.int64)
        return flat.reshape(self.shape, order=self._order())

    def apply(self, array: Any) -> Any:
        """An array of the layout's shape as it lies in memory (axis `m`); places without an element are 0. Needs numpy."""
        import numpy

        array = numpy.asarray(array).reshape(self.shape, order=self._order())
        places = self.to_numpy("m")
        out = numpy.zeros(int(places.max()) + 1, dtype=array.dtype)
        out[places.ravel()] = array.ravel()
        return out

    def _order(self) -> str:
        return "C" if self._facts["row_major"] else "F"


def _written(argument: Any) -> str:
    if isinstance(argument, Layout):
        return argument._query
    if isinstance(argument, (tuple, list)):
        return "(" + ",".join(_written(part) for part in argument) + ")"
    return str(argument)


def layout(text: str, arch: str | None = None) -> Layout:
    """The layout that a text spells, in any notation: CuTe, TIRx, TileAS, Triton's encodings with a shape, an
    instruction's operand, or a function of them."""
    return Layout(text, arch)


class Atom:
    """An instruction; `.A`, `.B`, `.C`, `.D` of a product and `.source`, `.target` of a movement are layouts."""

    def __init__(self, name: str, arch: str | None = None) -> None:
        self.name = name
        self.arch = arch
        self._facts = Answer(f'atom("{name}")', arch)

    def __repr__(self) -> str:
        return f"lanebook.atom({self.name!r})"

    @property
    def parts(self) -> dict[str, str]:
        """The parts that have a layout, as text."""
        return self._facts["parts"]

    def part(self, name: str) -> Layout:
        """The layout of a part."""
        return Layout(f'atom("{self.name}").{name}', self.arch)

    @property
    def A(self) -> Layout:
        """The left factor: (row, depth)."""
        return self.part("A")

    @property
    def B(self) -> Layout:
        """The right factor: (depth, column)."""
        return self.part("B")

    @property
    def C(self) -> Layout:
        """What is added: (row, column)."""
        return self.part("C")

    @property
    def D(self) -> Layout:
        """The result: (row, column)."""
        return self.part("D")

    @property
    def source(self) -> Layout:
        """Where a movement reads."""
        return self.part("from")

    @property
    def target(self) -> Layout:
        """Where a movement writes."""
        return self.part("to")


def atom(name: str, arch: str | None = None) -> Atom:
    """An instruction by its name."""
    return Atom(name, arch)


def conflicts(
    tile: Any, access: Any, element: str, arch: str, walk: str | None = None
) -> Answer:
    """Bank conflicts of a tile in shared memory under an instruction or a distribution over lanes and registers.

    `walk` is `rows` or `along` (how address slots walk), or an instruction that writes the tile from one address.
    """
    arguments = [_written(tile), _written(access), element] + ([walk] if walk else [])
    return Answer(f"conflicts({', '.join(arguments)})", arch)


@dataclass(frozen=True)
class Kernel:
    """A compiled tile program.

    `text` is what an assembler takes; `report` says what was decided and why; `launch` is what a launcher must know, as
    `lanebook compile --format json` has it: parameters with their offsets and sizes in bytes, grid, threads of a block,
    bytes of shared memory, tensor maps.
    """

    text: str
    report: str
    launch: dict

    @property
    def name(self) -> str:
        """The kernel's name in the text."""
        return self.launch["kernel"]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.launch["threads"]

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block, static and dynamic."""
        return self.launch["static_shared_bytes"] + self.launch["dynamic_shared_bytes"]


def compile(program: str, arch: str, explain: bool = False, *, function: str | None = None, **arguments: int) -> Kernel:
    """Compiles a tile program's text for an architecture; with `explain` the report says why each candidate lost.

    `function` says which one is the kernel, where several may be launched. `arguments` are values of the program's index arguments, for which the blocks of its grid are counted. Raises
    `LanebookError` with what `lanebook compile` says: the place, what is wrong, what to do.
    """
    text, report, launch = _lanebook.compile(program, arch, explain, function, list(arguments.items()))
    return Kernel(text, report, _json.loads(launch))


class Snippet(dict):
    """Instructions for the middle of another program, and what is where, as `lanebook convert --emit json` has it; `str()` is
    the instructions."""

    def __str__(self) -> str:
        return self["text"]

    @property
    def inputs(self) -> list[dict]:
        """What it takes: the tile, and where its scratch begins in shared memory."""
        return self["inputs"]

    @property
    def outputs(self) -> list[dict]:
        """What it makes: the tile."""
        return self["outputs"]

    @property
    def scratch_bytes(self) -> int:
        """Bytes of shared memory that it uses."""
        return self["scratch_bytes"]

    @staticmethod
    def element(tile: dict, place: int, lane: int, warp: int = 0) -> tuple[int, int]:
        """Row and column of the element at a place of a lane of a warp; the place begins `place * place_bits` bits behind the
        first register's begin."""
        row = column = 0
        numbers = {"place": place, "lane": lane, "warp": warp}
        for key, number in numbers.items():
            for bit, (r, c) in enumerate(tile["elements"][key]):
                if number >> bit & 1:
                    row, column = row ^ r, column ^ c
        return row, column


def _warps_of(side: Any) -> str:
    return f" on {side.arch}" if isinstance(side, Layout) and side.arch else ""


def convert(
    source: Any,
    target: Any,
    shape: tuple[int, ...],
    dtype: str,
    arch: str,
    threads: int | None = None,
    split: str = "halves",
    scratch: int | None = None,
) -> Snippet:
    """A conversion of a register tile between two layouts, in any notation, by itself.

    `on ARCH` behind a layout says of which architecture's warps it is; `split` says how two warps of 32 lie in a wave of 64:
    "halves" (the first is the lower half) or "interleaved" (the first is the even lanes). `scratch` are the most bytes of shared
    memory that it may go through, in rounds where the tile has more; without it as many as the tile has.

    >>> made = convert("mma.m16n8k16.f32.f16.D", "S[(16,2,4):(2@laneid,1@laneid,32@bit)]", (16, 8), "f32", "sm_80")
    >>> made.scratch_bytes, made.element(made.outputs[0], 3, 5)
    (0, (2, 7))
    """
    texts = [_written(side) + _warps_of(side) for side in (source, target)]
    return Snippet(_json.loads(_lanebook.convert(*texts, list(shape), dtype, arch, threads, split, scratch)))


class Inferred(dict):
    """Layouts of a program's loops and fragments, everything by name; `str()` is the program with them."""

    def __init__(self, program: str, arch: str, function: str | None) -> None:
        super().__init__(_json.loads(_lanebook.infer(program, arch, function, False, True)))
        self.program = program
        self.arch = arch
        self.function = function

    def __str__(self) -> str:
        return _lanebook.infer(self.program, self.arch, self.function, False, False)

    def explain(self) -> str:
        """The program with its layouts, and every question that was asked of an operator behind it."""
        return _lanebook.infer(self.program, self.arch, self.function, True, False)


def infer(program: str, arch: str, *, function: str | None = None) -> Inferred:
    """Infers the layouts of a program's parallel loops and fragments, as `lanebook infer` does; `function` says of which one,
    where several may be launched."""
    return Inferred(program, arch, function)


class Linted(dict):
    """What is costly or wrong in a program, as `lanebook lint --format json` has it; `str()` is the text for people."""

    def __init__(self, program: str, arch: str | None, name: str) -> None:
        self._text, found = _lanebook.lint(program, arch, name)
        super().__init__(_json.loads(found))

    def __str__(self) -> str:
        return self._text

    @property
    def findings(self) -> list[dict]:
        """By line: `line`, `column`, `severity` ("wrong", "costly", "note"), `check`, `op`, `what`, `remedy`, `query` (what
        shows it again, for `lanebook.ask`) and `figures` (the numbers by name)."""
        return self["findings"]


def lint(ttgir: str, arch: str | None = None, name: str = "program") -> Linted:
    """What is costly or wrong in a program whose tiles have layouts, line by line: Triton's TTGIR as it is printed
    (`str(compiled.asm["ttgir"])`).

    `arch` is the architecture; without it the one that the module names. `name` stands before the lines of the text.
    Raises `LanebookError` where the text is no program.

    >>> found = lint('''
    ... #rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
    ... #columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
    ... tt.func @f(%x: tensor<64x64xf32, #rows>) {
    ...   %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    ...   tt.return
    ... }''', "sm_90")
    >>> [(one["line"], one["check"], one["figures"]["other_warp"]) for one in found.findings]
    [(5, 'conversion', 3072)]
    """
    return Linted(ttgir, arch, name)


from . import bridges  # noqa: E402  (it stands on what is above)
