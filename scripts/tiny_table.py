"""A recorded checkpoint at toy sizes: the names, dtypes and structure of the real one, each size mapped to a small one.

Written from the recorded tensor table alone, so that what is loaded does not come from the spec that loads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "specs" / "checkpoints" / "glm-5.3-flash.json"

#: The layers kept: KDA with a dense MLP, sparse MLA with experts, KDA with experts, and the MTP layer.
LAYERS = (2, 3, 4, 45)
EXPERTS = range(4)
VISION_BLOCKS = range(1)

#: Full size: toy size. Chosen so that tp=4 cuts no FP8 block of 128, no head, and leaves each rank 256 convolved
#: channels; 1000 rows of vocabulary are no multiple of 64, so the last rank is padded. A size not here is kept.
SIZES = {
    154880: 1000,  # vocabulary
    4096: 256,  # hidden; 32 index heads of 128
    8192: 512,  # 64 KDA heads of 128; 2 * hidden
    16384: 1024,  # 64 heads of 256; 4 streams of hidden
    32768: 2048,  # 64 heads of 256 + 256
    12288: 512,  # MLP features
    2048: 512,  # an expert's features
    1536: 256,  # rank of q
    512: 128,  # rank of k and v
    288: 4,  # experts
    64: 4,  # heads
    32: 2,  # index heads
    1024: 64,  # vision: hidden
    3072: 192,  # vision: q, k and v
    10240: 640,  # vision: merger
}
FP8_BLOCK = 128
SCALE = "_scale_inv"


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One tensor of the file; `shape` is full, in elements; `dtype` is safetensors' name."""

    dtype: str
    shape: tuple[int, ...]


def tiny_table(path: Path = TABLE) -> tuple[dict[str, Any], dict[str, TableEntry]]:
    """The config and the tensors by name, both at toy sizes."""
    table = json.loads(path.read_text())
    tensors: dict[str, TableEntry] = {}
    for name, dtype, shape in table_rows(table["tensor_groups"]):
        tiny = tiny_name(name)
        if tiny is not None:
            tensors[tiny] = TableEntry(dtype, tuple(SIZES.get(size, size) for size in shape))
    scales = {name: scale_of(tensors[name.removesuffix(SCALE)], tensors[name]) for name in tensors if SCALE in name}
    return tiny_config(table["config"]), tensors | scales


def table_rows(groups: list[dict[str, Any]]) -> Iterator[tuple[str, str, list[int]]]:
    """(name, dtype, shape) of every tensor; a group's `index` lists inclusive ranges for each placeholder."""
    for group in groups:
        ranges = [[n for first, last in runs for n in range(first, last + 1)] for runs in group.get("index", [])]
        for numbers in product(*ranges):
            yield group["name"].format(*numbers), group["dtype"], group["shape"]


def tiny_name(name: str) -> str | None:
    """The name with its layer renumbered; None for layers, experts and vision blocks that are not kept."""
    for part, kept in (("layers", LAYERS), ("experts", EXPERTS), ("blocks", VISION_BLOCKS)):
        found = re.search(rf"\b{part}\.(\d+)\.", name)
        if found is None:
            continue
        number = int(found[1])
        if number not in kept:
            return None
        name = f"{name[: found.start(1)]}{kept.index(number)}{name[found.end(1) :]}"
    return name


def scale_of(weight: TableEntry, scale: TableEntry) -> TableEntry:
    """The scales of an FP8 weight [out, in]: one for each block, [ceil(out / 128), ceil(in / 128)]."""
    return TableEntry(scale.dtype, tuple(-(-size // FP8_BLOCK) for size in weight.shape))


def tiny_config(config: dict[str, Any]) -> dict[str, Any]:
    """config.json of the toy checkpoint: every size mapped, and lists with a value for each layer cut to those kept."""
    tiny: dict[str, Any] = sized(config)
    text, full = tiny["text_config"], config["text_config"]
    main_layers = [layer for layer in LAYERS if layer < full["num_hidden_layers"]]
    text["num_hidden_layers"] = len(main_layers)
    text["first_k_dense_replace"] = sum(layer < full["first_k_dense_replace"] for layer in main_layers)
    for key in ("layer_types", "mlp_layer_types", "indexer_types"):
        text[key] = [full[key][layer] for layer in main_layers]
    for key in ("kda_layers", "full_attn_layers"):
        kept = full["linear_attn_config"][key]
        text["linear_attn_config"][key] = [main_layers.index(layer) for layer in main_layers if layer in kept]
    return tiny


def sized(value: Any) -> Any:
    """A JSON value with every whole number that is a size mapped to its toy size."""
    if isinstance(value, dict):
        return {key: sized(item) for key, item in value.items()}
    if isinstance(value, list):
        return [sized(item) for item in value]
    return SIZES.get(value, value) if type(value) is int else value
