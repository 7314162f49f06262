"""Tensors by their places: groups, their indices, and what each tensor is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from shardc.spec.axis import Axis
from shardc.spec.fields import Dtype, Dtypes, Ends, Formula, Identifier, Identifiers, Model, TensorName, both_dims
from shardc.spec.outputs import Output
from shardc.spec.shorthand import dtype_form, loop_form, tied_form, use_form

#: A spec is not trusted to be small; these are some ten times what the largest needs.
MAX_NAMES, MAX_AXES, MAX_USES = 300, 100, 20


class DtypeRule(Model):
    """Which dtypes the file may hold, and which one is loaded (as stored, unless said)."""

    file: Dtypes = Field(description="Dtypes the file may hold.", examples=[["BF16", "F32"]])
    load: Dtype | None = Field(None, description="Cast to this dtype while loading.", examples=["BF16"])


DtypeForms = Annotated[DtypeRule, BeforeValidator(dtype_form, json_schema_input_type=Dtype | list[Dtype] | DtypeRule)]


class Tied(Model):
    """The tensor may be absent: it is then the very tensor it is tied to."""

    name: TensorName = Field(description="The tensor it is tied to.", examples=["model.embed_tokens.weight"])
    when: Formula | None = Field(
        None, description="Condition under which it is tied; always, if not given.", examples=["tied"]
    )


class Tensor(Model):
    """One tensor of the file (or one for each index of the group's loops)."""

    shape: list[Formula] = Field(
        max_length=6, description="One formula a dim: its size and its storage order.",
        examples=[["heads * head_dim", "hidden"], ["q | k | v", 1, "conv_kernel"]],
    )  # fmt: skip
    shard: str = Field(
        description="Its shard kind, checked against the shape.",
        examples=["channel_rows", "expert_slices + row_parallel"],
    )
    dims: Annotated[list[Literal["out", "in"]], AfterValidator(both_dims)] | None = Field(
        None, description="Order of the last two dims, where it is not [out, in].", examples=[["in", "out"]]
    )
    dtype: DtypeForms | None = Field(
        None, description="Its dtypes, where they are not the spec's.",
        examples=["F32", {"file": ["BF16", "F32"], "load": "BF16"}],
    )  # fmt: skip
    formats: Identifiers = Field(
        ["dense"], description="Storage formats it may come in, or sets of them; the file's header decides.",
        examples=[["dense", "fp8_block"], "linear"],
    )  # fmt: skip
    when: Formula | None = Field(None, description="Only where this holds.", examples=["attention_bias"])
    optional: bool = Field(False, description="The file may lack it.", examples=[True])
    tied_to: Annotated[Tied, BeforeValidator(tied_form, json_schema_input_type=TensorName | Tied)] | None = Field(
        None, description="Tied to another tensor: absent in the file, the same in memory.",
        examples=[{"name": "model.embed_tokens.weight", "when": "tied"}],
    )  # fmt: skip
    collective: Literal["gather", "masked_all_reduce", "sum_of_squares"] | None = Field(
        None, description="What the model must do besides what the kind implies.", examples=["sum_of_squares"]
    )
    on: dict[Identifier, Ends] | None = Field(
        None, alias="only", max_length=4, description="The ranks that have it, instead of those of the group.",
        examples=[{"pp": "last"}],
    )  # fmt: skip


class Loop(Model):
    """The values of one index: `from` .. `to`-1; where it is `of` an axis, so many of its elements."""

    of: Identifier | None = Field(None, description="The axis whose elements the index runs over.", examples=["layers"])
    start: Formula = Field(
        "0", alias="from", description="The first value, a formula on config symbols.", examples=["dense_layers"]
    )
    stop: Formula | None = Field(
        None,
        alias="to",
        description="One after the last value; the size of the axis, if not given.",
        examples=["layers"],
    )

    @model_validator(mode="after")
    def _ends(self) -> Loop:
        if self.of is None and self.stop is None:
            raise ValueError("an index needs an end: a count, [from, to], an axis, or {of: axis, from: …, to: …}")
        return self


LoopForms = Annotated[Loop, BeforeValidator(loop_form, json_schema_input_type=Formula | list[Formula] | Loop)]


class Use(Model):
    """A fragment of the library (shardc/library/fragments): its tensors, at this place."""

    fragment: Identifier = Field(description="Name of the fragment.", examples=["gated_mlp"])
    given: dict[Identifier, Formula] = Field(
        default_factory=dict, alias="with", max_length=MAX_NAMES,
        description="What its names stand for here, where it is not the spec's name of that spelling.",
        examples=[{"inter": "shared_inter"}],
    )  # fmt: skip
    formats: Identifiers | None = Field(
        None, description="Formats of its linear layers, where they are not the spec's set `linear`.",
        examples=["experts"],
    )  # fmt: skip


_UseForms = Identifier | Use | list[Identifier | Use]
UseForms = Annotated[
    list[Use], BeforeValidator(use_form, json_schema_input_type=_UseForms), Field(min_length=1, max_length=MAX_USES)
]


class Group(Model):
    """Tensors that stand at one place, for each value of its loops."""

    at: TensorName | None = Field(
        None, description="Prefix of the names; a dot follows it.", examples=["model.layers.{layer}.self_attn"]
    )
    loops: dict[Identifier, LoopForms] = Field(
        default_factory=dict, alias="for", max_length=4,
        description="Indices in the names: a count, [from, to], an axis (experts), or a part of one.",
        examples=[
            {"layer": "layers"}, {"layer": ["dense_layers", "layers"], "expert": "experts"},
            {"layer": {"of": "layers", "to": "dense_layers"}},
        ],
    )  # fmt: skip
    when: Formula | None = Field(
        None,
        description="Only for the indices for which this holds.",
        examples=["layer_types[layer] == 'linear_attention'"],
    )
    on: dict[Identifier, Ends] = Field(
        default_factory=dict, alias="only", max_length=4,
        description="Mesh dims of which the first or the last rank alone has these tensors: the ends of a pipeline.",
        examples=[{"pp": "first"}, {"pp": ["first", "last"]}],
    )  # fmt: skip
    like: Identifier | None = Field(
        None, description="Takes over another group's `let`, `axes`, `tensors` and `outputs`, to its own place.",
        examples=["attention"],
    )  # fmt: skip
    use: UseForms = Field(
        default_factory=list,
        description="Fragments of the library; a tensor of the group's own replaces one of the same name.",
        examples=[["gqa", "qk_norm"], [{"fragment": "gated_mlp", "with": {"inter": "shared_inter"}}]],
    )
    let: dict[Identifier, Formula] = Field(
        default_factory=dict, max_length=MAX_NAMES, description="Names for formulas.",
        examples=[{"channels": "heads * head_dim"}],
    )  # fmt: skip
    axes: dict[Identifier, Axis] = Field(
        default_factory=dict, max_length=MAX_AXES,
        description="Axes of this group alone; their sizes may use the indices.",
        examples=[{"layer_heads": {"size": "heads_per_layer[layer]"}}],
    )  # fmt: skip
    tensors: dict[TensorName, Tensor] = Field(
        default_factory=dict, description="Its tensors, by the rest of their names.",
        examples=[{"q_proj.weight": {"shape": ["heads * head_dim", "hidden"], "shard": "channel_rows"}}],
    )  # fmt: skip
    outputs: dict[TensorName, Output] = Field(
        default_factory=dict, max_length=MAX_NAMES, description="Tensors that a rank builds from them.",
        examples=[{"qkv_proj.weight": {"concat": ["q_proj.weight", "k_proj.weight", "v_proj.weight"]}}],
    )  # fmt: skip
