"""Recorded checkpoints that are not what they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shardc.checkpoint import Checkpoint
from shardc.diagnostics.wording import plural
from shardc.review.diff import Evidence

#: Keys of a config that are named before they are only counted.
_NAMED = 4


def evidence_changes(before: Mapping[str, Checkpoint], after: Mapping[str, Checkpoint]) -> Iterator[Evidence]:
    """Those that only one side has, or whose config or tensors differ; by name."""
    for name in sorted({*before, *after}):
        if name not in before:
            yield Evidence(name, "added", plural(len(after[name].headers), "tensor"))
        elif name not in after:
            yield Evidence(name, "removed")
        else:
            words = "; ".join(_differences(before[name], after[name]))
            if words:
                yield Evidence(name, "changed", words)


def _differences(before: Checkpoint, after: Checkpoint) -> Iterator[str]:
    was, is_ = before.config.data, after.config.data
    keys = [key for key in {**is_, **was} if key not in was or key not in is_ or was[key] != is_[key]]
    if keys:
        more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
        yield f"config: {', '.join(keys[:_NAMED])}{more}"
    old, new = dict(before.headers), dict(after.headers)
    if old == new:
        return
    counts = {
        "added": len(new.keys() - old.keys()),
        "removed": len(old.keys() - new.keys()),
        "of another dtype or shape": sum(old[name] != new[name] for name in old.keys() & new.keys()),
    }
    yield ", ".join(f"{plural(count, 'tensor')} {word}" for word, count in counts.items() if count)
