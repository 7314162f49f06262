"""docs/proofs.md has every small config on every mesh, and each was small."""

from __future__ import annotations

import re

from scripts.proofs import PAGE, Row, meshes
from shardc.prove.compare import TOLERANCE
from shardc.prove.proof import Proof
from shardc.prove.small import read_small
from tests.prove.support import CONFIGS, spec_of

ROWS = [line for line in PAGE.read_text().splitlines() if re.match(r"\| \w+ \| \w+ \| [\w.]+ \| \d", line)]


def test_it_has_every_small_config_on_every_mesh() -> None:
    wanted = [
        Row(spec.spec.name, read_small(config)["architectures"][0], config.stem, mesh, Proof(mesh, 0.0)).key
        for config in CONFIGS
        for spec in [spec_of(config)]
        for mesh in meshes(spec)
    ]
    found = [re.match(r"(\|[^|]+){5}\|", row) for row in ROWS]
    assert sorted(match[0] for match in found if match) == sorted(wanted)


def test_all_were_small_and_only_three_ranks_are_refused() -> None:
    for row in ROWS:
        _, _, _, tp, _, number, relative, _ = (cell.strip() for cell in row.strip("|").split("|"))
        if number.startswith("refused: "):
            assert tp == "3", row
        else:
            assert float(relative) <= TOLERANCE, row
