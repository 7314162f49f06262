"""A tied tensor on ranks that do not have the tensor it is tied to."""

from __future__ import annotations

import pytest

from shardc.plan.compile import compile_plan
from shardc.rules.meshes import mesh_findings
from tests.plan.support import PIPELINE_CONFIG, pipeline, said
from tests.support import bound

PINNED = "    only: {pp: last}\n"


def findings(text: str, *sizes: int) -> tuple[list[str], list[str]]:
    """The one finding on pipelines of these sizes: message and label; notes and help."""
    one = bound(text, PIPELINE_CONFIG)
    meshes = [{"tp": 1, "attn_tp": 1, "ep": 1, "pp": pp} for pp in sizes]
    [finding] = mesh_findings(one, [(mesh, compile_plan(one, mesh)) for mesh in meshes])
    assert finding.code == "SHD401"
    return [*said([finding], text)[0][1:]], [*finding.notes, finding.help]


@pytest.mark.parametrize(
    ("text", "sizes", "message", "rest"),
    [
        (
            pipeline("first"), (1, 2, 4),
            "head.weight is tied to embed.weight, which pp rank 1 of 2 does not have",
            ["also at pp = 4", "the file has one tensor for both: write `only: {pp: [first, last]}` at embed.weight"],
        ),
        (
            pipeline("last").replace(PINNED, ""), (3,),
            "head.weight is tied to embed.weight, which pp rank 0 of 3 does not have",
            ["the file has one tensor for both: write `only: {pp: [last]}` at head.weight"],
        ),
    ],
)  # fmt: skip
def test_apart(text: str, sizes: tuple[int, ...], message: str, rest: list[str]) -> None:
    found, others = findings(text, *sizes)
    assert found == [message, "{name: embed.weight, when: tied}"]
    assert others == rest
