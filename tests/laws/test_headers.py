"""Headers judged column by column are judged as entry by entry, by the compiler and by the runtime."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shardc.checkpoint.headers import Header
from shardc.checkpoint.stored import read_stored
from shardc.checkpoint.tidy import tidy_headers
from shardc.runtime import headers
from shardc.spec.dtypes import SIZES, nbytes

ODD = [None, True, -1, 1, 1.0, "U8", {}]
INSTEAD: dict[str, list[object]] = {
    "dtype": [*SIZES, "U9", ["U8"], None],
    "shape": [[], [1], [2], [0, 2**70], [1] * 65, [True], [1.0], [-1, -1], [[1]], "1", None],
    "data_offsets": [[0, 1], [0, 0], [1, 2], [1, 0], [0, 1, 1], [2], [False, True], [0.0, 1.0], [-1, 0], {"0": 1}, 1],
    "more": [1],
}
Entries = dict[str, Any]


def entry(offsets: list[int], shape: tuple[int, ...] = (1,)) -> Entries:
    """An entry of one byte that stands at these offsets."""
    return {"dtype": "U8", "shape": list(shape), "data_offsets": offsets}


@st.composite
def tiled(draw: st.DrawFn) -> tuple[Entries, int]:
    """Entries that tile so many bytes, in any order."""
    shapes = st.lists(st.integers(0, 3), max_size=3)
    kinds = draw(st.lists(st.tuples(st.sampled_from(list(SIZES)), shapes), max_size=5))
    entries, at = {}, 0
    for number, (dtype, shape) in enumerate(kinds):
        end = at + nbytes(dtype, shape)
        entries[f"t{number}"] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    return {name: entries[name] for name in draw(st.permutations(list(entries)))}, at


@st.composite
def nearly_right(draw: st.DrawFn) -> tuple[Entries, int]:
    """The same with up to two things in the entries that are another, and perhaps with another number of bytes."""
    entries, data_bytes = draw(tiled())
    offsets = [entry["data_offsets"] for entry in entries.values()]
    for _ in range(draw(st.integers(0, 2)) if entries else 0):
        name = draw(st.sampled_from(list(entries)))
        place = draw(st.sampled_from([*INSTEAD, "entry", "by one byte"]))
        if place == "entry" or not isinstance(entries[name], dict):
            entries[name] = draw(st.sampled_from(ODD))
        elif place == "by one byte":
            entries[name]["data_offsets"] = [at + draw(st.integers(-1, 1)) for at in draw(st.sampled_from(offsets))]
        else:
            entries[name][place] = draw(st.sampled_from(INSTEAD[place]))
    return entries, data_bytes + draw(st.sampled_from([0, 0, 0, -1, 1]))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("headers") / "w.safetensors"


@given(tiled())
def test_what_is_right_is_recognised(case: tuple[Entries, int]) -> None:
    entries, data_bytes = case
    expected = {name: Header(entry["dtype"], tuple(entry["shape"])) for name, entry in entries.items()}
    assert tidy_headers(entries, data_bytes) == expected
    found = headers.tidy_headers(entries, "w", 100, 100 + data_bytes)
    assert found == {
        name: (*header, "w", *(100 + at for at in entries[name]["data_offsets"])) for name, header in expected.items()
    }


@given(case=nearly_right())
@example(case=({"a": entry([0, 1, 1]), "b": entry([2])}, 2))
@example(case=({"a": entry([0, 1], (-1, -1))}, 1))
@example(case=({"a": entry([0, 1], (True,))}, 1))
@example(case=({"a": entry([0, 1], (1,) * 65)}, 1))
def test_what_is_wrong_has_words_and_nothing_else_has(path: Path, case: tuple[Entries, int]) -> None:
    entries, data_bytes = case
    text = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(max(data_bytes, 0)))
    compiled, findings = read_stored(path)
    assert (compiled is None) == (findings != [])
    start, end = 8 + len(text), path.stat().st_size
    loaded = headers.tidy_headers(entries, "w", start, end)
    assert (loaded is None) == (headers.faults_of(entries, start, end) != [])
    if compiled is not None:
        assert loaded is not None
        assert {name: header[:2] for name, header in loaded.items()} == compiled
