"""Random specs for the laws: axes dealt every way, layouts of every form, formats that the file mixes at will."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from shardc.plan.evidence import Header

LAYERS = 2

#: Ways to deal a root axis; a number stands for one that is drawn.
_WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"if_uneven": "spread"},
    {"if_uneven": "ceil"},
    {"if_uneven": "whole"},
    {"if_fewer": "replicate"},
    {"if_fewer": "replicate", "replicas": "cyclic"},
    {"if_fewer": "replicate", "if_uneven": "spread"},
    {"if_fewer": "replicate", "pad_local_to": 0},
    {"pad_to": 0},
    {"pad_local_to": 0},
    {"if_uneven": "ceil", "pad_local_to": 0},
    {"placement": "round_robin"},
    {"placement": "round_robin", "if_uneven": "spread"},
    {"placement": "round_robin", "if_uneven": "whole"},
    {"placement": "round_robin", "if_uneven": "spread", "if_fewer": "replicate"},
)

#: Ways to deal an axis that selects names.
_SELECTING_WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"if_uneven": "spread"},
    {"if_uneven": "ceil"},
    {"if_fewer": "replicate"},
    {"placement": "round_robin"},
    {"placement": "round_robin", "if_uneven": "spread"},
    {"placement": "round_robin", "if_uneven": "spread", "granule": 2},
)
#: What an index may run over: all layers, or some of them.
_LAYERS: tuple[Any, ...] = ("stages", [1, "stages"], {"of": "stages", "to": 1}, {"of": "stages", "from": 1, "to": 2})
_ENDS: tuple[Any, ...] = ("first", "last", ["first", "last"])

#: The tensors of a weight `w.weight` in each format, with their dtypes and numbers of dims.
_STORED: Mapping[str, Mapping[str, tuple[str, int]]] = {
    "dense": {".weight": ("BF16", 2)},
    "fp8_block": {".weight": ("F8_E4M3", 2), ".weight_scale_inv": ("F32", 2)},
    "nvfp4": {".weight": ("U8", 2), ".weight_scale": ("F8_E4M3", 2), ".weight_scale_2": ("F32", 0)},
    "mxfp4": {"_blocks": ("U8", 3), "_scales": ("U8", 2)},
    "awq": {".qweight": ("I32", 2), ".qzeros": ("I32", 2), ".scales": ("F16", 2)},
    "gptq": {".qweight": ("I32", 2), ".qzeros": ("I32", 2), ".scales": ("F16", 2), ".g_idx": ("I32", 1)},
    "mlx_affine": {".weight": ("U32", 2), ".scales": ("BF16", 2), ".biases": ("BF16", 2)},
    "w4a16_ct": {
        ".weight_packed": ("I32", 2), ".weight_scale": ("BF16", 2), ".weight_zero_point": ("I32", 2), ".weight_shape": ("I64", 1),
    },
}  # fmt: skip
_LISTED = (
    ["fp8_block"], ["nvfp4"], ["fp8_block", "nvfp4"], ["mxfp4", "mlx_affine"], ["awq"], ["gptq"], ["gptq", "w4a16_ct"],
)  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """`over`: the mesh dim; `line`: its fields, as in the spec; `parent`: the axis that this one is within."""

    name: str
    over: str
    line: str
    parent: str | None = None


@dataclass(frozen=True)
class Case:
    """A spec, and what it is compiled for. `headers` give every tensor's format; their sizes say nothing."""

    text: str
    config: Mapping[str, Any]
    mesh: Mapping[str, int]
    headers: Mapping[str, Header] | None


@st.composite
def meshes(draw: st.DrawFn) -> dict[str, int]:
    return {"tp": draw(st.integers(1, 9)), "ep": draw(st.sampled_from([1, 1, 2, 3]))}


