"""How a rank's tensors are spread over mesh dims, found by planning the ranks beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shardc.runtime.buffers import places_of
from shardc.runtime.choices import Headers
from shardc.runtime.collector import collector_at_rest
from shardc.runtime.compositions import Made, composition_of, made_of
from shardc.runtime.config import Config
from shardc.runtime.cutting import cut
from shardc.runtime.errors import ShardError
from shardc.runtime.outputs import Output
from shardc.runtime.placements import Placements, placements_of
from shardc.runtime.planning import Mesh, Survey, rank_tensors, take_survey
from shardc.runtime.preparing import tied_twins
from shardc.runtime.row_runs import rows_in
from shardc.runtime.tensors import Spec, Tensor

STAGES = "pp"  # the stages of a pipeline run apart: no DTensor is over this mesh dim


class Spread(NamedTuple):
    """The shape of a full tensor, and its placements, or in words why DTensor has none."""

    shape: tuple[int, ...]
    placements: Placements | str


@collector_at_rest()
def spread(
    spec: Spec, config: Config, rank: Mesh, over: Sequence[str], headers: Headers | None = None, *, fused: bool = True
) -> dict[str, Spread]:
    """Each of this rank's tensors by name, in the spec's order, spread over the mesh dims `over`.

    What the other ranks keep along each mesh dim is planned, and compared; nothing is communicated. Mesh dims on which
    only some ranks have a tensor (experts by name) are left out of its placements, and pp always is.
    Raises ShardError, for plans of other ranks too.
    """
    survey = take_survey(spec.tensors, spec.formats, config, rank, headers)
    if survey.findings:
        raise ShardError(*survey.findings)
    tensors, outputs = rank_tensors(spec.tensors, config, rank, survey)
    own = composed(tensors, outputs, survey, fused)
    full = composed(survey.tensors, survey.outputs, survey, fused)
    dims = [name for name in over if name != STAGES]
    cut_dims = [name for name in dims if name in rank and rank[name].size > 1]
    lines = {name: line_of(spec, config, rank, name, own, survey, fused) for name in cut_dims}
    found: dict[str, Spread] = {}
    # Equal layouts are one object, which all of these keep alive: alike are tensors of the same objects on all ranks.
    columns = [full, own, *(beside for line in lines.values() for beside in line)]
    identities = zip(*(map(id, map(column.get, own)) for column in columns), strict=True)
    known: dict[tuple[int, ...], Spread] = {}
    for name, alike in zip(own, identities, strict=True):
        if alike not in known:
            whole, part = composition_of(full[name]), composition_of(own[name])
            ranks = {
                dim: [None if (there := beside.get(name)) is None else composition_of(there) for beside in line]
                for dim, line in lines.items()
            }
            known[alike] = Spread(tuple(map(rows_in, whole)), placements_of(whole, part, ranks, dims))
        found[name] = known[alike]
    return found | {name: found[twin] for name, twin in tied_twins(tensors, survey.choices).items()}


def line_of(
    spec: Spec, config: Config, rank: Mesh, name: str, own: Mapping[str, Made], survey: Survey, fused: bool
) -> list[Mapping[str, Made]]:
    """What each rank of a mesh dim keeps, at this rank's place on the others."""
    line: list[Mapping[str, Made]] = []
    for at in range(rank[name].size):
        if at == rank[name].rank:
            line.append(own)
        else:
            beside = {**rank, name: rank[name]._replace(rank=at)}
            line.append(composed(*rank_tensors(spec.tensors, config, beside, survey), survey, fused))
    return line


def composed(tensors: list[Tensor], outputs: list[Output], survey: Survey, fused: bool) -> dict[str, Made]:
    """What the local tensors of one pass are made of, by name."""
    shards = cut(tensors, survey.choices)
    places = places_of(outputs, tensors, survey.choices, shards) if fused else {}
    return made_of(shards, places)
