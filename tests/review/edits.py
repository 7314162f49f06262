"""Random edits of real specs, as somebody could make them: most are slips, some change nothing."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from tests.support import ROOT

#: Configs of one spec that an edit is tried on.
_CONFIGS = 3
_ROOT_ONLY = ("over", "if_uneven", "if_fewer", "granule", "pad_to", "pad_local_to", "replicas", "placement")
_DTYPES = ("F32", "BF16", ["BF16", "F32"], {"file": ["BF16", "F32"], "load": "F32"}, {"file": "BF16", "load": "F32"})
_KINDS = ("column_parallel", "row_parallel", "channel_rows", "channel_cols", "segmented_rows", "replicated")


@dataclass(frozen=True)
class Edited:
    """The texts of a spec before and after `edits`, and small configs of its architectures; none for some."""

    name: str
    edits: tuple[str, ...]
    before: str
    after: str
    configs: tuple[str, ...]


@cache
def small_configs() -> Mapping[str, dict[str, Any]]:
    """By the name of the file."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "specs" / "small").glob("*.json"))}


@cache
def _specs() -> Mapping[str, Any]:
    return {path.stem: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "specs").glob("*.yaml"))}


def edited_spec(rng: random.Random) -> Edited | None:
    """One or two edits of some spec; None where one does not apply to it."""
    name = rng.choice(list(_specs()))
    spec = deepcopy(_specs()[name])
    edits = tuple(rng.choice(list(_EDITS)) for _ in range(rng.choice((1, 1, 1, 2))))
    try:
        for edit in edits:
            _EDITS[edit](spec, rng)
    except (IndexError, KeyError, TypeError, ValueError):
        return None  # The spec has nothing of the kind.
    configs = [one for one, config in small_configs().items() if {*config["architectures"]} & {*spec["architectures"]}]
    some = tuple(configs[:_CONFIGS]) if rng.random() < 0.85 else ()
    return Edited(name, edits, _text(_specs()[name]), _text(spec), some)


def _text(spec: Any) -> str:
    return yaml.safe_dump(spec, sort_keys=False, width=10**6)


