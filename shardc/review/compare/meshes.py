"""Every checkpoint on every mesh, before and after: does it load, and is it the same bytes?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from shardc.plan.bound import Bound
from shardc.plan.collectives import work_of
from shardc.plan.compile import compile_plan
from shardc.plan.plan import Plan
from shardc.plan.resolved import Entry, in_order
from shardc.plan.sweep import reasons
from shardc.plan.totals import rank_totals
from shardc.review.compare.built_outputs import changed_outputs
from shardc.review.compare.content import Contents, Ranks
from shardc.review.compare.cuts import Sides, changed_cuts
from shardc.review.compare.pairs import Pair, pairs
from shardc.review.diff import Class, MeshChange, Side, Version, in_class_order
from shardc.rules import claims, coverage, outputs
from shardc.rules.check import HINTED, claimed_meshes

#: A mesh, without the dims that have one rank.
_Mesh = tuple[tuple[str, int], ...]


def mesh_changes(before: Version | None, after: Version | None) -> Iterator[MeshChange]:
    """One for each recorded checkpoint and each mesh that either version claims, or that is worth a try."""
    names = dict.fromkeys(name for version in (after, before) if version for name in version.bound)
    for name in names:
        ranks = Ranks()
        yield from _of_checkpoint(name, _Tried(name, before, Contents(ranks)), _Tried(name, after, Contents(ranks)))


class _Tried(Struct, dict=True):
    """One version with one checkpoint."""

    checkpoint: str
    version: Version | None
    contents: Contents

    @property
    def bound(self) -> Bound | None:
        return self.version.bound.get(self.checkpoint) if self.version else None

    @cached_property
    def refused(self) -> tuple[str, ...]:
        """What keeps the checkpoint from being loaded on any mesh."""
        if self.version is None:
            return ()
        if self.version.resolved is None or self.bound is None:
            return tuple(f"{f.code} {f.message}" for f in self.version.findings if f.severity == "error")
        findings = list(self.bound.findings)
        if not findings:
            findings += [*claims.check(self.bound), *outputs.check(self.bound)]
            headers = self.bound.evidence.headers
            findings += coverage.check(self.bound, headers).findings if headers is not None else []
        return tuple(f"{f.code} {f.message}" for f in findings if f.severity == "error")

    @cached_property
    def claimed(self) -> set[_Mesh]:
        resolved = self.version.resolved if self.version else None
        if resolved is None:
            return set()
        targets = [target for target in resolved.spec.targets if target.checkpoint == self.checkpoint]
        return {_key(mesh) for target in targets for mesh in claimed_meshes(target, resolved)}

    @property
    def worth_a_try(self) -> set[_Mesh]:
        resolved = self.version.resolved if self.version else None
        return {_key({"tp": n}) for n in HINTED} if resolved is not None and "tp" in resolved.splitting else set()

    @property
    def others(self) -> set[_Mesh]:
        """Two ranks of each mesh dim but tp: nobody may claim any, and yet something may be dealt otherwise there."""
        resolved = self.version.resolved if self.version else None
        return {_key({over: 2}) for over in resolved.splitting - {"tp"}} if resolved is not None else set()

    def side(self, mesh: _Mesh) -> tuple[Side, Plan | None]:
        """What comes of a mesh, and the plan, where there is one."""
        claimed = mesh in self.claimed
        if self.bound is None or self.bound.findings or self.version is None or self.version.resolved is None:
            return Side(claimed, None, self.refused), None
        dims = self.version.resolved.mesh_dims
        unknown = [over for over, _ in mesh if over not in dims]
        if unknown:
            return Side(claimed, None, (f"no axis is over {', '.join(unknown)}",)), None
        compiled = compile_plan(self.bound, dict.fromkeys(dims, 1) | dict(mesh))
        if not compiled.ok or compiled.plan is None:
            return Side(claimed, None, self.refused + reasons(compiled), compiled), None
        loaded = None if self.refused else rank_totals(compiled.plan, {}).local
        return Side(claimed, loaded, self.refused, compiled), compiled.plan


def _of_checkpoint(checkpoint: str, before: _Tried, after: _Tried) -> Iterator[MeshChange]:
    """Of a mesh that one version refuses for what the file has or lacks, what the ranks would keep is compared too."""
    both = pairs(before.bound, after.bound)
    shown = before.claimed | after.claimed | before.worth_a_try | after.worth_a_try
    others = before.others | after.others if before.bound and after.bound else set()
    known: set[Class] = set()
    for mesh in [*sorted(shown, key=_order), *sorted(others - shown, key=_order)]:
        was, old = before.side(mesh)
        is_, new = after.side(mesh)
        classes = _loads(was, is_)
        cuts = []
        if old is not None and new is not None:
            cuts = changed_cuts(both, Sides(old, new, before.contents, after.contents)) + changed_outputs(old, new)
            if was.bytes is not None and is_.bytes is not None:
                classes += _same_work(both, old, new) + (["layout"] if cuts else [])
        if mesh in shown or not known.issuperset(classes):
            known |= set(classes)
            yield MeshChange(checkpoint, dict(mesh), was, is_, in_class_order(classes), tuple(cuts))


def _loads(was: Side, is_: Side) -> list[Class]:
    if (was.bytes is None) != (is_.bytes is None):
        return ["widens" if was.bytes is None else "narrows"]
    if is_.bytes is not None and was.claimed != is_.claimed:
        return ["widens" if is_.claimed else "narrows"]
    return []


def _same_work(both: list[Pair], old: Plan, new: Plan) -> list[Class]:
    """Whether both have the same tensors, and ask the model for the same work on those that both have."""
    out: list[Class] = []
    if any(pair.before is None or pair.after is None for pair in both):
        out.append("coverage")
    entries = {
        (id(pair.before.family.entry), id(pair.after.family.entry)): (pair.before.family.entry, pair.after.family.entry)
        for pair in both
        if pair.before is not None and pair.after is not None
    }
    if any(_work(was, old) != _work(is_, new) for was, is_ in entries.values()):
        out.append("collectives")
    return out


def _work(entry: Entry, plan: Plan) -> set[tuple[str, str]]:
    """The collectives that follow a tensor: what, and over which mesh dim."""
    return {(one.what, one.over) for one in work_of(entry, plan)}


def _key(mesh: Mapping[str, int]) -> _Mesh:
    return tuple((over, mesh[over]) for over in in_order(mesh) if mesh[over] > 1)


def _order(mesh: _Mesh) -> tuple[object, ...]:
    """tp alone first, then what else varies."""
    sizes = dict(mesh)
    tp = sizes.pop("tp", 1)
    return tuple(sorted(sizes.items())), tp
