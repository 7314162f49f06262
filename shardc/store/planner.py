"""What each rank of a mesh keeps of a checkpoint: one survey of the file for all ranks."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from shardc.runtime.config import Config
from shardc.runtime.coverage import check_coverage
from shardc.runtime.cutting import cut
from shardc.runtime.headers import Header
from shardc.runtime.meshes import MeshDim, mesh
from shardc.runtime.planning import rank_tensors, take_survey
from shardc.runtime.shards import Shard
from shardc.runtime.tensors import Spec


class Planner:
    """The ranks of a mesh by their numbers; mesh dims vary faster the earlier they come in the spec.

    `ignored` are the tensors that the spec leaves out. Raises ShardError where file and spec do not agree.
    """

    def __init__(self, spec: Spec, config: Config, headers: Mapping[str, Header], sizes: Mapping[str, int]) -> None:
        self.spec, self.config = spec, config
        self.mesh = tuple((name, sizes.get(name, 1)) for name in spec.mesh)
        self.ranks = prod(size for _, size in self.mesh)
        self._survey = take_survey(spec.tensors, spec.formats, config, self.coordinates(0), headers)
        check_coverage(self._survey, headers, spec.ignored)
        claimed = {one.name for choice in self._survey.choices.values() if choice for one in choice.stored}
        self.ignored = [name for name in headers if name not in claimed]

    def coordinates(self, rank: int) -> dict[str, MeshDim]:
        """A rank's coordinate on each mesh dim."""
        found: dict[str, tuple[int, int]] = {}
        for name, size in self.mesh:
            rank, at = divmod(rank, size)
            found[name] = (at, size)
        return mesh(self.spec.mesh, extra=found)

    def shards(self, rank: int) -> list[Shard]:
        """What a rank keeps, in the spec's order. Raises ShardError for a mesh that does not work."""
        tensors, _ = rank_tensors(self.spec.tensors, self.config, self.coordinates(rank), self._survey)
        return cut(tensors, self._survey.choices)
