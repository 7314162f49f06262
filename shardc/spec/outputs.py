"""The `outputs` of a group: tensors that a rank builds from several of the file's, or from one with its rows moved."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from shardc.spec.fields import Formula, Identifier, Model, TensorName

#: An output is written for a kernel; no kernel takes more.
MAX_MEMBERS = 16


class Member(Model):
    """One tensor of the group, its rows as they are or permuted."""

    permute: TensorName = Field(description="A tensor of the group.", examples=["q_proj.weight"])
    origin: Formula | None = Field(
        None, alias="from", description="Its output dim, its rows in the file's order.",
        examples=["heads * 2 * (head_dim / 2)"],
    )  # fmt: skip
    to: Formula | None = Field(
        None, description="The same factors, in the order that the output has.", examples=["heads * (head_dim / 2) * 2"]
    )


def _member_form(value: Any) -> Any:
    """`q_proj.weight` or `{permute: q_proj.weight, from: …, to: …}`."""
    match value:
        case str():
            return {"permute": value}
        case dict() if {"from", "to"} <= value.keys():
            return value
    raise ValueError("a member is a tensor of the group, or {permute: …, from: …, to: …}")


MemberForms = Annotated[Member, BeforeValidator(_member_form, json_schema_input_type=TensorName | Member)]


class Output(Model):
    """One tensor on the rank: `concat`, `interleave` or `permute` says what it is made of."""

    concat: list[MemberForms] | None = Field(
        None, min_length=1, max_length=MAX_MEMBERS,
        description="Tensors of the group, one after the other along the output dim.",
        examples=[["q_proj.weight", "k_proj.weight", "v_proj.weight"]],
    )  # fmt: skip
    interleave: list[TensorName] | None = Field(
        None, min_length=2, max_length=MAX_MEMBERS,
        description="Tensors of the group: for each element of `by`, the rows that each has of it.",
        examples=[["in_proj_b.weight", "in_proj_a.weight"]],
    )  # fmt: skip
    by: Identifier | None = Field(None, description="The axis of `interleave`.", examples=["k_heads"])
    permute: TensorName | None = Field(
        None, description="A tensor of the group whose rows change places.", examples=["q_proj.weight"]
    )
    origin: Formula | None = Field(
        None, alias="from", description="With `permute`: its output dim, its rows in the file's order.",
        examples=["heads * 2 * (head_dim / 2)"],
    )  # fmt: skip
    to: Formula | None = Field(
        None, description="With `permute`: the same factors, in the order that the output has.",
        examples=["heads * (head_dim / 2) * 2"],
    )  # fmt: skip
    stack: Identifier | None = Field(
        None, description="With `concat`: an index over an axis; its elements become a dim in front.",
        examples=["expert"],
    )  # fmt: skip

    @model_validator(mode="after")
    def _is_one_form(self) -> Output:
        given = [form for form in ("concat", "interleave", "permute") if getattr(self, form) is not None]
        if len(given) != 1:
            raise ValueError(f"an output has one of `concat`, `interleave` and `permute`, not {len(given)}")
        (form,) = given
        for field, value, owner in (
            ("by", self.by, "interleave"),
            ("from", self.origin, "permute"),
            ("to", self.to, "permute"),
        ):
            if (value is not None) != (form == owner):
                raise ValueError(f"`{form}` {'needs' if form == owner else 'has no'} `{field}`")
        if self.stack and form != "concat":
            raise ValueError(f"`stack` goes with `concat`, not with `{form}`")
        return self

    @property
    def members(self) -> list[Member]:
        """The tensors it is made of, in their order."""
        if self.interleave is not None:
            return [Member.model_validate({"permute": name}) for name in self.interleave]
        if self.permute is not None:
            return [Member.model_validate({"permute": self.permute, "from": self.origin, "to": self.to})]
        return list(self.concat or [])
