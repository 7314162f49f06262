"""A smallest spec, changed field by field."""

from __future__ import annotations

import json
from typing import Any

from shardc.diagnostics import Diagnostic
from shardc.source import loads
from shardc.spec.axis import Axis
from shardc.spec.group import Group, Tensor
from shardc.spec.model import Spec
from shardc.spec.read import read_spec
from shardc.spec.target import Target

TENSOR: dict[str, Any] = {"shape": [4], "shard": "replicated"}
SPEC: dict[str, Any] = {
    "spec": 1,
    "name": "tiny",
    "architectures": ["Tiny"],
    "dtype": "BF16",
    "groups": {"all": {"tensors": {"w": TENSOR}}},
}


def read(data: object) -> tuple[Spec | None, list[Diagnostic]]:
    document, findings = loads(json.dumps(data), "spec.yaml")
    assert document is not None, findings
    return read_spec(document)


def spec(**fields: Any) -> Spec:
    """The smallest spec with these fields, which must be free of findings."""
    found, findings = read({**SPEC, **fields})
    assert found is not None, [finding.message for finding in findings]
    return found


def axis(**fields: Any) -> Axis:
    return spec(axes={"a": {"size": 8, **fields}}).axes["a"]


def group(**fields: Any) -> Group:
    return spec(groups={"g": fields}).groups["g"]


def tensor(**fields: Any) -> Tensor:
    return group(tensors={"w": {**TENSOR, **fields}}).tensors["w"]


def target(**fields: Any) -> Target:
    return spec(targets=[{"checkpoint": "tiny", **fields}]).targets[0]


def refused(**fields: Any) -> tuple[str, str]:
    """Code and message of the one finding of the smallest spec with these fields."""
    found, findings = read({**SPEC, **fields})
    assert found is None
    (finding,) = findings
    return finding.code, finding.message
