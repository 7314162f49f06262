"""SHD208: a bias whose rows are not cut as its weight's are."""

from __future__ import annotations

from collections.abc import Iterator

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.normal_form import NormalForm, normal_form
from shardc.layout.show import show
from shardc.plan.bound import Bound
from shardc.plan.family import Family
from shardc.plan.summed import beside


def check(bound: Bound) -> Iterator[Diagnostic]:
    """One finding for each bias that has an output dim of another layout than the weight of its name."""
    weights: dict[str, list[Family]] = {}
    for family in bound.families:
        weights.setdefault(family.entry.pattern, []).append(family)
    reported = set()
    for bias in bound.families:
        pair = _pair(bias, [one for pattern in beside(bias.entry.pattern) for one in weights.get(pattern, ())])
        if pair is not None and bias.entry.path not in reported:
            reported.add(bias.entry.path)
            yield _finding(bias, pair, bound)


def _pair(bias: Family, weights: list[Family]) -> Family | None:
    """The first weight beside the bias, if the bias is cut as none of them is."""
    rows = _rows(bias)
    others = [weight for weight in weights if _rows(weight) is not None]
    if rows is None or any(_rows(weight) == rows for weight in others):
        return None
    return next(iter(others), None)


def _rows(family: Family) -> NormalForm | None:
    """How the output dim is cut; None where there is none."""
    out_dim = family.entry.out_dim
    return None if out_dim is None else normal_form(family.entry.dims[out_dim], family.scope)


def _finding(bias: Family, weight: Family, bound: Bound) -> Diagnostic:
    document = bound.resolved.document
    name, other = bias.entry.path[-1], weight.entry.path[-1]
    rows = [show(one.entry.written[one.entry.out_dim or 0]) for one in (bias, weight)]
    return Diagnostic(
        "SHD208",
        f"{name} is cut as `{rows[0]}`, {other} as `{rows[1]}`: a rank would add other rows' biases",
        Label(document.value(*bias.entry.path, "shape"), "the bias"),
        related=(Label(document.value(*weight.entry.path, "shape"), "the weight that it is added to"),),
        help=f"write the bias as [{rows[1]}], as the weight's output is; or correct the weight",
    )
