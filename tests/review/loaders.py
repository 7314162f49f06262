"""What generated modules do with a checkpoint, and what `shardc diff` says of two of them: the same, or one is wrong."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from shardc.emit.bundle import bundle
from shardc.plan.evidence import Evidence
from shardc.review.diff import MeshChange, SpecChange

_RUNTIME = "runtime_of_the_diff_tests"


@dataclass(frozen=True)
class Kept:
    """What one rank gets of a checkpoint.

    tensors: by name, everything that decides its bytes, and where they lie in an output. twins: tied tensors that are
    another. every: the names in the file, of all ranks.
    """

    tensors: Mapping[str, object]
    twins: Mapping[str, str]
    every: frozenset[str]


#: By rank; None where the module refuses.
Ranks = Mapping[tuple[tuple[str, int], ...], Kept] | None


@cache
def loader(text: str) -> ModuleType:
    """A generated module, beside the runtime that is generated."""
    if _RUNTIME not in sys.modules:
        _module(_RUNTIME, bundle())
    return _module(f"loader_{abs(hash(text))}", text.replace("from . import _runtime", f"import {_RUNTIME}"))


def _module(name: str, text: str) -> ModuleType:
    made = sys.modules[name] = ModuleType(name)
    exec(compile(text, name, "exec"), made.__dict__)
    return made


def kept(module: ModuleType, evidence: Evidence, mesh: Mapping[str, int]) -> Ranks:
    """What `load` would read on every rank, step by step as it goes, without a file."""
    sizes = {dim: size for dim, size in mesh.items() if size > 1}
    if not sizes.keys() <= set(module.MESH):
        return None
    out = {}
    for at in itertools.product(*map(range, sizes.values())):
        rank = tuple(sorted(zip(sizes, at, strict=True)))
        try:
            out[rank] = _of_rank(module, evidence, {dim: (r, sizes[dim]) for dim, r in rank})
        except module.rt.ShardError:
            return None
    return out


def _of_rank(module: Any, evidence: Evidence, at: Mapping[str, tuple[int, int]]) -> Kept:
    rt, spec, rank = module.rt, module.SPEC, module.rt.mesh(module.MESH, extra=at)
    headers = {name: rt.Header(*one) for name, one in (evidence.headers or {}).items()} or None
    survey = rt.take_survey(spec.tensors, spec.formats, evidence.config, rank, headers)
    if headers is not None:
        rt.check_coverage(survey, headers, spec.ignored)
    elif survey.findings:
        raise rt.ShardError(*survey.findings)
    tensors, outputs = rt.rank_tensors(spec.tensors, evidence.config, rank, survey)
    shards = rt.cut(tensors, survey.choices)
    rt.whole_outputs(survey.outputs, survey.tensors, survey.choices)
    places = rt.places_of(outputs, tensors, survey.choices, shards)
    # Without a file nobody knows what it lacks.
    twins = rt.tied_twins(tensors, survey.choices) if headers is not None else {}
    rt.check_twins(twins, places)
    every = frozenset(stored.name for choice in survey.choices.values() if choice for stored in choice.stored)
    return Kept(
        {one.name: (one.shape, one.at, one.local_dtype, one.values, repr(places.get(one.name))) for one in shards},
        twins,
        every,
    )


def contradictions(change: SpecChange, evidence: Mapping[str, Evidence], most: int) -> Iterator[str]:
    """Everything that the modules do and the diff does not say, or the other way; on meshes of at most `most` ranks."""
    assert change.before and change.after and change.before.module and change.after.module
    before, after = loader(change.before.module), loader(change.after.module)
    tried = {(one.checkpoint, _key(one.mesh)): one for one in change.meshes}
    dims = {*before.MESH, *after.MESH}
    for name, one in evidence.items():
        meshes = [dict(key) for checkpoint, key in tried if checkpoint == name]
        meshes += [mesh for mesh in _UNTRIED if mesh.keys() <= dims and (name, _key(mesh)) not in tried]
        for mesh in meshes:
            if _count(mesh) <= most:
                done = _effect(kept(before, one, mesh), kept(after, one, mesh))
                yield from (f"{name} {mesh}: {word}" for word in _against(done, tried.get((name, _key(mesh))), change))
    if _code(change.before.module) == _code(change.after.module):
        claims = {one for mesh in change.meshes for one in mesh.classes if mesh.before.claimed != mesh.after.claimed}
        wrong = set(change.classes) - claims - {"equal", "cosmetic"}
        yield from (f"the same code, and {one}" for one in sorted(wrong))
    elif change.classes == ("cosmetic",):
        yield "cosmetic, and other code"


#: Meshes beside those of the diff: no powers of two, and several mesh dims.
_UNTRIED: list[dict[str, int]] = [{"tp": 3}, {"tp": 6}, {"ep": 2}, {"pp": 2}, {"tp": 2, "ep": 2}, {"tp": 2, "pp": 2}]


def _effect(before: Ranks, after: Ranks) -> set[str]:
    """The classes of what two modules do with one checkpoint."""
    if before is None or after is None:
        return {"widens"} if after else {"narrows"} if before else set()
    out = set()
    every = [frozenset().union(*(one.every for one in side.values())) for side in (before, after)]
    if every[0] != every[1]:
        out.add("coverage")
    both = every[0] & every[1]
    for was, is_ in ((before[rank], after[rank]) for rank in before):
        tensors = [{name: one for name, one in side.tensors.items() if name in both} for side in (was, is_)]
        twins = [{name: twin for name, twin in side.twins.items() if twin in both} for side in (was, is_)]
        lost = {name for name in twins[0].keys() & twins[1].keys() if twins[0][name] != twins[1][name]}
        if tensors[0] != tensors[1] or lost:
            out.add("layout")
    return out


def _against(done: set[str], said: MeshChange | None, change: SpecChange) -> Iterator[str]:
    if said is None:
        # A mesh that the diff did not try: what it does is then in the class of the spec.
        if "layout" not in change.classes:
            yield from (f"{one}, and the spec is {change.classes}" for one in sorted(done - set(change.classes)))
        return
    loads = ["widens"] if said.before.bytes is None else []
    loads += ["narrows"] if said.after.bytes is None else []
    expected = done & {"layout", "coverage"} | ({*loads} if len(loads) == 1 else set())
    known = set(said.classes) - {"collectives"}
    if said.before.claimed != said.after.claimed:
        known -= {"widens", "narrows"} - expected
    if said.before.bytes is None or said.after.bytes is None:
        known -= {"layout", "coverage"}
    if known != expected or done & {"widens", "narrows"} != expected & {"widens", "narrows"}:
        yield f"modules: {sorted(done)}, diff: {said.classes}, {said.before.reasons or said.after.reasons}"


def _key(mesh: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((dim, size) for dim, size in mesh.items() if size > 1))


def _count(mesh: Mapping[str, int]) -> int:
    out = 1
    for size in mesh.values():
        out *= size
    return out


def _code(module: str) -> str:
    return module[module.index("\nARCHITECTURES") :]
