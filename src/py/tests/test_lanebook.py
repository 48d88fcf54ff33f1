"""The Python package: the ten questions, layouts beside numpy's own arithmetic, instructions, conflicts, compiling."""

import json
import pathlib

import numpy
import pytest

import lanebook as lb

ROOT = pathlib.Path(__file__).resolve().parents[3]


def questions():
    lines = (ROOT / "tests/questions/ten.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines]


@pytest.mark.parametrize("arch, query, expected", questions(), ids=[q[1][:40] for q in questions()])
def test_the_ten_questions(arch, query, expected):
    assert lb.ask(query, arch) == json.loads(expected)


def test_there_are_ten():
    assert len(questions()) >= 10


def test_layouts_count_like_numpy():
    a = lb.layout("(8,4):(4,1)")
    assert (a.shape, a.size, a.cosize, a.is_injective) == ((8, 4), 32, 32, True)
    rows, columns = numpy.indices((8, 4))
    assert (a.to_numpy() == rows * 4 + columns).all()
    with pytest.raises(lb.LanebookError, match="too long"):
        lb.layout("(65536,65536):(65536,1)").to_numpy()
    assert a(3, 1) == 13
    tall = lb.layout("(8,4):(1,8)")
    assert (tall.to_numpy() == rows + columns * 8).all()
    assert a != tall and a == lb.layout("((2,4),4):((4,8),1)")
    values = numpy.arange(100, 132).reshape(8, 4)
    assert (a.apply(values) == values.reshape(-1)).all()
    assert (tall.apply(values) == values.T.reshape(-1)).all()
    padded = lb.layout("padded((8,4):(4,1), 4, 1)")
    assert padded.cosize == 39 and padded.apply(values)[4] == 0 and padded.apply(values)[5] == 104
    named = lb.layout("S[(8,4):(4@laneid,1@laneid)]")
    assert named.axes == ("laneid",) and named(3, 1) == 13
    assert (named.to_numpy() == rows * 4 + columns).all()


def test_the_algebra_has_its_names():
    a = lb.layout("(8,8):(8,1)")
    assert str(a.logical_divide((2, 2))) == "((2,4),(2,4)):((8,16),(1,2))"
    assert str(a.compose(lb.layout("2:1").complement(8))) == "4:16"
    assert str(lb.layout("(2,(1,6)):(1,(6,2))").coalesce()) == "12:1"
    assert a.compose(a.right_inverse()) == lb.layout("64:1")


def test_instructions():
    atom = lb.atom("mma.m16n8k16.f32.f16")
    assert set(atom.parts) == {"A", "B", "C", "D"}
    for lane in range(32):
        for i in range(4):
            row, column = lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2
            assert atom.D(row, column) == {"bit": 32 * i, "laneid": lane}
    assert atom.D.where(lane=14, register=1) == [(3, 5)]
    assert lb.atom("ldmatrix.x4").target.shape == (4, 8, 8)


def test_conflicts():
    found = lb.conflicts("(64,64):(64,1)", "ldmatrix", "f16", "sm_90")
    assert (found["passes"], found["least"], found["free_swizzle"]) == (32, 4, "S<3,3,3>")
    free = lb.conflicts(lb.layout("S<3,3,3> o (64,64):(64,1)"), "ldmatrix", "f16", "sm_90")
    assert free["passes"] == free["least"] == 4
    assert "no conflicts" in str(free)


def test_pictures():
    assert lb.layout("(8,4):(4,1)")._repr_svg_().lstrip().startswith("<svg")
    large = lb.layout("wgmma.m64n256k16.f32.f16.D", arch="sm_90a")
    assert "x32, each time +4 registers" in large._repr_svg_()
    assert large.to_svg(full=True).count("<rect") > 64 * 256


def test_compiling():
    program = (ROOT / "gen/cli/examples/gemm.tile").read_text()
    kernel = lb.compile(program, "sm_80")
    assert kernel.text.startswith(".version") and kernel.threads > 0 and kernel.shared_bytes > 0
    assert kernel.name in kernel.text
    assert "decision" in kernel.report and len(lb.compile(program, "sm_80", explain=True).report) > len(kernel.report)
    with pytest.raises(lb.LanebookError, match=r"(?s)error: .*program:1:.*help: "):
        lb.compile("func", "sm_80")
    assert [one["offset"] for one in kernel.launch["parameters"]] == sorted(one["offset"] for one in kernel.launch["parameters"])
    with pytest.raises(lb.LanebookError, match="unknown architecture `sm_8`"):
        lb.compile(program, "sm_8")
    # One of two kernels, by its name.
    loops = (ROOT / "gen/cli/examples/loops/plan_then_buffer.tile").read_text()
    copy = "func @copy(%x: memref<64x64xf32>) {threads = 128} {\n  %a = tiled_load %x[0, 0] : memref<64x64xf32> -> tensor<64x64xf32>\n  tiled_store %a, %x[0, 0] : tensor<64x64xf32> -> memref<64x64xf32>\n}\n"
    with pytest.raises(lb.LanebookError, match="2 functions that may be launched"):
        lb.compile(loops + copy, "sm_80")
    assert lb.compile(loops + copy, "sm_80", function="copy").name == "copy"
    name = lb.compile(loops, "sm_80").name
    assert str(lb.infer(loops + copy, "sm_80", function=name)) == str(lb.infer(loops, "sm_80"))


def test_converting():
    target = "S[(8,2,8):(8@laneid,32@bit,1@laneid)]"
    # Two rows of eight lanes each to a register: an operand of warps of 32 on a wave of 64.
    made = lb.convert("mma.m16n8k16.f32.f16.D on sm_80", target, (16, 8), "f32", "gfx942")
    assert made["wave_lanes"] == made["threads"] == 64 and made.scratch_bytes == 0
    tile, out = made.inputs[0], made.outputs[0]
    assert len(tile["registers"]) == 4 and len(out["registers"]) == 2
    for lane in range(64):
        own = lane % 32
        for i in range(4):
            assert made.element(tile, i, lane) == (own // 4 + 8 * (i // 2), own % 4 * 2 + i % 2)
        for i in range(2):
            assert made.element(out, i, lane) == (lane // 8 * 2 + i, lane % 8)
    assert "s_endpgm" not in str(made) and out["registers"][0] in str(made)
    atom = lb.atom("mma.m16n8k16.f32.f16")
    same = lb.convert(atom.D, atom.D, (16, 8), "f32", "sm_80")
    assert same.inputs[0]["registers"] == same.outputs[0]["registers"]
    # Half the shared memory: two rounds through the same bytes.
    rows, columns = "S[(4,16,4,16):(1@warpid,4@laneid,1@laneid,16@bit)]", "S[(64,4,16):(1@laneid,1@warpid,16@bit)]"
    square = ((64, 64), "f16", "gfx942")
    assert lb.convert(rows, columns, *square).scratch_bytes == 64 * 64 * 2
    half = lb.convert(rows, columns, *square, scratch=4096)
    assert half.scratch_bytes == 4096 and str(half).count("s_barrier") > str(lb.convert(rows, columns, *square)).count("s_barrier")
    with pytest.raises(lb.LanebookError, match="takes 1024 B of shared memory at the least"):
        lb.convert(rows, columns, *square, scratch=256)
    with pytest.raises(lb.LanebookError, match="says nothing of some lanes"):
        lb.convert("mma.m16n8k16.f32.f16.D", target, (16, 8), "f32", "gfx942")
    with pytest.raises(lb.LanebookError, match="no way to lay warps into waves"):
        lb.convert(target, target, (16, 8), "f32", "gfx942", split="thirds")


def test_inferring():
    program = (ROOT / "gen/cli/examples/loops/plan_then_buffer.tile").read_text()
    found = lb.infer(program, "sm_90a")
    scopes = {buffer["name"]: buffer["scope"] for buffer in found["buffers"]}
    assert "fragment" in scopes.values() and found["arch"] == "sm_90a"
    assert all(buffer["layout"] for buffer in found["buffers"] if buffer["scope"] == "fragment")
    assert "#fragment" in str(found) and len(found.explain()) > len(str(found))
    with pytest.raises(lb.LanebookError, match="has no function"):
        lb.infer("", "sm_90a")


def test_errors_say_where_and_what_to_do():
    with pytest.raises(lb.LanebookError, match="line 1, column 9: expected `,`; as many strides"):
        lb.layout("(8,8):(8;1)")
    with pytest.raises(lb.LanebookError, match="no architecture is called `sm_1`"):
        lb.ask("4:1", "sm_1")
    with pytest.raises(lb.LanebookError, match="this is no layout"):
        lb.layout("(1, 2)")
    assert "sm_90" in lb.architectures()


def test_lint_says_what_the_command_says():
    text = (ROOT / "gen/cli/tests/lint.ttgir").read_text()
    found = lb.lint(text, name="lint.ttgir")
    assert found["arch"] == "sm_90a" and found["wrong"] > 3
    banks = [one for one in found.findings if one["check"] == "bank-conflicts"]
    assert banks[0]["severity"] == "costly" and banks[0]["figures"]["passes"] == 32
    assert lb.ask(banks[0]["query"], found["arch"])["passes"] == 32
    assert str(found).startswith("lint.ttgir:") and "[operand-mode]" in str(found)
    with pytest.raises(lb.LanebookError, match="line 1|:1:"):
        lb.lint("tt.func @f(", "sm_90")
    with pytest.raises(lb.LanebookError, match="names no target"):
        lb.lint("tt.func @f() {\n  tt.return\n}\n")
