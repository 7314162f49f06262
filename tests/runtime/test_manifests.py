"""Manifests are input like any other: what is wrong in one is said, and no path leads out of the directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import shardc.runtime as rt
from shardc.runtime.manifests import RankLayout, mesh_words, read_rank, read_set, world_rank

HEADER = '{"a":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]}}'
CUT: dict[str, Any] = {"format": 1, "spec": "tiny", "digest": "e6", "mesh": {"tp": 2}, "source": "77"}
SET: dict[str, Any] = {**CUT, "files": {"a.safetensors": HEADER}, "index": None}
RANK: dict[str, Any] = {
    **CUT,
    "files": {"rank-0/a.safetensors": [10, "ab"]},
    "originals": {"b": "0aff"},
    "layouts": [[[4, 2], [[[0, 2, 1]], [[0, 2, 0]]]]],
    "tensors": {"a": 0},
}


def write(folder: Path, set_: Any = SET, rank: Any = RANK) -> Path:
    (folder / "rank-0").mkdir(exist_ok=True)
    (folder / "shardc.json").write_text(json.dumps(set_))
    (folder / "rank-0" / "rank.json").write_text(json.dumps(rank))
    return folder


def test_what_they_say(tmp_path: Path) -> None:
    write(tmp_path)
    known, rank = read_set(tmp_path), read_rank(tmp_path, "rank-0")
    assert known.cut == rank.cut == ("tiny", "e6", (("tp", 2),), "77")
    assert known.headers() == {"a": rt.Header("F32", (4, 2), "a.safetensors", 65, 97)}
    assert rank.layouts == {"a": RankLayout((4, 2), (((0, 2, 1),), ((0, 2, 0),)))}
    assert (rank.files, rank.originals) == ({"rank-0/a.safetensors": (10, "ab")}, {"b": b"\x0a\xff"})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": 2}, "format 2, and this version reads 1"),
        ({"spec": 3}, "spec, digest and source: not all are there"),
        ({"mesh": {"tp": 0}}, "mesh: no ranks by mesh dim"),
        ({"mesh": [2]}, "mesh: no ranks by mesh dim"),
        ({"files": []}, "files: no texts by name"),
        ({"files": {"a": 1}}, "files: no texts by name"),
        ({"files": {"../a.safetensors": "{}"}}, "files: '../a.safetensors' is no name of a safetensors file"),
        ({"files": {"config.json": "{}"}}, "files: 'config.json' is no name of a safetensors file"),
        ({"index": "x"}, "index: no name and text"),
        (
            {"index": ["/etc/x.safetensors.index.json", ""]},
            "index: '/etc/x.safetensors.index.json' is no name of an index",
        ),
        ({"index": [".profile", ""]}, "index: '.profile' is no name of an index"),
    ],
)
def test_a_broken_set(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    write(tmp_path, set_={**SET, **change})
    with pytest.raises(rt.ShardError) as caught:
        read_set(tmp_path)
    assert caught.value.findings == (("SHD406", f"shardc.json: {text}"),)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"files": {"../a": [1, ""]}}, "files: no size and digest by file name"),
        ({"files": {"/a": [1, ""]}}, "files: no size and digest by file name"),
        ({"files": {"a/b/c": [1, ""]}}, "files: no size and digest by file name"),
        ({"files": {"a": [1]}}, "files: no size and digest by file name"),
        ({"tensors": {"a": 1}}, "tensors: no layout by name"),
        ({"tensors": {"a": -1}}, "tensors: no layout by name"),
        ({"tensors": {"a": True}}, "tensors: no layout by name"),
        ({"originals": {"a": "0x"}}, "originals: non-hexadecimal number found in fromhex() arg at position 1"),
        ({"layouts": [[[4], [[[0, 5, 0]]]]]}, "layouts: regions that lie in no shape"),
        ({"layouts": [[[4], [[[3, 2, 0]]]]]}, "layouts: regions that lie in no shape"),
        ({"layouts": [[[4], [[[-1, 2, 0]]]]]}, "layouts: regions that lie in no shape"),
        ({"layouts": [[[4], []]]}, "layouts: regions that lie in no shape"),
        ({"layouts": [[[4.5], [[[0, 1, 0]]]]]}, "layouts: regions that lie in no shape"),
        ({"layouts": [7]}, "layouts: regions that lie in no shape"),
        ({"layouts": [[[9, 9], [[[0, 1, 0]] * 300, [[0, 1, 0]] * 300]]]}, "layouts: too many regions"),
    ],
)
def test_a_broken_rank(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    write(tmp_path, rank={**RANK, **change})
    with pytest.raises(rt.ShardError) as caught:
        read_rank(tmp_path, "rank-0")
    assert caught.value.findings == (("SHD406", f"rank-0/rank.json: {text}"),)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "\0"])
def test_no_json(tmp_path: Path, text: str) -> None:
    (write(tmp_path) / "shardc.json").write_text(text)
    with pytest.raises(rt.ShardError, match=r"^SHD406: shardc\.json: not a JSON object$"):
        read_set(tmp_path)


@pytest.mark.parametrize("header", ["[]", '{"a":{}}', '{"a":{"dtype":"F32","shape":[4],"data_offsets":[4,20]}}'])
def test_a_header_that_is_none(tmp_path: Path, header: str) -> None:
    with pytest.raises(rt.ShardError, match=r"^SHD406: a\.safetensors: "):
        read_set(write(tmp_path, set_={**SET, "files": {"a.safetensors": header}})).headers()


def test_numbers_of_ranks() -> None:
    """tp varies fastest, as `shardc plan --rank` counts."""
    names = ("tp", "ep", "pp")
    assert world_rank(rt.mesh(names, extra={"tp": (1, 4), "ep": (2, 3), "pp": (1, 2)})) == 1 + 4 * (2 + 3 * 1)
    assert mesh_words((("tp", 1), ("ep", 2), ("pp", 1))) == "tp=1, ep=2"
