"""What a checkpoint holds, and what one rank keeps of it: two passes over a module's tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shardc.runtime.choices import Choice, Headers, file_names, missing_finding
from shardc.runtime.chooser import Chooser
from shardc.runtime.collector import collector_at_rest
from shardc.runtime.config import Config
from shardc.runtime.contents import Contents
from shardc.runtime.cutting import cut
from shardc.runtime.errors import Finding, ShardError, findings_together
from shardc.runtime.granules import granules, no_granules
from shardc.runtime.meshes import MeshDim
from shardc.runtime.outputs import Output
from shardc.runtime.settling import facts_of
from shardc.runtime.shards import Shard
from shardc.runtime.tensors import Describe, Formats, Tensor

Mesh = Mapping[str, MeshDim]


@dataclass(frozen=True, slots=True)
class Survey:
    """The first pass: every tensor the file should hold, and the format of each (None: the file lacks it).

    outputs: those of all ranks together.
    claimed: names of tensors that are in the file, but not as they should be.
    """

    tensors: list[Tensor]
    outputs: list[Output]
    choices: dict[str, Choice | None]
    claimed: frozenset[str]
    findings: tuple[Finding, ...]
    contents: Contents


@collector_at_rest()
def plan(
    describe: Describe, formats: Formats, config: Config, mesh: Mesh, headers: Headers | None = None
) -> list[Shard]:
    """What one rank keeps: the shards of all file tensors, in the spec's order.

    headers tell the format of each tensor, and which optional ones are there; without them the first format is taken.
    Raises ShardError with every finding of the first check that fails.
    """
    survey = take_survey(describe, formats, config, mesh, headers)
    if survey.findings:
        raise ShardError(*survey.findings)
    tensors, _ = rank_tensors(describe, config, mesh, survey)
    return cut(tensors, survey.choices)


@collector_at_rest()
def take_survey(
    describe: Describe,
    formats: Formats,
    config: Config,
    mesh: Mesh,
    headers: Headers | None,
    *,
    subset: bool = False,
) -> Survey:
    """The first pass: all mesh dims at size 1. In a subset of a checkpoint no tensor is missed."""
    contents = Contents(headers)
    tensors, outputs = apart(describe(config, whole_file(mesh), no_granules(), contents))
    facts = {name: facts_of(format, config) for name, format in formats.items()}
    choices, faults = Chooser(formats, headers, facts).choose(tensors)
    claimed: set[str] = set()
    findings: list[Finding] = []
    for tensor in [tensor for tensor in tensors if choices[tensor.name] is None]:
        if tensor.name in faults:
            findings += faults[tensor.name]
            claimed.update(file_names(tensor, formats))
        elif not (subset or tensor.family.optional or tensor.family.tied_to):
            findings.append(missing_finding(tensor, formats))
    findings += claimed_twice(choices, tensors)
    return Survey(tensors, outputs, choices, frozenset(claimed), tuple(findings), contents)


def claimed_twice(choices: Mapping[str, Choice | None], tensors: list[Tensor]) -> list[Finding]:
    """SHD105 for every file tensor that two tensors of the spec claim."""
    names = [name for tensor in tensors if (choice := choices[tensor.name]) for name in choice.names]
    counts = Counter(names) if len(set(names)) < len(names) else {}
    return [("SHD105", f"{name} is claimed {count} times") for name, count in counts.items() if count > 1]


def whole_file(mesh: Mesh) -> dict[str, MeshDim]:
    """The mesh of the first pass; contracts of kernels are checked in it only where it is the rank's own mesh."""
    single = is_single(mesh)
    return {name: MeshDim(name, 0, 1, whole_file=not single) for name in mesh}


def is_single(mesh: Mesh) -> bool:
    """True for a mesh of one rank."""
    return all(mesh_dim.size == 1 for mesh_dim in mesh.values())


@collector_at_rest()
def rank_tensors(describe: Describe, config: Config, mesh: Mesh, survey: Survey) -> tuple[list[Tensor], list[Output]]:
    """The second pass: the tensors that this rank keeps, cut for its mesh; of one rank alone, those of the first.

    Raises ShardError with every axis that cannot be dealt, or else with every contract that does not hold.
    """
    if is_single(mesh):
        return survey.tensors, survey.outputs
    with findings_together():
        return apart(describe(config, mesh, granules(survey.tensors, survey.choices), survey.contents))


def apart(described: Iterable[Tensor | Output]) -> tuple[list[Tensor], list[Output]]:
    """What a module describes: the tensors, and the outputs."""
    tensors: list[Tensor] = []
    outputs: list[Output] = []
    for one in described:
        if isinstance(one, Output):
            outputs.append(one)
        else:
            tensors.append(one)
    return tensors, outputs
