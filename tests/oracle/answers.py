"""What AMD's matrix calculator, its emulator and measurements of LDS answered, in brief, and descriptors as CUTLASS packs them.

    python3 tests/oracle/answers.py amd > hw-tables/amd/answers.ron
    python3 tests/oracle/answers.py nvidia > hw-tables/nvidia/answers.ron

Reads the records alone, and none of the tables: `lanebook check` holds those against what is printed here. Of a map that is
long, a hash is kept: of its lines, in order, `LANE BIT ROW COLUMN` each (see gen/src/audit/answers.rs).
"""

import json
import pathlib
import sys

DATA = pathlib.Path(__file__).parent / "data"
# Who said it, by words of the records.
SOURCES = {
    "rocjitsu": "rocjitsu",
    "composable_kernel": "ck",
    "CK documentation": "ck",
    "iree": "iree",
    "triton": "triton",
    "empirical-lds": "empirical_lds",
    "kernel_optimization_guide": "kernel_guide",
    "HipKittens": "hipkittens",
    "rocroller": "rocroller",
}


def records(name, vendor="amd"):
    with open(DATA / vendor / f"{name}.jsonl") as file:
        return [json.loads(line) for line in file]


def hashed(lines):
    """FNV-1a of 128 bits, the first 16 digits: as verdicts are kept."""
    state = 0x6C62272E07BB014262B821756295C58D
    for byte in "".join(f"{line}\n" for line in lines).encode():
        state = ((state ^ byte) * 0x0000000001000000000000000000013B) % (1 << 128)
    return f"{state:032x}"[:16]


def words(numbers):
    return " ".join(str(number) for number in numbers)


def places(record):
    """Lines of an operand: of a sparse one the two that are kept of a group of four, or their two indices."""
    matrix = record["matrix"]
    sparse = record.get("sparse") and matrix == "a" or matrix == "k"
    rows = record["k"] if matrix == "b" else record["m"]
    found = []
    for lane, cells in enumerate(record["map"]):
        for number, cell in enumerate(cells or []):
            if cell is None:
                continue
            row, column = cell[0], cell[1]
            if not record.get("fields"):
                found.append((lane, 0, row, column))
                continue
            register, low, width = record["fields"][number]
            bit = 32 * register + low
            row += (cell[2] if len(cell) > 2 else 0) * rows
            if sparse:
                found += [(lane, bit + half * width // 2, row, column // 2 + half) for half in (0, 1)]
            else:
                found.append((lane, bit, row, column))
    return hashed(words(place) for place in sorted(found))


def operands(record, lines):
    """What a record says of its instruction."""
    said = lines.setdefault(record["inst"], {})
    for key in ("m", "n", "k", "blocks", "cycles"):
        if key in record:
            said[key] = record[key]
    if "passes_llvm" in record:
        said["cycles"] = 4 * record["passes_llvm"]
    for operand, registers in record.get("vgprs", {}).items():
        said[f"{operand}.registers"] = registers
    name = {"k": "index"}.get(record["matrix"], record["matrix"])
    value = next(iter(record.get("variant", {}).values()), 0)
    # The third bit of op_sel is that of C and D.
    value = value >> 2 if name in "cd" else value
    said[name if value == 0 else f"{name}+{value}"] = places(record)


def sources(record):
    of = [key for text in record.get("sources", []) for word, key in SOURCES.items() if word in text]
    return tuple(dict.fromkeys(of)) or ("matrix_calculator",)


def told():
    groups = {}
    lanes = records("matrix_calculator")
    exchanged = hashed(words([r["blgp"], *r["src_lane"]]) for r in lanes if r.get("kind") == "blgp_lane_map")
    for record in [*lanes, *records("derived_layouts")]:
        # What depends on the format that is chosen is said of none.
        if "matrix" not in record or "fmt" in record or "fmt_code" in record:
            continue
        if record.get("confidence") == "contested":
            continue
        gfx = record["gfx"]
        gfx = tuple(gfx.split(",") if isinstance(gfx, str) else gfx)
        lines = groups.setdefault((gfx, record["wave"], sources(record)), {})
        operands(record, lines)
        # With 64-bit floats the same bits negate.
        if record.get("mods", {}).get("blgp") and record["in_a"] != "fp64":
            lines[record["inst"]]["lanes"] = exchanged
    for record in records("transpose_loads"):
        found = [
            (lane, number * record["elem_bits"], slot, element * record["elem_bits"])
            for lane, list in enumerate(record.get("map", []))
            for number, (slot, element) in enumerate(list)
        ]
        if found:
            lines = groups.setdefault((tuple(record["gfx"].split(",")), record["wave"], sources(record)), {})
            lines.setdefault(record["inst"], {})["moved"] = hashed(words(one) for one in sorted(found))
    for record in records("lds_phases"):
        if record.get("confidence") == "contested" or record.get("banks") is None:
            continue
        masks = [sum(1 << lane for lane in group) for group in record["groups"]]
        key = "groups" if record["group_order_known"] else "groups.unordered"
        masks = masks if record["group_order_known"] else sorted(masks)
        lines = groups.setdefault(((record["gfx"],), record["wave"], sources(record)), {})
        # What was ds_read is ds_load since gfx11.
        op = record["op"]
        if not record["gfx"].startswith("gfx9"):
            op = op.replace("ds_read", "ds_load").replace("ds_write", "ds_store")
        said = lines.setdefault(op, {})
        said.update({"banks": record["banks"], "bank.bytes": record["bank_bytes"]})
        said[key] = hashed(map(str, masks))
    return groups


def descriptors():
    """Lines of words, by architecture."""
    groups = {}
    for record in records("descriptors", "nvidia"):
        unit = record["case"].split("_")[0]
        name = f"{unit}.instr.{record['kind']}" if "kind" in record else f"{unit}.shared"
        word = record.get("u64") or record["u32"]
        fields = " ".join(f"{key}={value}" for key, value in record["fields"].items())
        groups.setdefault(record["arch"], []).append(f"{name} {word} {fields}")
    return groups


def group(archs, lanes, by, key, lines):
    print(f"        (archs: {json.dumps(archs)}, lanes: {lanes}, sources: {json.dumps(by)}, {key}: [")
    for line in lines:
        print(f'            "{line}",')
    print("        ]),")


def main(vendor):
    print(f"// What recorded answers say, in brief: `tests/oracle/answers.py {vendor}` writes this file from tests/oracle/data/{vendor}.")
    print("(\n    answers: [")
    if vendor == "amd":
        for (gfx, wave, by), lines in told().items():
            lines = [f"{name} {' '.join(f'{k}={v}' for k, v in said.items())}" for name, said in lines.items()]
            group(list(gfx), wave, list(by), "rows", lines)
    else:
        for arch, lines in descriptors().items():
            group([arch], 32, ["cutlass"], "words", lines)
    print("    ],\n)")


main(sys.argv[1])
