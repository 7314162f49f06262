"""What a rank keeps, in the cases that work: local shapes, source pieces and zero fill, all exact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from shardc.runtime.rectangles import Rectangle, copy_rectangles, zero_rectangles
from tests.cases.files import counted, numbers_in
from tests.cases.support import Case, check, read_cases
from tests.seeds.model import Kept, Model, write_checkpoint

CASES = [case for case in read_cases() if "local" in case.expect]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


@each_case
def test_there_is_nothing_to_say(case: Case) -> None:
    assert check(case) == []


@each_case
def test_pieces_and_zero_fill(case: Case, model_of: Callable[[Case], Model]) -> None:
    kept = model_of(case).kept(case.config, **case.mesh, headers=case.headers)
    assert kept.keys() == {local["target"] for local in case.expect["local"]}
    for local in case.expect["local"]:
        one = kept[local["target"]]
        assert one.local_shape == tuple(local["shape"])
        assert copies(one) == joined([(rectangle(piece["src"]), rectangle(piece["dst"])) for piece in local["pieces"]])
        assert zeros(one) == {rectangle(place) for place in local["zero_fill"]}


@each_case
def test_the_loaded_numbers(case: Case, model_of: Callable[[Case], Model], tmp_path: Path) -> None:
    """Of a tensor whose elements have few bits, two digits of each number, in a file each."""
    files = [counted(case.tensors, digit) for digit in range(2)]
    loaded = [
        model_of(case).module.load(write_checkpoint(tmp_path / f"digit{digit}", case.config, file), mesh=case.mesh)
        for digit, file in enumerate(files)
    ]
    for local in case.expect["local"]:
        name = local["target"]
        found = numbers_in([tensors[name] for tensors in loaded])
        assert {tensors[name].dtype for tensors in loaded} == {files[0][name].dtype}
        assert torch.equal(found, assembled(local, numbers_in([file[name] for file in files])))
        if "arange_probe" in local:
            assert_probe(found, local["arange_probe"])


def rectangle(spans: list[list[int]]) -> Rectangle:
    return tuple((start, stop) for start, stop in spans)


def copies(one: Kept) -> list[tuple[Rectangle, Rectangle]]:
    """(source, place) of every copy."""
    return list(copy_rectangles(one.at))


def joined(pieces: list[tuple[Rectangle, Rectangle]]) -> list[tuple[Rectangle, Rectangle]]:
    """Pieces whose rows follow each other, in the file and on the rank, as one."""
    out = pieces[:1]
    for source, place in pieces[1:]:
        before, at = out[-1]
        if [one[0][1] for one in (before, at)] == [one[0][0] for one in (source, place)] and before[1:] == source[1:]:
            out[-1] = (((before[0][0], source[0][1]), *before[1:]), ((at[0][0], place[0][1]), *at[1:]))
        else:
            out.append((source, place))
    return out


def zeros(one: Kept) -> set[Rectangle]:
    return set(zero_rectangles(one.at))


def assembled(local: dict[str, Any], full: torch.Tensor) -> torch.Tensor:
    """The local tensor, piece by piece as the case has it."""
    out = torch.zeros(local["shape"], dtype=full.dtype)
    for piece in local["pieces"]:
        source, place = (tuple(slice(*span) for span in piece[side]) for side in ("src", "dst"))
        out[place] = full[source]
    return out


def assert_probe(tensor: torch.Tensor, expected: dict[str, Any]) -> None:
    values = tensor.flatten()
    assert (values[0], values[-1], values.sum()) == (expected["first"], expected["last"], expected["sum"])
    if "values" in expected:
        assert values.tolist() == expected["values"]
