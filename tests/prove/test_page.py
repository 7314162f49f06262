"""docs/proofs.md has every small config on every mesh, and each was small."""

from __future__ import annotations

import re

import pytest

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


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_what_was_computed_was_small() -> None:
    assert [row for row in ROWS if not cells(row)[5].startswith("refused: ") and float(cells(row)[6]) > TOLERANCE] == []


@pytest.mark.parametrize("tp", ["2", "4"])
def test_every_model_is_proved_on_two_ranks_and_on_four(tp: str) -> None:
    models = {tuple(cells(row)[:2]) for row in ROWS}
    proved = {tuple(cells(row)[:2]) for row in ROWS if cells(row)[3] == tp and cells(row)[6]}
    assert len(models) >= 35 and models - proved == set()


def test_every_model_with_experts_is_proved_with_its_experts_apart() -> None:
    apart = {spec.spec.name for spec in map(spec_of, CONFIGS) if "ep" in spec.mesh_dims}
    assert len(apart) >= 12
    assert apart - {cells(row)[0] for row in ROWS if cells(row)[4] == "2" and cells(row)[6]} == set()
