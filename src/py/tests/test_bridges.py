"""Layouts from and to pycute, Triton, TVM and TileLang."""

import lanebook as lb
import pycute
import pytest
from lanebook import bridges

SHAPES = [((8, 4), (4, 1)), (((2, 2), 4), ((1, 2), 4)), (12, 3), (((3, 2), (4, 5)), ((40, 1), (2, 8)))]


@pytest.mark.parametrize("shape, stride", SHAPES)
def test_pycute_and_back(shape, stride):
    theirs = pycute.Layout(shape, stride)
    ours = bridges.from_pycute(theirs)
    assert ours.size == pycute.size(theirs)
    flat = ours.to_numpy().ravel(order="F")
    assert [int(n) for n in flat] == [theirs(k) for k in range(pycute.size(theirs))]
    back = bridges.to_pycute(ours)
    assert (back.shape, back.stride) == (shape, stride)


@pytest.mark.parametrize("tiler", [(2, 2), (4, 1)])
def test_an_operation_agrees_with_pycutes(tiler):
    theirs = pycute.logical_divide(pycute.Layout((8, 4), (4, 1)), tuple(pycute.Layout(n) for n in tiler))
    ours = bridges.to_pycute(bridges.from_cute((8, 4), (4, 1)).logical_divide(tiler))
    assert [theirs(k) for k in range(32)] == [ours(k) for k in range(32)]


def test_what_is_no_shape_with_strides_is_refused():
    for text in ["S<3,4,3> o (8,64):(64,1)", "mma.m16n8k16.f32.f16.D"]:
        with pytest.raises(lb.LanebookError, match="more than a shape with strides"):
            bridges.to_cute(lb.layout(text))


class Linear:
    """What Triton's LinearLayout answers: checked against triton 3.9.0's own by .ci/full."""

    bases = [("register", [[0, 1], [8, 0]]), ("lane", [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]), ("warp", [])]
    out_dims = [("dim0", 16), ("dim1", 8)]


def test_triton_and_back():
    ours = bridges.from_triton(Linear)
    assert bridges.to_linear(ours) == dict(Linear.bases)
    # The accumulators of mma.m16n8k16, told in bits of registers.
    assert bridges.to_linear(lb.atom("mma.m16n8k16.f32.f16").D) == dict(Linear.bases)
    # Half a register an element.
    a = bridges.to_linear(lb.atom("mma.m16n8k16.f32.f16").A)
    assert a["register"] == [[0, 1], [8, 0], [0, 8]] and len(a["lane"]) == 5


def test_shared_memory_by_bases():
    offset = [[0, 1], [0, 2], [0, 4], [1, 4], [2, 0]]
    ours = bridges.from_linear({"offset": offset}, (4, 8))
    # Offset 8 is the sum of its bits' coordinates, by exclusive or.
    assert ours(1, 4) == 8 and ours(0, 4) == 4 and ours(1, 0) == 12


@pytest.mark.parametrize(
    "text, why",
    [
        ("(8,4):(4,1)", "axis m"),
        ("S[(3,32):(1@register,1@laneid)]", "power of two"),
        ("S[(2,32):(1@register,1@laneid)] + 1@register", "one element"),
    ],
)
def test_what_is_not_linear_is_refused(text, why):
    with pytest.raises(lb.LanebookError, match=why):
        bridges.to_linear(lb.layout(text))


def test_dimensions_that_there_are_not():
    with pytest.raises(lb.LanebookError, match="'wave'"):
        bridges.from_linear({"wave": []}, (4, 4))
    with pytest.raises(lb.LanebookError, match="cluster"):
        bridges.from_linear({"block": [[1, 0]], "lane": []}, (4, 4))


class Printed:
    """What prints itself: as TVM's and TileLang's objects do. Checked against theirs by .ci/full."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def test_tvm_as_it_prints():
    ours = bridges.from_tvm(Printed("T.TileLayout(T.S[(8, 4):(4 @ Axis.laneid, 1)] + T.R[2:4 @ Axis.warpid] + 5 @ Axis.warpid)"))
    assert ours.places(3, 2) == [{"laneid": 12, "m": 2, "warpid": 5}, {"laneid": 12, "m": 2, "warpid": 9}]
    assert bridges._iters(ours) == ([(8, 4, "laneid"), (4, 1, "m")], [(2, 4, "warpid")], [(5, "warpid")])


def test_tilelang_as_it_prints():
    text = "Fragment((16, 8) -> (4,), replicate: 1, thread: 32, forward_thread: _i % 8 * 4 + _j // 2, forward_index: (_i // 8 * 2 + _j % 2,))"
    ours = bridges.from_tilelang(Printed(text))
    assert all(ours(i, j) == {"m": i // 8 * 2 + j % 2, "tx": i % 8 * 4 + j // 2} for i in range(16) for j in range(8))
    # As TileLang would compute it from what is handed to it.
    shape, thread, index, copies = bridges._as_fragment(lb.atom("mma.m16n8k16.f32.f16").D, None)
    at = bridges._flat(shape)
    assert copies == []
    assert all(bridges._sum(at((i, j)), thread) == i % 8 * 4 + j // 2 for i in range(16) for j in range(8))
    assert all(bridges._sum(at((i, j)), index) == i // 8 * 2 + j % 2 for i in range(16) for j in range(8))


@pytest.mark.parametrize(
    "text, why",
    [
        ("(8,4):(4,1)", "fastest"),
        ("S[(4,8):(1@warpid,1@laneid)]", "how many lanes"),
        ("S[(4,8):(1@TLane,1@TCol)]", "axis TCol"),
        ("S[8:1@laneid] + 1@laneid", "thread 0"),
    ],
)
def test_what_is_no_fragment_is_refused(text, why):
    with pytest.raises(lb.LanebookError, match=why):
        bridges._as_fragment(lb.layout(text), None)
