"""Which meshes a report has, and which it opens with."""

from __future__ import annotations

from shardc.plan.bound import Bound
from shardc.review.pages.shown_meshes import shown_meshes
from shardc.spec.target import Target
from tests.review.pages.reports import recorded
from tests.support import bound


def _target(of: Bound, name: str) -> Target:
    return next(target for target in of.resolved.spec.targets if target.checkpoint == name)


def _names(of: Bound, target: Target | None, asked: dict[str, int] | None = None) -> tuple[list[dict[str, int]], int]:
    shown = shown_meshes(of, target, asked)
    return [dict(one.plan.mesh) for one in shown.compiled if one.plan is not None], shown.first


def test_claimed_meshes_and_the_largest_tp_up_to_8_first() -> None:
    llama = recorded("llama", "llama-3.1-8b")
    meshes, first = _names(llama, _target(llama, "llama-3.1-8b"))
    assert meshes == [
        *({"tp": 1, "pp": pp} for pp in (1, 2, 4)),
        *({"tp": tp, "pp": 1} for tp in (2, 4, 8, 16, 32)),
    ]
    assert meshes[first] == {"tp": 8, "pp": 1}


def test_tp_and_ep_together_up_to_64_ranks() -> None:
    glm = recorded("glm5_next", "glm-5.3-flash")
    meshes, _ = _names(glm, _target(glm, "glm-5.3-flash"))
    assert {"tp": 16, "ep": 4, "pp": 1} in meshes
    assert {"tp": 16, "ep": 8, "pp": 1} not in meshes
    assert len(meshes) == 19


def test_a_size_that_is_not_claimed_is_added() -> None:
    glm = recorded("glm5_next", "glm-5.3-flash")
    asked = {"tp": 1, "ep": 3, "pp": 1}
    meshes, first = _names(glm, _target(glm, "glm-5.3-flash"), asked)
    assert (len(meshes), meshes[first]) == (20, asked)


def test_a_mesh_with_faults_is_none_to_begin_with() -> None:
    llama = recorded("llama", "llama-3.1-8b")
    shown = shown_meshes(llama, _target(llama, "llama-3.1-8b"), {"tp": 3, "pp": 1})
    assert (shown.first, shown.asked.ok, len(shown.asked.axes), shown.mesh) == (-1, False, 2, {"tp": 3, "pp": 1})


def test_without_a_target_powers_of_two_that_work() -> None:
    text = """
spec: 1
name: t
architectures: [T]
dtype: BF16
axes: {heads: {size: 12}}
groups: {g: {tensors: {w: {shape: [heads], shard: head_rows}}}}
"""
    assert _names(bound(text, {}), None) == ([{"tp": 1}, {"tp": 2}, {"tp": 4}], 2)


def test_a_target_whose_sizes_are_all_large() -> None:
    llama = recorded("llama", "llama-3.1-8b")
    meshes, first = _names(llama, Target(checkpoint="x", tp=[16, 32]))
    assert (meshes, first) == ([{"tp": 16, "pp": 1}, {"tp": 32, "pp": 1}], 0)
