"""Two versions are compared by what each rank keeps, so a form that leaves something out would hide a change."""

from __future__ import annotations

import itertools
import json
import random
import re

from hypothesis import given
from hypothesis import strategies as st

from shardc.plan.compile import compile_plan
from shardc.plan.plan import Plan
from shardc.review.compare.content import Contents, Ranks, by_rank
from shardc.review.compare.cuts import Sides, changed_cuts
from shardc.review.compare.pairs import pairs
from tests.laws.specs import Case, dense_cases, quantised_cases
from tests.support import bound, rows


def test_a_mesh_dim_on_which_nothing_depends_is_left_out() -> None:
    found = by_rank(["tp", "ep"], [2, 3], ["a", "a", "a", "b", "b", "b"])
    assert (found.over, found.sizes, found.values) == (("tp",), (2,), ("a", "b"))
    assert found.at({"tp": 1, "ep": 2}) == "b"


def test_mesh_dims_stand_in_one_order_whoever_names_them() -> None:
    one = by_rank(["tp", "ep"], [2, 2], [1, 2, 3, 4])
    other = by_rank(["ep", "tp"], [2, 2], [1, 3, 2, 4])
    assert one == other
    assert [one.at({"tp": tp, "ep": ep}) for tp in range(2) for ep in range(2)] == [1, 2, 3, 4]


def test_what_is_the_same_everywhere_depends_on_nothing() -> None:
    assert by_rank(["tp"], [4], ["x"] * 4) == by_rank([], [], ["x"])


@st.composite
def changes(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> tuple[Case, str]:
    """A random spec, and its text with something else in it: other names, another dealing, other shapes."""
    case = draw(cases)
    text = case.text
    for way in draw(st.lists(st.sampled_from(["rename", "deal", "shape"]), min_size=1, max_size=2)):
        text = _WAYS[way](text, random.Random(draw(st.integers(0, 99))))
    return case, text


def _rename(text: str, rng: random.Random) -> str:
    return re.sub(r"\b(kv_heads|inter|vocab|stages)\b", r"other_\1", text)


def _deal(text: str, rng: random.Random) -> str:
    """One axis dealt otherwise."""
    lines = text.split("\n")
    roots = [i for i, line in enumerate(lines) if line.startswith("  ") and '"over"' in line]
    at = rng.choice(roots)
    name, fields = lines[at].split(": ", 1)
    kept = {key: value for key, value in json.loads(fields).items() if key in ("size", "over", "granule")}
    way = rng.choice([{"if_uneven": "whole"}, {"if_uneven": "ceil"}, {"placement": "round_robin"}, {"granule": 1}])
    lines[at] = f"{name}: {json.dumps({**kept, **way})}"
    return "\n".join(lines)


def _shape(text: str, rng: random.Random) -> str:
    """One tensor with its factors swapped, its dims turned round, or another number in it."""
    lines = text.split("\n")
    at = rng.choice([i for i, line in enumerate(lines) if '"shape"' in line])
    name, fields = lines[at].split(": ", 1)
    data = json.loads(fields)
    dim = rng.randrange(len(data["shape"]))
    swapped = re.sub(r"^\(([^()]*)\) \* \(([^()]*)\)$", r"(\2) * (\1)", data["shape"][dim])
    data["shape"] = rng.choice([[*data["shape"][:dim], swapped, *data["shape"][dim + 1 :]], data["shape"][::-1]])
    lines[at] = f"{name}: {json.dumps(data)}"
    return "\n".join(lines)


_WAYS = {"rename": _rename, "deal": _deal, "shape": _shape}


@given(changes(dense_cases()))
def test_dense_tensors_differ_where_some_rank_keeps_something_else(found: tuple[Case, str]) -> None:
    compare(*found)


@given(changes(quantised_cases()))
def test_quantised_tensors_differ_where_some_rank_keeps_something_else(found: tuple[Case, str]) -> None:
    compare(*found)


def compare(case: Case, text: str) -> None:
    before, after = (bound(one, case.config, case.headers) for one in (case.text, text))
    if before.findings or after.findings:
        return
    for mesh in (case.mesh, {**case.mesh, "tp": 1}, {**case.mesh, "tp": 2}):
        mesh = {**dict.fromkeys([*before.resolved.mesh_dims, *after.resolved.mesh_dims], 1), **mesh}
        plans = [compile_plan(one, mesh).plan for one in (before, after) if compile_plan(one, mesh).ok]
        if len(plans) == 2 and plans[0] is not None and plans[1] is not None:
            ranks = Ranks()
            sides = Sides(plans[0], plans[1], Contents(ranks), Contents(ranks))
            cuts = changed_cuts(pairs(before, after), sides)
            assert sum(cut.count for cut in cuts) == len(_differing(plans[0], plans[1]))
            assert all(cut.before != cut.after for cut in cuts)


def _differing(before: Plan, after: Plan) -> set[str]:
    """The names that both plans have and that some rank keeps otherwise, one rank after the other."""
    names = [
        {name for f in plan.families for part in f.stored.parts for name in part.names} for plan in (before, after)
    ]
    out: set[str] = set()
    dims = before.mesh.keys() | after.mesh.keys()
    sizes = {dim: max(before.mesh.get(dim, 1), after.mesh.get(dim, 1)) for dim in dims}
    for at in itertools.product(*map(range, sizes.values())):
        rank = dict(zip(sizes, at, strict=True))
        was, is_ = rows(before, rank), rows(after, rank)
        out |= {name for name in names[0] & names[1] if _kept(was.get(name)) != _kept(is_.get(name))}
    return out


def _kept(row: object) -> object:
    """Without the dtype in the file: what a rank has is what counts."""
    return (row[0], row[1], row[3]) if isinstance(row, tuple) else None
