"""From the tensors of a pass to the shards of a rank: regions of every dim, of every part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shardc.runtime.choices import Choice, Stored
from shardc.runtime.collector import collector_at_rest
from shardc.runtime.companions import companion_size, companion_spans
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.regions import Spans, normalise, whole_dim
from shardc.runtime.shards import Shard
from shardc.runtime.tensors import Part, Tensor, role_dims

Choices = Mapping[str, Choice | None]
Layout = tuple[tuple[int, ...], tuple[Spans, ...]]  # full shape, and the spans of each dim


@collector_at_rest()
def cut(tensors: Iterable[Tensor], choices: Choices) -> list[Shard]:
    """The shards of one rank, in the order of its tensors; those that the file lacks are left out.

    Tensors that are alike share their shapes and spans: of 100,000 tensors, a few hundred layouts are worked out.
    Raises SHD212 and SHD213 with every part that cannot be cut.
    """
    shards: list[Shard] = []
    findings: list[Finding] = []
    layouts: dict[object, dict[str | None, Layout]] = {}
    for tensor in tensors:
        choice = choices[tensor.name]
        if choice is None:
            continue
        alike = (tensor.shape, tuple(tensor.at.items()), tuple(tensor.segments.items()), choice.format)
        known = layouts.setdefault(alike, {})
        for stored in choice.stored:
            key = stored.part.name if stored.part else None
            try:
                layout = known.get(key) or known.setdefault(key, layout_of(tensor, stored))
            except ShardError as error:
                findings += error.findings
            else:
                shards.append(shard(tensor, choice.format, stored, layout))
    if findings:
        raise ShardError(*findings)
    return shards


def shard(tensor: Tensor, format: str, stored: Stored, layout: Layout) -> Shard:
    """One shard; a scalar has the shape that the file gives it."""
    shape, at = layout
    part = stored.part
    if shape == () and stored.scalar == (1,):
        shape, at = (1,), (whole_dim(1),)
    return Shard(
        stored.name,
        "replicated" if part and not part.dims else tensor.kind,
        format,
        stored.dtype,
        part.dtypes if part else tensor.dtype,
        None if part else tensor.load,
        shape,
        at,
        tensor.optional or bool(part and part.optional),
        tensor.tied_to,
    )


def layout_of(tensor: Tensor, stored: Stored) -> Layout:
    """Full shape and spans of one file tensor of a tensor."""
    spans = tuple(
        normalise(tensor.at[dim]) if dim in tensor.at else whole_dim(size) for dim, size in enumerate(tensor.shape)
    )
    if stored.part is None:
        return tensor.shape, spans
    return part_layout(tensor, spans, stored.part, stored.name)


def part_layout(tensor: Tensor, spans: tuple[Spans, ...], part: Part, name: str) -> Layout:
    """Full shape and spans of a part: leading dims as the weight's, its own dims in their units."""
    if not part.dims:
        return (), ()
    leading = max(len(tensor.shape) - 2, 0)
    shape, at = list(tensor.shape[:leading]), list(spans[:leading])
    dims = role_dims(len(tensor.shape))
    for role, unit, ceil in part.dims:
        dim = dims[role]
        segments = tensor.segments.get(dim, (tensor.shape[dim],))
        shape.append(companion_size(name, segments, unit, ceil))
        at.append(companion_spans(name, dim, spans[dim], segments, unit))
    return tuple(shape), tuple(at)
