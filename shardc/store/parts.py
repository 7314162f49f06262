"""A rank's tensors dealt to files of bounded size, and what the files are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from shardc.runtime.dtypes import TORCH_DTYPES
from shardc.store.patches import Content

#: How files are called: `rank-3/model-00001-of-00002.safetensors`, or as vLLM's sharded_state has it.
Naming = Literal["shardc", "vllm"]
#: Bytes of tensors in a file, at most, unless one tensor has more.
PART_BYTES = 5_000_000_000


def deal(contents: Iterable[Content], limit: int) -> list[list[Content]]:
    """Neighbours together, in the order given, up to `limit` bytes a file; inside a file larger elements go first.

    So each tensor begins at a multiple of its element's size. There is one file at least.
    """
    parts: list[list[Content]] = [[]]
    size = 0
    for content in contents:
        if parts[-1] and size + content.nbytes > limit:
            parts.append([])
            size = 0
        parts[-1].append(content)
        size += content.nbytes
    return [sorted(part, key=lambda content: -TORCH_DTYPES[content.dtype].itemsize) for part in parts]


def file_name(naming: Naming, folder: str, part: int, parts: int) -> str:
    """The name of one file of `folder`, such as rank-3, from the directory of the set."""
    if naming == "vllm" and folder.startswith("rank-"):
        return f"model-{folder}-part-{part}.safetensors"
    return f"{folder}/model-{part + 1:05}-of-{parts:05}.safetensors"