def _tensors(spec: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every tensor: the mapping that it stands in, and its key."""
    for group in spec["groups"].values():
        yield from ((group["tensors"], name) for name in group.get("tensors") or ())


def _tensor(spec: Any, rng: random.Random, pattern: str = "") -> dict[str, Any]:
    found = [tensors[name] for tensors, name in _tensors(spec) if pattern in name]
    return rng.choice(found)


def _dim(spec: Any, rng: random.Random, form: str) -> tuple[dict[str, Any], int, str]:
    """A dim of some tensor whose formula has that form."""
    found = [
        (tensors[name], i, dim)
        for tensors, name in _tensors(spec)
        for i, dim in enumerate(tensors[name]["shape"])
        if re.fullmatch(form, str(dim))
    ]
    return rng.choice(found)


def _other_kind(tensor: dict[str, Any], rng: random.Random) -> None:
    if rng.random() < 0.5:
        tensor["shard"] = rng.choice(_KINDS)


def _factors(spec: Any, rng: random.Random) -> None:
    tensor, i, dim = _dim(spec, rng, r"\w+ \* \w+")
    tensor["shape"][i] = " * ".join(reversed(dim.split(" * ")))
    _other_kind(tensor, rng)


def _segments(spec: Any, rng: random.Random) -> None:
    tensor, i, dim = _dim(spec, rng, r"[^()|]+(\|[^()|]+)+")
    segments = dim.split(" | ")
    rng.shuffle(segments)
    tensor["shape"][i] = " | ".join(segments)


def _dims(spec: Any, rng: random.Random) -> None:
    tensor = _tensor(spec, rng, "weight")
    tensor["shape"] = tensor["shape"][::-1] if rng.random() < 0.5 else tensor["shape"]
    if tensor.pop("dims", None) is None:
        tensor["dims"] = ["in", "out"]
    _other_kind(tensor, rng)


def _axis(spec: Any, rng: random.Random) -> None:
    axis = rng.choice([axis for axis in spec["axes"].values() if "within" not in axis])
    field, values = rng.choice(
        [
            ("if_uneven", ["error", "spread", "ceil", "whole"]),
            ("if_fewer", ["error", "replicate"]),
            ("granule", [1, 2, 3, 4]),
            ("pad_to", [8, 16, 64]),
            ("pad_local_to", [2, 8]),
            ("replicas", ["blocked", "cyclic"]),
            ("placement", ["contiguous", "round_robin"]),
            ("over", ["tp", "ep", "pp"]),
        ]
    )
    if axis.pop(field, None) is None or rng.random() < 0.5:
        axis[field] = rng.choice(values)


def _within(spec: Any, rng: random.Random) -> None:
    name = rng.choice(list(spec["axes"]))
    axis = spec["axes"][name]
    if axis.pop("within", None) is None:
        for field in _ROOT_ONLY:
            axis.pop(field, None)
        axis["within"] = rng.choice([one for one in spec["axes"] if one != name])


def _size(spec: Any, rng: random.Random) -> None:
    axis = rng.choice(list(spec["axes"].values()))
    axis["size"] = rng.choice(
        [
            f"{axis['size']} * 1",
            f"({axis['size']}) // 2",
            rng.choice([name for name in spec["config"] if "num" in name or "hidden" in name]),
        ]
    )


def _only(spec: Any, rng: random.Random) -> None:
    group = rng.choice(list(spec["groups"].values()))
    if group.pop("only", None) is None or rng.random() < 0.7:
        group["only"] = {"pp": rng.choice(["first", "last", ["first", "last"]])}


def _drop(spec: Any, rng: random.Random) -> None:
    tensors, name = rng.choice(list(_tensors(spec)))
    del tensors[name]


def _optional(spec: Any, rng: random.Random) -> None:
    tensor = _tensor(spec, rng)
    tensor["optional"] = not tensor.get("optional", False)


def _dtype(spec: Any, rng: random.Random) -> None:
    (_tensor(spec, rng) if rng.random() < 0.7 else spec)["dtype"] = deepcopy(rng.choice(_DTYPES))


def _rank0(spec: Any, rng: random.Random) -> None:
    tensor = _tensor(spec, rng, "bias")
    tensor["shard"] = "replicated" if tensor["shard"] == "rank0" else "rank0"


def _formats(spec: Any, rng: random.Random) -> None:
    listed = rng.choice(list(spec["formats"].values())) if isinstance(spec["formats"], dict) else spec["formats"]
    if rng.random() < 0.5:
        rng.shuffle(listed)
    else:
        listed.pop(rng.randrange(1, len(listed)))


def _untied(spec: Any, rng: random.Random) -> None:
    del rng.choice([tensors[name] for tensors, name in _tensors(spec) if "tied_to" in tensors[name]])["tied_to"]


def _when(spec: Any, rng: random.Random) -> None:
    places = [*spec["groups"].values(), *(tensors[name] for tensors, name in _tensors(spec))]
    place = rng.choice([one for one in places if "when" in one])
    place["when"] = rng.choice([f"not ({place['when']})", f"({place['when']}) and 1 == 1", "1 == 1"])


def _for(spec: Any, rng: random.Random) -> None:
    loops = rng.choice([group["for"] for group in spec["groups"].values() if group.get("for")])
    index = rng.choice([index for index, value in loops.items() if isinstance(value, str)])
    value = loops[index]
    loops[index] = rng.choice([[0, value], [1, value], str(spec["axes"].get(value, {}).get("size", value))])


def _split(spec: Any, rng: random.Random) -> None:
    """One group in two, which have the tensors that it had."""
    name = rng.choice([name for name, group in spec["groups"].items() if "layer" in (group.get("for") or {})])
    group = spec["groups"][name]
    layers = group["for"]["layer"]
    if not isinstance(layers, str):
        raise ValueError(layers)
    fields = {field: group[field] for field in ("at", "when", "only") if field in group}
    rest = {**fields, "for": {**group["for"], "layer": [1, layers]}}
    spec["groups"]["rest_of_it"] = {**rest, "like": name}
    group["for"] = {**group["for"], "layer": [0, 1]}


def _output(spec: Any, rng: random.Random) -> None:
    groups = [group for group in spec["groups"].values() if group.get("outputs")]
    if not groups or rng.random() < 0.3:
        group = rng.choice([group for group in spec["groups"].values() if len(group.get("tensors") or ()) > 1])
        group["outputs"] = {"made_by_a_test.weight": {"concat": rng.sample(list(group["tensors"]), 2)}}
        return
    outputs = rng.choice(groups)["outputs"]
    name = rng.choice(list(outputs))
    if rng.random() < 0.3 and len(outputs) > 1:
        del outputs[name]
    elif "permute" in outputs[name]:
        outputs[name]["from"], outputs[name]["to"] = outputs[name]["to"], outputs[name]["from"]
    else:
        rng.shuffle(outputs[name].get("concat") or outputs[name]["interleave"])


def _contract(spec: Any, rng: random.Random) -> None:
    contracts = spec.setdefault("contracts", [])
    if contracts and rng.random() < 0.5:
        contracts[0].pop("when", None) or contracts.append(deepcopy(contracts[0]))
        rng.shuffle(contracts)
    else:
        contracts.append({"use": "vocab_64", "with": {"rows": f"local({rng.choice(list(spec['axes']))})"}})


def _collective(spec: Any, rng: random.Random) -> None:
    tensor = _tensor(spec, rng)
    if tensor.pop("collective", None) is None:
        tensor["collective"] = rng.choice(["sum_of_squares", "gather", "masked_all_reduce"])


def _key(spec: Any, rng: random.Random) -> None:
    name = rng.choice([name for name, value in spec["config"].items() if isinstance(value, str)])
    key = spec["config"][name]
    spec["config"][name] = rng.choice([[key, f"other_{key}"], {"key": key, "else": rng.choice([1, 2, 8])}])


def _ignore(spec: Any, rng: random.Random) -> None:
    ignored = spec.setdefault("ignore", [])
    ignored.insert(0, {"name": rng.choice(["*.bias", "*.rotary*", "*norm*"]), "because": "a test", "optional": True})


def _groups(spec: Any, rng: random.Random) -> None:
    names = list(spec["groups"])
    rng.shuffle(names)
    spec["groups"] = {name: spec["groups"][name] for name in names}


def _symbol(spec: Any, rng: random.Random) -> None:
    """One symbol by another name, wherever it is written."""
    name = rng.choice(list(spec["config"]))
    spec["config"] = {f"renamed_{key}" if key == name else key: value for key, value in spec["config"].items()}
    for value in spec["config"].values():
        if isinstance(value, dict) and isinstance(value.get("else"), str):
            value["else"] = re.sub(rf"\b{name}\b", f"renamed_{name}", value["else"])
    for part in ("let", "axes", "contracts", "groups"):
        if part in spec:
            spec[part] = _renamed(spec[part], name)


def _renamed(data: Any, name: str) -> Any:
    if isinstance(data, dict):
        return {key: _renamed(value, name) for key, value in data.items()}
    if isinstance(data, list):
        return [_renamed(value, name) for value in data]
    return re.sub(rf"\b{name}\b", f"renamed_{name}", data) if isinstance(data, str) else data


_EDITS: Mapping[str, Callable[[Any, random.Random], None]] = {
    edit.__name__.removeprefix("_"): edit
    for edit in (
        _factors, _segments, _dims, _axis, _within, _size, _only, _drop, _optional, _dtype, _rank0, _formats, _untied,
        _when, _for, _split, _output, _contract, _collective, _key, _ignore, _groups, _symbol,
    )
}  # fmt: skip
