"""Checks other projects' tables of matrix instructions against lanebook's: tinygrad's tensor cores and CubeCL's lane maps.

    python src/py/examples/peers.py              a line for each operand of each instruction
    python src/py/examples/peers.py tinygrad     of one project

A map is from a lane and the number of an element among the lane's own to the element's row and column. The order of the depth is
a convention between the two factors: they agree where one exchange of depths, the same for both, makes them lanebook's.
Exit status 1 where a map differs.
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from typing import Callable, Iterator

import lanebook as lb

HERE = pathlib.Path(__file__).resolve().parent

# (lane, element's number) -> (row, column)
Map = dict[tuple[int, int], tuple[int, int]]


def instruction(arch: str, shape: tuple[int, int, int], types: tuple[str, str, str]) -> lb.Atom | None:
    """The dense instruction of these extents (m, n, k) and types of a, b and c."""
    for one in lb.ask(f"products({', '.join(types)})", arch)["products"]:
        if tuple(one["shape"]) != shape:
            continue
        atom = lb.atom(one["name"], arch)
        # Sparse and scaled instructions have more operands, or fewer elements of A.
        if atom.A.size == shape[0] * shape[2]:
            return atom
    return None


def of_layout(layout: lb.Layout) -> Map:
    """An operand of an instruction as a map."""
    rows, columns = layout.shape
    held: dict[int, list[tuple[int, int, int]]] = {}
    for row in range(rows):
        for column in range(columns):
            for place in layout.places(row, column):
                held.setdefault(place["laneid"], []).append((place["bit"], row, column))
    # A lane's elements in the order of its registers' bits.
    return {
        (lane, number): (row, column)
        for lane, own in held.items()
        for number, (_, row, column) in enumerate(sorted(own))
    }


def tinygrad(core: dict) -> tuple[Map, Map, Map]:
    """The operands of one of tinygrad's tensor cores: A (m, k), B (k, n), C (m, n)."""
    n, m, k = core["n_m_k"]
    # Which bit of which dimension an axis is.
    axes: dict[str, tuple[str, int]] = {}
    counts = {"l": 0, "u": 0, "0": 0, "1": 0}
    for step in core["steps"]:
        kind, dimension = step
        axes[f"{kind}{counts[kind]}"] = ("nm"[int(dimension)], counts[dimension])
        counts[kind] += 1
        counts[dimension] += 1
    for bit in range(int(math.log2(k))):
        axes[f"r{bit}"] = ("k", bit)
    locals_ = [f"l{bit}" for bit in range(counts["l"])]
    upcasts = [f"u{bit}" for bit in range(counts["u"])]

    def operand(lanes: list[str], registers: list[str], row: str, column: str) -> Map:
        # Bits of a register's number are those that the operand has.
        own = [axis for axis in registers if axes[axis][0] in (row, column)]
        out: Map = {}
        for lane in range(2 ** len(lanes)):
            for number in range(2 ** len(own)):
                at = {"m": 0, "n": 0, "k": 0}
                for bit, axis in enumerate(lanes):
                    at[axes[axis][0]] |= (lane >> bit & 1) << axes[axis][1]
                for bit, axis in enumerate(own):
                    at[axes[axis][0]] |= (number >> bit & 1) << axes[axis][1]
                out[lane, number] = (at[row], at[column])
        return out

    a, b = core["a"], core["b"]
    # The reduced axes are the innermost of a lane's registers.
    return (
        operand(a[0], a[2] + a[1], "m", "k"),
        operand(b[0], b[2] + b[1], "k", "n"),
        operand(locals_, upcasts, "m", "n"),
    )


def cubecl(one: dict, atom: lb.Atom) -> tuple[Map, Map, Map]:
    """The operands of one of CubeCL's instructions."""
    m, n, k = one["m_n_k"]
    out = []
    for key, layout in (("a", atom.A), ("b", atom.B), ("c", atom.D)):
        row, column = (compile(text, key, "eval") for text in one[key])
        names = {"m": m, "n": n, "k": k, "e": 32 // layout.element_bits}
        found: Map = {}
        for lane, i in of_layout(layout):
            at = {**names, "lane": lane, "i": i}
            found[lane, i] = (eval(row, {}, at), eval(column, {}, at))
        out.append(found)
    return out[0], out[1], out[2]


def exchange(theirs: Map, ours: Map, depth: int) -> dict[int, int] | None:
    """Which depth of ours each depth of theirs is; None if no exchange of depths makes one the other."""
    if theirs.keys() != ours.keys():
        return None
    found: dict[int, int] = {}
    for place, element in theirs.items():
        own = ours[place]
        if element[1 - depth] != own[1 - depth] or found.setdefault(element[depth], own[depth]) != own[depth]:
            return None
    return found if len(set(found.values())) == len(found) else None


def verdicts(theirs: tuple[Map, Map, Map], atom: lb.Atom) -> list[tuple[str, str]]:
    """For each operand "agrees", or how it differs."""
    a, b = exchange(theirs[0], of_layout(atom.A), 1), exchange(theirs[1], of_layout(atom.B), 0)
    same = a == b
    word = lambda found: "differs" if found is None else "agrees" if same or a is None or b is None else "another order of the depth"
    result = "agrees" if theirs[2] == of_layout(atom.D) else "differs"
    return [("A", word(a)), ("B", word(b)), ("C", result)]


def lines(project: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Project, architecture, instruction, operand, verdict."""
    data = json.loads((HERE / f"{project}.json").read_text())
    if project == "tinygrad":
        cases: list[tuple] = [
            (core, arch, (core["n_m_k"][1], core["n_m_k"][0], core["n_m_k"][2]), (source, source, result))
            for core in data["cores"]
            for arch in core["archs"]
            for source, result in core["types"]
        ]
    else:
        cases = [(one, arch, tuple(one["m_n_k"]), tuple(one["types"])) for one in data["maps"] for arch in one["archs"]]
    for one, arch, shape, types in cases:
        atom = instruction(arch, shape, types)
        if atom is None:
            yield project, arch, f"{one['name']} {'x'.join(map(str, shape))} {' '.join(types)}", "-", "no such instruction"
            continue
        theirs = tinygrad(one) if project == "tinygrad" else cubecl(one, atom)
        for operand, verdict in verdicts(theirs, atom):
            yield project, arch, atom.name, operand, verdict


def main(projects: list[str]) -> int:
    all_of = [line for project in projects or ["tinygrad", "cubecl"] for line in lines(project)]
    for line in all_of:
        print("  ".join(line))
    agree = sum(line[-1] == "agrees" for line in all_of)
    print(f"{agree} of {len(all_of)} agree")
    return int(agree < len(all_of))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