@st.composite
def axes(draw: st.DrawFn, mesh: Mapping[str, int], scale: int) -> list[Axis]:
    """One to three root axes, of up to 24 * `scale` elements, each with up to one child and one grandchild."""
    out: list[Axis] = []
    for name in draw(st.lists(st.sampled_from(["kv_heads", "inter", "vocab"]), min_size=1, max_size=3, unique=True)):
        over = draw(st.sampled_from(["tp", "tp", "tp", "ep"]))
        granule = draw(st.sampled_from([1, 1, 1, 2, 3]))
        way = {k: v or draw(st.integers(1, 5)) for k, v in draw(st.sampled_from(_WAYS)).items()}
        even = draw(st.integers(1, 3)) * mesh[over] * granule
        size = draw(st.sampled_from([even, draw(st.integers(1, 24))])) * scale + draw(st.sampled_from([0, 0, 0, 1]))
        fields = {"size": size, "over": over, "granule": granule, **way}
        out.append(Axis(name, over, json.dumps(fields)))
        parent, parent_size = name, size
        for child in draw(st.sampled_from([(), (f"{name}_child",), (f"{name}_child", f"{name}_grandchild")])):
            parent_size = parent_size * draw(st.integers(1, 4)) + draw(st.sampled_from([0, 0, 0, 0, 0, 1]))
            out.append(Axis(child, over, json.dumps({"size": parent_size, "within": parent}), parent))
            parent = child
    return out


@dataclass(frozen=True)
class Layout:
    """`used`: the mesh dims that cut it."""

    text: str
    used: frozenset[str] = frozenset()


@st.composite
def layouts(draw: st.DrawFn, axes: list[Axis], free: frozenset[str], depth: int = 2) -> Layout:
    """A layout on axes of the mesh dims in `free`."""
    usable = [axis for axis in axes if axis.over in free]
    children = [axis for axis in usable if axis.parent]
    form = draw(st.sampled_from(["number", "axis", "axis", *(["cat", "product", "group"] if depth else [])]))
    if form == "group" and children:
        child = draw(st.sampled_from(children))
        per = f"{child.name} per {child.parent}"
        inner = draw(st.sampled_from([per, f"{per} * 2", f"{per} * 2 | 2 | 1", f"2 | {per}", f"2 * ({per} | 1)"]))
        return Layout(f"{child.parent} * ({inner})", frozenset({child.over}))
    if form == "axis" and usable:
        axis = draw(st.sampled_from(usable))
        return Layout(axis.name, frozenset({axis.over}))
    if form == "cat":
        parts = [draw(layouts(axes, free, depth - 1)) for _ in range(draw(st.integers(2, 3)))]
        return Layout(" | ".join(f"({part.text})" for part in parts), frozenset().union(*(part.used for part in parts)))
    if form == "product":
        left = draw(layouts(axes, free, depth - 1))
        right = draw(layouts(axes, free - left.used, depth - 1))
        return Layout(f"({left.text}) * ({right.text})", left.used | right.used)
    return Layout(str(draw(st.integers(1, 4))))


@st.composite
def shapes(draw: st.DrawFn, axes: list[Axis], dims: int) -> list[str]:
    free = frozenset({"tp", "ep"})
    out = []
    for _ in range(dims):
        layout = draw(layouts(axes, free))
        free -= layout.used
        out.append(layout.text)
    return out


@st.composite
def dense_cases(draw: st.DrawFn) -> Case:
    """Small tensors of up to three dims, one stacked by expert, one with a name for each of some stages and experts.

    Some tensors are at the ends of the stages alone.
    """
    mesh = draw(meshes()) | {"pp": draw(st.sampled_from([1, 1, 1, 2, 3]))}
    declared = draw(axes(mesh, scale=1))
    experts = draw(st.sampled_from([1, 2, 3])) * mesh["ep"] + draw(st.sampled_from([0, 0, 0, 1]))
    layers = draw(st.sampled_from([LAYERS, LAYERS, mesh["pp"] * 2, 5]))
    ways = [draw(st.sampled_from(_SELECTING_WAYS)) for _ in range(2)]
    selecting = [
        Axis("experts", "ep", json.dumps({"size": experts, "over": "ep", **ways[0]})),
        Axis("stages", "pp", json.dumps({"size": "layers", "over": "pp", **ways[1]})),
    ]
    everything = [*declared, *selecting]
    plain = [axis for axis in declared if axis.over == "tp"]
    tensors = {f"t{n}": draw(shapes(everything, dims)) for n, dims in enumerate((1, 2, 3))}
    tensors["stacked"] = ["experts", *draw(shapes(plain, 2))]
    named = {"named": draw(shapes(plain, 2))}
    text = _text(everything, {}, {"a": tensors}, {})
    text += _group("b", {"layer": draw(st.sampled_from(_LAYERS)), "expert": "experts"}, named, {})
    ends = {"at_the_ends": draw(shapes([axis for axis in everything if axis.over != "pp"], 2))}
    text += _group("c", {"layer": "layers"}, ends, {}, {"pp": draw(st.sampled_from(_ENDS))})
    return Case(text, {"layers": layers}, mesh, None)


