"""Outputs in a plan sheet."""

from __future__ import annotations

from tests.plan.support import OUTPUTS
from tests.review.sheets.support import changed, lines_of, sheet_of

SPEC = f"{OUTPUTS}targets: [{{checkpoint: example, tp: [1, 2], ep: [1, 2]}}]\n"


def test_shapes_and_moves() -> None:
    lines = lines_of(sheet_of(SPEC))
    first = lines.index("layers.*.ba x2 BF16 12 x 1 6 x 1 3 x 1 - - - - of b, a by heads")
    assert lines[first : first + 3] == [
        "layers.*.ba x2 BF16 12 x 1 6 x 1 3 x 1 - - - - of b, a by heads",
        "layers.*.q x2 BF16 16 x 1 8 x 1 4 x 1 - - - - of q permuted",
        "experts.w BF16 3 x 4 3 x 4 3 x 4 - - - - of up of each expert",
    ]
    moves = lines.index("output of rows that change places")
    assert lines[moves + 1] == "layers.*.q layers.*.q in each 4 rows 2 x 2 from 0 at 2, 1 go to 0 at 1, 2"


def test_rows_that_change_places_otherwise_have_one_shape_and_another_sheet() -> None:
    wide = SPEC.replace("[heads * 4, 1]", "[heads * 8, 1]")
    pairs = wide.replace("heads * 2 * (4 / 2)", "heads * 2 * 4").replace("heads * (4 / 2) * 2", "heads * 4 * 2")
    fours = wide.replace("heads * 2 * (4 / 2)", "heads * 4 * 2").replace("heads * (4 / 2) * 2", "heads * 2 * 4")
    assert changed(sheet_of(pairs), sheet_of(fours)) == (
        ["layers.*.q layers.*.q in each 8 rows 2 x 4 from 0 at 4, 1 go to 0 at 1, 2"],
        ["layers.*.q layers.*.q in each 8 rows 4 x 2 from 0 at 2, 1 go to 0 at 1, 4"],
    )


def test_members_in_another_order() -> None:
    went, came = changed(sheet_of(SPEC), sheet_of(SPEC.replace("interleave: [b, a]", "interleave: [a, b]")))
    assert (went, came) == (
        ["layers.*.ba x2 BF16 12 x 1 6 x 1 3 x 1 - - - - of b, a by heads"],
        ["layers.*.ba x2 BF16 12 x 1 6 x 1 3 x 1 - - - - of a, b by heads"],
    )
