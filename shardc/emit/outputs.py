"""Outputs as code: what the runtime puts together from the tensors of a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shardc.emit.brackets import Code, call, prefixed, tuple_of
from shardc.emit.dims import Dims
from shardc.emit.python import identifier
from shardc.layout.expr import Expr, Local, Name, Num, replace_nodes
from shardc.layout.permutation import Run, Turn
from shardc.layout.terms import ZERO
from shardc.plan.read_outputs import element_axis
from shardc.plan.resolved import Axis, Member, Output

#: A name pattern as code.
Named = Callable[[str], str]


def output_code(output: Output, dims: Dims, named: Named) -> Code:
    """`yield rt.Output(…)`, inside the loops of its group."""
    items: list[Code] = [named(output.pattern), tuple_of([_member(member, dims, named) for member in output.members])]
    out_dim = output.members[0].entry.out_dim
    if out_dim:
        items.append(f"dim={out_dim}")
    if output.by is not None:
        items.append(prefixed("by=", tuple_of(_axes(output, output.by, dims.axes))))
    if output.stack is not None and output.stack_axis is not None:
        axis = identifier(output.stack_axis)
        index = identifier(output.stack)
        dealt = dims.axes[output.stack_axis].how.placement
        position = f"{axis}.position({index})" if dealt == "round_robin" else f"{index} - {axis}.start"
        items.append(f"slice=({position}, {axis}.local)")
    return call("yield rt.Output", *items)


def _member(member: Member, dims: Dims, named: Named) -> Code:
    name = named(member.entry.pattern)
    if not member.runs:
        return name
    return call("rt.Permuted", name, tuple_of([_granules(run, dims) for run in member.runs]))


def _granules(run: Run, dims: Dims) -> Code:
    number = dims.code(dims.local(Local(run.count)))
    if not run.turns:
        return call("rt.Granules", number)
    return call("rt.Granules", number, _rows(run.size, dims), tuple_of([_turn(turn, dims) for turn in run.turns]))


def _turn(turn: Turn, dims: Dims) -> Code:
    tuples = (turn.sizes, turn.strides, turn.to)
    items: list[Code] = [tuple_of([_rows(expr, dims) for expr in exprs]) for exprs in tuples]
    if turn.start != ZERO:
        items.append(f"start={_rows(turn.start, dims)}")
    if turn.place != ZERO:
        items.append(f"place={_rows(turn.place, dims)}")
    return call("rt.Turn", *items)


def _rows(expr: Expr, dims: Dims) -> str:
    """A number of rows, by the variables of lets where it is made of them."""
    lets: dict[Expr, Expr] = {let: Name(name) for name, let in dims.lets.items() if not isinstance(let, (Name, Num))}
    return dims.size(replace_nodes(expr, lets))


def _axes(output: Output, by: str, axes: Mapping[str, Axis]) -> list[Code]:
    """The axis, and those within it that members are rows of."""
    own = [element_axis(member.entry, by, axes) for member in output.members]
    return [identifier(axis) for axis in dict.fromkeys([by, *own]) if axis is not None]
