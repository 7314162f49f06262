"""A logical axis, and how it is dealt to the ranks of a mesh dim."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from shardc.spec.fields import Formula, Identifier, Model, Size

#: Fields of an axis that say how it is dealt.
_DEALING = {"if_uneven", "if_fewer", "replicas", "pad_to", "pad_local_to", "placement"}


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
