"""The shard kind that a shape implies. The author writes it too; the two must agree (double entry)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from shardc.layout.expr import Binary, Cat, Expr, Name, Num, Per
from shardc.plan.resolved import Axis

#: What may be written where the first column is derived: its general forms, most specific first.
GENERAL: Mapping[str, tuple[str, ...]] = {
    "replicated": ("replicated", "rank0"),
    "head_rows": ("head_rows", "column_parallel"),
    "channel_rows": ("channel_rows", "column_parallel"),
    "channel_cols": ("channel_cols", "row_parallel"),
}

#: What each kind says, for messages.
MEANING: Mapping[str, str] = {
    "replicated": "whole on every rank",
    "head_rows": "one row a head",
    "channel_rows": "each head's rows",
    "channel_cols": "each head's columns",
    "column_parallel": "the output dim is split",
    "row_parallel": "the input dim is split",
    "segmented_rows": "the output dim is a concatenation, each segment split",
    "segmented_cols": "the input dim is a concatenation, each segment split",
    "vocab_rows": "rows of the vocabulary",
    "expert_slices": "one slice an expert",
    "rank0": "whole on rank 0, zeros elsewhere",
}

#: Kinds after which the model must sum the output over the ranks.
REDUCED = ("row_parallel", "channel_cols", "segmented_cols")


class Derived(Struct, frozen=True):
    """The kind of a shape. `leads` dims stand before the output dim (stacked experts, or ones)."""

    kind: str
    leads: int


def derive(
    dims: tuple[Expr, ...], loop_axes: tuple[str, ...], axes: Mapping[str, Axis], swapped: bool = False
) -> Derived:
    """Dims are [out], [out, in] or [out, …], behind an experts axis, or behind ones where there are more than two.

    `swapped` says [in, out].
    """
    kinds: list[str] = []
    leads = 0
    if dims and _is_experts(dims[0], axes):
        kinds.append("expert_slices")
        leads = 1
    elif any(axes[axis].role == "experts" for axis in loop_axes):
        kinds.append("expert_slices")
    if len(dims) - leads > 2:
        while leads < len(dims) - 1 and dims[leads] == Num(1):
            leads += 1
    rest = list(dims[leads:])
    if swapped and len(rest) >= 2:
        rest[-2:] = rest[:-3:-1]
    if rest:
        kinds += _dim_kind(rest[0], axes, "rows")
    if len(rest) > 1:
        kinds += _dim_kind(rest[1], axes, "cols")
    kinds += [kind for dim in rest[2:] for kind in _dim_kind(dim, axes, "cols")]
    return Derived(" + ".join(dict.fromkeys(kinds)) or "replicated", leads)


def words_of(kind: str) -> list[str]:
    """The words of a kind: `expert_slices + row_parallel` has two."""
    return [word.strip() for word in kind.split("+")]


def agrees(written: str, derived: str) -> bool:
    """Whether a written kind is the derived one or a general form of it."""
    given, implied = words_of(written), words_of(derived)
    if implied == ["expert_slices"]:
        return given in (["expert_slices"], ["expert_slices", "replicated"], ["expert_slices", "rank0"])
    return len(given) == len(implied) and all(a in GENERAL.get(b, (b,)) for a, b in zip(given, implied, strict=True))


def specific(written: str, derived: str) -> bool:
    """Whether the written kind is as specific as the shape allows."""
    return [w for w in words_of(written) if w not in ("rank0", "replicated")] == [
        d for d in words_of(derived) if d != "replicated"
    ]


def axes_in(expr: Expr, axes: Mapping[str, Axis]) -> list[str]:
    """The axes of a layout, outermost first."""
    match expr:
        case Name(id):
            return [id] if id in axes else []
        case Per(child, _):
            return [child] if child in axes else []
        case Cat(parts):
            return [axis for part in parts for axis in axes_in(part, axes)]
        case Binary(_, left, right):
            return axes_in(left, axes) + axes_in(right, axes)
    return []


def axes_of_dims(dims: Iterable[Expr], axes: Mapping[str, Axis]) -> set[str]:
    """The axes that the dims of a shape name."""
    return {axis for dim in dims for axis in axes_in(dim, axes)}


def _is_experts(dim: Expr, axes: Mapping[str, Axis]) -> bool:
    return isinstance(dim, Name) and dim.id in axes and axes[dim.id].role == "experts"


def _dim_kind(dim: Expr, axes: Mapping[str, Axis], side: str) -> list[str]:
    found = axes_in(dim, axes)
    if not found:
        return []
    if _is_segmented(dim, axes):
        return [f"segmented_{side}"]
    role = axes[found[0]].role
    if side == "cols":
        return ["channel_cols" if role == "heads" else "row_parallel"]
    if role == "vocab":
        return ["vocab_rows"]
    if role != "heads":
        return ["column_parallel"]
    return ["head_rows" if isinstance(dim, Name) else "channel_rows"]


def _is_segmented(dim: Expr, axes: Mapping[str, Axis]) -> bool:
    """A concatenation with a split segment, before any axis has dealt the dim as a whole."""
    match dim:
        case Cat(parts):
            return any(axes_in(part, axes) for part in parts)
        case Binary("*", left, right):
            return _is_segmented(left, axes) or (not axes_in(left, axes) and _is_segmented(right, axes))
    return False
