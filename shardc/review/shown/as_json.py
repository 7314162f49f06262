"""A diff as JSON data: schema/diff.v1.json."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from shardc.diagnostics.visible import visible
from shardc.review.diff import CODES, Diff, Field, Item, MeshChange, Side, SpecChange, Version
from shardc.review.effects import effect, outcome

FORMAT_VERSION = 1


def as_data(diff: Diff) -> dict[str, object]:
    """Everything that is known of the change; specs that did not change are not in it."""
    return {
        "format_version": FORMAT_VERSION,
        "against": diff.against,
        "classes": list(diff.classes),
        "codes": [CODES[one] for one in diff.classes],
        "specs": [_spec(spec) for spec in diff.specs],
        "checkpoints": [asdict(one) for one in diff.evidence],
        "checks": {**asdict(diff.checks), "stale": list(diff.checks.stale)},
    }


def _spec(spec: SpecChange) -> dict[str, object]:
    return {
        "name": spec.name,
        "before": _version(spec.before),
        "after": _version(spec.after),
        "classes": list(spec.classes),
        "effect": visible(effect(spec)),
        "fields": [_field(one) for one in spec.fields],
        "axes": _items(spec.axes),
        "contracts": _items(spec.contracts),
        "tensors": _items(spec.tensors),
        "meshes": [_mesh(mesh) for mesh in spec.meshes],
    }


def _version(version: Version | None) -> dict[str, object] | None:
    if version is None:
        return None
    errors = [f"{one.code} {one.message}" for one in version.findings if one.severity == "error"]
    return {"file": version.file, "errors": errors}


def _field(one: Field) -> dict[str, object]:
    return {"field": one.name, "before": one.before, "after": one.after, "note": one.note}


def _items(items: Iterable[Item]) -> list[dict[str, object]]:
    return [
        {
            "name": item.name,
            "status": item.status,
            "classes": list(item.classes),
            "count": item.count,
            "fields": [_field(one) for one in item.fields],
            "span": asdict(item.span),
        }
        for item in items
    ]


def _mesh(mesh: MeshChange) -> dict[str, object]:
    return {
        "checkpoint": mesh.checkpoint,
        "mesh": {"tp": 1, **mesh.mesh},
        "outcome": outcome(mesh),
        "classes": list(mesh.classes),
        "before": _side(mesh.before),
        "after": _side(mesh.after),
        "cuts": [asdict(cut) for cut in mesh.cuts],
    }


def _side(side: Side) -> dict[str, object]:
    return {
        "claimed": side.claimed,
        "loads": side.bytes is not None,
        "bytes": side.bytes,
        "reasons": list(side.reasons),
    }
