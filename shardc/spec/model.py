"""A spec file, field by field. Descriptions and examples here become the JSON schema and the language reference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from shardc.spec.axis import Axis
from shardc.spec.fields import ClassName, Formula, Glob, Identifier, Identifiers, KeyPath, Model, Words, no_flag
from shardc.spec.group import MAX_AXES, MAX_NAMES, DtypeForms, Group
from shardc.spec.shorthand import formats_form, symbol_form
from shardc.spec.target import Target

MAX_CONTRACTS, MAX_TARGETS = 50, 50


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
    optional: bool = Field(False, description="No recorded checkpoint need have one.", examples=[True])


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
