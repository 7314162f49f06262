"""A spec file, field by field. Descriptions and examples here become the JSON schema and the language reference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from shardc.spec.fields import (
    ClassName,
    Dtype,
    Dtypes,
    Ends,
    Formula,
    Glob,
    Identifier,
    Identifiers,
    KeyPath,
    Model,
    Size,
    TensorName,
    Words,
    both_dims,
    no_flag,
)
from shardc.spec.outputs import Output
from shardc.spec.shorthand import dtype_form, formats_form, loop_form, symbol_form, tied_form, use_form
from shardc.spec.target import Target

#: A spec is not trusted to be small; these are some ten times what the largest needs.
MAX_NAMES, MAX_AXES, MAX_CONTRACTS, MAX_TARGETS, MAX_USES = 300, 100, 50, 50, 20


#: Fields of an axis that say how it is dealt.
_DEALING = {"if_uneven", "if_fewer", "replicas", "pad_to", "pad_local_to", "placement"}


class DtypeRule(Model):
    """Which dtypes the file may hold, and which one is loaded (as stored, unless said)."""

    file: Dtypes = Field(description="Dtypes the file may hold.", examples=[["BF16", "F32"]])
    load: Dtype | None = Field(None, description="Cast to this dtype while loading.", examples=["BF16"])


DtypeForms = Annotated[DtypeRule, BeforeValidator(dtype_form, json_schema_input_type=Dtype | list[Dtype] | DtypeRule)]


class Symbol(Model):
    """A value of the checkpoint's config.json, by its dotted path below `root`; or the size of a tensor's dim."""

    key: Words | None = Field(
        None, description="Dotted path, or several spellings of one fact (two that disagree are an error).",
        examples=["num_hidden_layers", ["num_kv_heads", "n_head_kv"]],
    )  # fmt: skip
    tensor: Glob | None = Field(
        None, description="Tensor (the first of the file that matches) whose header has it.",
        examples=["model.layers.*.self_attn.f_a_proj.weight"],
    )  # fmt: skip
    dim: Annotated[int, Field(ge=0, le=7)] = Field(0, description="Dim of that tensor, as stored.", examples=[0])
    otherwise: Formula | None = Field(
        None, alias="else", description="Value where the key is absent or null; divisions must be exact.",
        examples=[0, "hidden / num_heads"],
    )  # fmt: skip

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> Symbol:
        if self.key is None and self.tensor is None:
            raise ValueError("a symbol needs `key:`, a path of config.json, or `tensor:`, whose header has it")
        return self


SymbolForms = Annotated[Symbol, BeforeValidator(symbol_form, json_schema_input_type=Words | Symbol)]


class Axis(Model):
    """A logical axis that is split once, for every tensor that mentions it."""

    size: Formula = Field(description="Elements of the axis, on config symbols.", examples=["num_key_value_heads"])
    over: Identifier = Field("tp", description="Mesh dim that splits it.", examples=["tp", "ep"])
    within: Identifier | None = Field(
        None, description="Parent axis: this one is parent × (size / parent), dealt with it.", examples=["kv_heads"]
    )
    if_uneven: Literal["error", "spread", "ceil", "whole"] = Field(
        "error",
        description="Granules do not divide by the ranks: error; spread (first ranks one more); "
        "ceil (equal shares, the tail zero-filled); whole (every rank keeps all).",
        examples=["spread"],
    )
    if_fewer: Literal["error", "replicate"] = Field(
        "error", description="Fewer granules than ranks: error, or neighbours share one.", examples=["replicate"]
    )
    replicas: Literal["blocked", "cyclic"] = Field(
        "blocked", description="Which ranks share: r // k (blocked) or r % n (cyclic).", examples=["blocked"]
    )
    granule: Size = Field(1, description="Elements that may not be cut apart.", examples=[2])
    pad_to: Size | None = Field(
        None, description="Size rounded up to lcm(pad_to, ranks); zeros at the end of the last ranks.", examples=[64]
    )
    pad_local_to: Size | None = Field(
        None, description="Each rank's share rounded up after the split (a kernel's tile), zero-filled.", examples=[128]
    )
    placement: Literal["contiguous", "round_robin"] = Field(
        "contiguous",
        description="Where granules go: neighbours together (contiguous), or granule e to rank e % n (round_robin).",
        examples=["round_robin"],
    )
    role: Literal["heads", "vocab", "experts", "layers", "plain"] | None = Field(
        None,
        description="What it counts; by default read off its name: "
        "(…_)heads, (…_)groups, vocab…, (…_)experts, (…_)layers.",
        examples=["heads"],
    )

    @model_validator(mode="after")
    def _within_follows(self) -> Axis:
        own = self.model_fields_set & {*_DEALING, "over", "granule"}
        if self.within and own:
            raise ValueError(f"an axis within {self.within} is dealt with it; `{min(own)}` belongs there")
        if self.pad_to and self.if_uneven != "error":
            raise ValueError("`pad_to` makes the axis even; `if_uneven` has nothing left to decide")
        if self.placement == "round_robin":
            padding = [field for field in ("pad_to", "pad_local_to") if getattr(self, field) is not None]
            if self.if_uneven == "ceil":
                padding.append("if_uneven: ceil")
            if padding:
                raise ValueError(f"`placement: round_robin` deals granules one by one; `{padding[0]}` would pad them")
        return self


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
        None, max_length=4, description="The ranks that have it, instead of those of the group.",
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
        default_factory=dict, max_length=4,
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


class Contract(Model):
    """What a kernel expects of local sizes (shardc/library/contracts)."""

    use: Identifier = Field(description="Name of the contract.", examples=["causal_conv1d_l2norm"])
    given: dict[Identifier, Formula] = Field(
        alias="with", description="Its parameters; `local(x)` is the size on the rank at hand.",
        examples=[{"channels": "local(2 * kda_heads * head_dim)"}],
    )  # fmt: skip
    when: Formula | None = Field(None, description="Only where this holds.", examples=["num_kda_heads > 0"])


class Ignore(Model):
    """Tensors of the file that no rank wants."""

    name: Glob = Field(description="Name, with * for any run of characters.", examples=["model.visual.*"])
    because: str = Field(
        min_length=4, max_length=300, description="Why.", examples=["the vision tower is served by another process"]
    )


FormatSets = Annotated[
    dict[Identifier, Identifiers],
    BeforeValidator(formats_form, json_schema_input_type=list[Identifier] | dict[Identifier, Identifiers]),
]


class Spec(Model):
    """One architecture: what every tensor of its checkpoint is made of, and how it is cut."""

    spec: Annotated[Literal[1], BeforeValidator(no_flag)] = Field(description="Version of the language.", examples=[1])
    name: Identifier = Field(description="Name of the generated module.", examples=["llama"])
    architectures: list[ClassName] = Field(
        min_length=1, description="Classes named by config.json.", examples=[["LlamaForCausalLM"]]
    )
    about: str = Field(
        "", max_length=1000, description="One or two sentences for a reader.", examples=["Llama 2 and 3."]
    )
    root: KeyPath | None = Field(
        None, description="Nested config that symbols are read from.", examples=["text_config"]
    )
    dtype: DtypeForms = Field(
        description="Dtypes of all tensors that do not say otherwise.", examples=["BF16", ["BF16", "F16"]]
    )
    formats: FormatSets = Field(
        default_factory=dict, max_length=MAX_NAMES,
        description="Sets of formats by name; a list alone is the set `linear`, which fragments use.",
        examples=[["dense", "fp8_block"], {"linear": ["dense", "fp8_block"], "experts": ["dense", "nvfp4"]}],
    )  # fmt: skip
    config: dict[Identifier, SymbolForms] = Field(
        default_factory=dict, max_length=MAX_NAMES, description="Symbols, and where config.json has them.",
        examples=[{"hidden": "hidden_size", "head_dim": {"key": "head_dim", "else": "hidden / num_heads"}}],
    )  # fmt: skip
    axes: dict[Identifier, Axis] = Field(
        default_factory=dict, max_length=MAX_AXES, description="Axes that are split.",
        examples=[{"heads": {"size": "num_heads"}}],
    )  # fmt: skip
    let: dict[Identifier, Formula] = Field(
        default_factory=dict, max_length=MAX_NAMES, description="Names for formulas.",
        examples=[{"q": "heads * head_dim"}],
    )  # fmt: skip
    contracts: list[Contract] = Field(
        default_factory=list, max_length=MAX_CONTRACTS, description="Kernels' expectations.", examples=[[]]
    )
    groups: dict[Identifier, Group] = Field(min_length=1, description="The tensors, by place.", examples=[{}])
    ignore: list[Ignore] = Field(
        default_factory=list, max_length=MAX_NAMES, description="Tensors no rank wants.", examples=[[]]
    )
    targets: list[Target] = Field(
        default_factory=list, max_length=MAX_TARGETS, description="The evidence.", examples=[[]]
    )
