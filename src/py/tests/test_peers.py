"""Other projects' tables of matrix instructions beside lanebook's, as `src/py/examples/peers.py` checks them."""

import importlib.util
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parents[1] / "examples"
_spec = importlib.util.spec_from_file_location("peers", HERE / "peers.py")
peers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(peers)


def verdicts(project):
    return [(arch, name, operand, verdict) for _, arch, name, operand, verdict in peers.lines(project)]


def test_tinygrads_tensor_cores():
    found = verdicts("tinygrad")
    assert len(found) >= 48 + 8
    assert [line for line in found if line[-1] != "agrees"] == []


def test_cubecls_lane_maps():
    found = verdicts("cubecl")
    assert len(found) >= 9
    assert [line for line in found if line[-1] != "agrees"] == []


def test_a_wrong_table_is_seen(tmp_path, monkeypatch):
    for project in ("tinygrad", "cubecl"):
        data = json.loads((HERE / f"{project}.json").read_text())
        if project == "tinygrad":
            # Two bits of the depth are exchanged in A alone.
            data["cores"] = data["cores"][:1]
            data["cores"][0].update(archs=["sm_80"], types=[["f16", "f32"]])
            data["cores"][0]["a"][0][:2] = ["r2", "r1"]
        else:
            data["maps"] = data["maps"][:1]
            data["maps"][0]["c"][0] = "lane // 4 + i % 2 * 8"
        (tmp_path / f"{project}.json").write_text(json.dumps(data))
    monkeypatch.setattr(peers, "HERE", tmp_path)
    words = lambda project: [verdict for *_, verdict in verdicts(project)]
    assert words("tinygrad") == ["another order of the depth", "another order of the depth", "agrees"]
    assert words("cubecl") == ["agrees", "agrees", "differs"]