@st.composite
def quantised_cases(draw: st.DrawFn) -> Case:
    """Matrices of whole and broken units, stored in another format in each layer."""
    mesh = draw(meshes())
    declared = draw(axes(mesh, scale=draw(st.sampled_from([1, 2, 8, 16]))))
    whole = draw(st.booleans())
    strides = st.sampled_from([32, 128] if whole else [1, 8, 16, 64, 128])
    numbers = st.sampled_from([128, 256] if whole else [16, 100, 128, 256])
    free = frozenset({"tp", "ep"})
    dims: list[str] = []
    for _ in range(2):
        usable = [axis for axis in declared if axis.over in free]
        parts = []
        for _ in range(draw(st.integers(1, 3))):
            if usable and draw(st.sampled_from([False, True])):
                axis = draw(st.sampled_from(usable))
                free -= {axis.over}
                stride = draw(strides)
                parts.append(f"{axis.name} * {draw(st.sampled_from([stride, f'({stride} | {draw(strides)})']))}")
            else:
                parts.append(str(draw(numbers)))
        dims.append(draw(st.sampled_from([" | ".join(parts), f"{parts[0]} | ({' | '.join(parts[1:] or parts)})"])))
    formats = draw(st.permutations(["dense", *draw(st.sampled_from(_LISTED))]))
    stored = [draw(st.sampled_from(formats)) for _ in range(LAYERS)]
    headers = {
        f"a.{layer}.w{ending}": (dtype, (0,) * dims)
        for layer, name in enumerate(stored)
        for ending, (dtype, dims) in _STORED[name].items()
    }
    lets = {"rows": dims[0]}
    shape = draw(st.sampled_from([dims, ["100 | rows", dims[1]]]))
    text = _text(declared, lets, {"a": {"w.weight": shape}}, {"w.weight": formats})
    config = {"layers": LAYERS, **draw(quantization())}
    return Case(text, config, mesh, draw(st.sampled_from([headers, headers, None])))


@st.composite
def quantization(draw: st.DrawFn) -> dict[str, Any]:
    """What configs say of formats: bits and groups, one group for all, act-order."""
    bits, group = draw(st.sampled_from([4, 8, 3])), draw(st.sampled_from([16, 32, 128, -1]))
    weights = {"num_bits": bits, "group_size": draw(st.sampled_from([group, None]))}
    quantization = {
        "bits": bits,
        "group_size": group,
        "desc_act": draw(st.booleans()),
        "config_groups": {"group_0": {"weights": weights}},
    }
    return draw(st.sampled_from([{}, {"quantization_config": quantization}]))


def _text(
    axes: list[Axis],
    lets: Mapping[str, str],
    groups: Mapping[str, Mapping[str, list[str]]],
    formats: Mapping[str, list[str]],
) -> str:
    head = ["spec: 1", "name: law", "architectures: [Law]", "dtype: BF16", "config: {layers: layers}", "axes:"]
    lines = [*head, *(f"  {axis.name}: {axis.line}" for axis in axes), f"let: {json.dumps(lets)}", "groups:"]
    text = "\n".join(lines) + "\n"
    return text + "".join(_group(name, {"layer": "layers"}, tensors, formats) for name, tensors in groups.items())


def _group(
    name: str,
    loops: Mapping[str, Any],
    tensors: Mapping[str, list[str]],
    formats: Mapping[str, list[str]],
    on: Mapping[str, Any] | None = None,
) -> str:
    at = ".".join([name, *(f"{{{index}}}" for index in loops)])
    lines = [f"  {name}:", f"    at: {json.dumps(at)}", f"    for: {json.dumps(loops)}"]
    lines += [f"    only: {json.dumps(on or {})}", "    tensors:"]
    for tensor, shape in tensors.items():
        fields = {"shape": shape, "shard": "replicated", "formats": formats.get(tensor, ["dense"])}
        lines.append(f"      {tensor}: {json.dumps(fields)}")
    return "\n".join(lines) + "\n"
