"""What else a spec says: its axes, contracts and outputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from shardc.diagnostics import Span
from shardc.plan.names import starred
from shardc.plan.resolved import Contract, Output, Resolved
from shardc.review.compare.fields import Fields, changed, of_axis, of_contract, of_output
from shardc.review.compare.meaning import Meaning
from shardc.review.compare.renamed import renamed
from shardc.review.diff import Class, Field, Item, MeshChange

T = TypeVar("T")
_SAME = "the same on every mesh that was tried"
Status = Literal["added", "removed", "changed"]


class Two(Struct, Generic[T], frozen=True):
    """One thing of that name, before and after; None where it was not there. `same`: both mean the same."""

    name: str
    before: T | None
    after: T | None
    same: bool = False

    @property
    def status(self) -> Status:
        return "added" if self.before is None else "removed" if self.after is None else "changed"


def axis_items(before: Resolved, after: Resolved) -> tuple[Item, ...]:
    """Axes that were added, removed or renamed, or are dealt otherwise. What that does is said of their tensors."""
    old, new = Meaning(before), Meaning(after)
    other = renamed(before.axes, after.axes, old.axis, new.axis)
    items = [
        Item(f"{was} -> {is_}", "changed", ("equal",), (Field("name", was, is_, "renamed"),), _axis_at(after, is_))
        for was, is_ in other.items()
    ]
    for name in dict.fromkeys([*after.axes, *before.axes]):
        if name not in other and name not in other.values():
            was, is_ = before.axes.get(name), after.axes.get(name)
            same = was is not None and is_ is not None and old.axis(name) == new.axis(name)
            items += _item(Two(name, was, is_, same), of_axis, _axis_at(after if is_ is not None else before, name))
    return tuple(items)


def contract_items(before: Resolved, after: Resolved, meshes: Sequence[MeshChange]) -> tuple[Item, ...]:
    """Contracts that were added or removed, or that ask for something else.

    A loader with another contract refuses other sizes, whether one of them was tried or not; with one that is written
    otherwise it does not, as far as both say the same of every mesh that was tried.
    """
    old, new = Meaning(before), Meaning(after)
    items: list[Item] = []
    for two in _aligned(
        before.contracts, after.contracts, lambda contract: contract.use,
        lambda contract: tuple(old.contract(contract).items()), lambda contract: tuple(new.contract(contract).items()),
    ):  # fmt: skip
        side, contract = (after, two.after) if two.after is not None else (before, two.before)
        assert contract is not None
        classes: dict[Status, tuple[Class, ...]] = {
            "added": ("narrows",),
            "removed": ("widens",),
            "changed": ("narrows", "widens"),
        }
        tried = _same_answers(two, meshes)
        span = side.document.value(*contract.path)
        items += _item(two, of_contract, span, ("equal",) if tried else classes[two.status], _SAME if tried else "")
    return tuple(items)


def _same_answers(two: Two[Contract], meshes: Sequence[MeshChange]) -> bool:
    """Whether some mesh asks both, and each mesh has the same numbers of both."""
    if two.before is None or two.after is None:
        return False
    sides = [(one.before.compiled, one.after.compiled) for one in meshes]
    found = [
        (was.asked.get(two.before.path), is_.asked.get(two.after.path))
        for was, is_ in sides
        if was is not None and is_ is not None and was.plan is not None and is_.plan is not None
    ]
    return any(was is not None for was, _ in found) and all(was == is_ for was, is_ in found)


def output_items(before: Resolved, after: Resolved, meshes: Sequence[MeshChange]) -> tuple[Item, ...]:
    """Outputs that were added or removed, or are built otherwise.

    Those that mean something else are another layout, but where ranks build them, and alike on every mesh.
    """
    old, new = Meaning(before), Meaning(after)
    cut = {one.pattern for mesh in meshes for one in mesh.cuts}
    built = _built(meshes)
    items: list[Item] = []
    for two in _aligned(before.outputs, after.outputs, _pattern, old.output, new.output):
        side, output = (after, two.after) if two.after is not None else (before, two.before)
        assert output is not None
        same, pattern = two.same and _pattern(output) not in cut, _pattern(output)
        tried = two.status == "changed" and pattern in built and pattern not in cut
        span = side.document.key(*output.path)
        note = "" if same or not tried else _SAME
        items += _item(replace(two, same=same), of_output, span, ("equal",) if tried else ("layout",), note)
    return tuple(items)


def _built(meshes: Sequence[MeshChange]) -> set[str]:
    """The outputs that both versions build, on some mesh of some checkpoint."""
    out: set[str] = set()
    for mesh in meshes:
        plans = [side.compiled.plan for side in (mesh.before, mesh.after) if side.planned and side.compiled]
        names = [{_pattern(one.output) for one in plan.bound.outputs.built} for plan in plans if plan is not None]
        out |= names[0] & names[1] if len(names) == 2 else set()
    return out


def _item(
    two: Two[T], fields: Callable[[T], Fields], span: Span, classes: tuple[Class, ...] = (), note: str = ""
) -> list[Item]:
    """What differs, if anything does; `classes` are of what does not mean the same."""
    sides = [{} if one is None else fields(one) for one in (two.before, two.after)]
    differing = changed(*sides)
    if not differing:
        return []  # What it is made of may differ, which is said there.
    noted = tuple(replace(one, note="equal formula" if two.same else note) for one in differing)
    return [Item(two.name, two.status, ("equal",) if two.same else classes, noted, span)]


def _aligned(
    was: Sequence[T],
    is_: Sequence[T],
    name: Callable[[T], str],
    old: Callable[[T], Hashable],
    new: Callable[[T], Hashable],
) -> list[Two[T]]:
    """Things that may share a name: those that mean the same with each other, the rest in order.

    A second one of a name is `name #2`.
    """
    gone, now = _by_name(was, name, old), _by_name(is_, name, new)
    out: list[Two[T]] = []
    for named in dict.fromkeys([*now, *gone]):
        left = gone.get(named, [])
        pairs: list[tuple[_Meant[T] | None, _Meant[T] | None]] = []
        for one in now.get(named, []):
            twin = next((other for other in left if other[1] == one[1]), None)
            if twin is not None:
                left.remove(twin)
            pairs.append((twin, one))
        pairs = [(twin or (left.pop(0) if left else None), one) for twin, one in pairs]
        for i, (before, after) in enumerate([*pairs, *((one, None) for one in left)]):
            same = before is not None and after is not None and before[1] == after[1]
            two = before[0] if before else None, after[0] if after else None
            out.append(Two(f"{named} #{i + 1}" if i else named, *two, same))
    return out


#: A thing, and what it means.
_Meant = tuple[T, Hashable]


def _by_name(
    things: Sequence[T], name: Callable[[T], str], meaning: Callable[[T], Hashable]
) -> dict[str, list[_Meant[T]]]:
    out: dict[str, list[_Meant[T]]] = {}
    for one in things:
        out.setdefault(name(one), []).append((one, meaning(one)))
    return out


def _pattern(output: Output) -> str:
    return starred(output.pattern)


def _axis_at(side: Resolved, name: str) -> Span:
    return side.document.key("axes", name)
