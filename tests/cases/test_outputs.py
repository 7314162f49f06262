"""What a rank builds of its tensors: shapes and pieces are exact, and a real file loads to these numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from shardc.plan.output_layout import Box, OutputLayout
from shardc.plan.output_ranks import outputs
from shardc.runtime.rectangles import Rectangle
from tests.cases.files import probe
from tests.cases.support import Case, check, read_cases
from tests.cases.test_plans import assembled, assert_probe, rectangle
from tests.seeds.model import Model, write_checkpoint
from tests.support import plan

CASES = [case for case in read_cases() if "outputs" in case.expect]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


@each_case
def test_there_is_nothing_to_say(case: Case) -> None:
    assert check(case) == []


@each_case
def test_pieces_and_zero_fill(case: Case) -> None:
    made = plan(case.spec.read_text(), case.config, case.sizes, case.headers)
    built = {one.name: one.layout for one in outputs(made, {name: rank for name, (rank, _) in case.mesh.items()})}
    assert built.keys() == {expected["target"] for expected in case.expect["outputs"]}
    for expected in case.expect["outputs"]:
        layout = built[expected["target"]]
        assert layout.shape == tuple(expected["shape"])
        pieces = [(rectangle(piece["src"]), rectangle(piece["dst"])) for piece in expected["pieces"]]
        assert sorted(copies(layout), key=lambda pair: pair[1]) == pieces
        assert [place for box in layout.zeros for place in rectangles(box)] == expected["zero_fill"]


@each_case
def test_the_loaded_numbers(case: Case, model_of: Callable[[Case], Model], tmp_path: Path) -> None:
    full = probe(case.tensors)
    directory = write_checkpoint(tmp_path / "checkpoint", case.config, full)
    loaded = model_of(case).module.load(directory, mesh=case.mesh)
    for expected in case.expect["outputs"]:
        [source] = full.values()
        assert torch.equal(loaded[expected["target"]], assembled(expected, source))
        assert_probe(loaded[expected["target"]], expected["arange_probe"])


def copies(layout: OutputLayout) -> Iterator[tuple[Rectangle, Rectangle]]:
    """(source, place) of every run of rows."""
    for piece in layout.pieces:
        yield from zip(rectangles(piece.source), rectangles(piece.to), strict=True)


def rectangles(box: Box) -> list[Rectangle]:
    """A box of repeated rows, run by run; only one dim repeats."""
    runs = max(rows.count for rows in box)
    starts = [[rows.start + i * rows.pitch for rows in box] for i in range(runs)]
    return [tuple((a, a + rows.size) for a, rows in zip(at, box, strict=True)) for at in starts]
