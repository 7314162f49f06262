"""docs/loading.md: its engine runs on two ranks, its prompts answer as written, and its figures are so."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterable
from pathlib import Path

import torch
import torch.distributed as dist

import shardc.runtime as rt
from generated import llama
from tests.runtime.ranks import results
from tests.runtime.test_dtensors import write_llama
from tests.support import ROOT, checkpoint

TEXT = (ROOT / "docs" / "loading.md").read_text()


def engine(folder: Path) -> list[str]:
    """What the engine prints on the CPU, in the process group that is there, for a small checkpoint."""
    here = folder / f"llama-{dist.get_rank()}"
    write_llama(here)
    found = re.search(r"```python\n(import os\n.*?)```", TEXT, re.DOTALL)
    assert found is not None
    code = found[1].replace("distributed.init_process_group()\n", "").replace("path/to/Llama-3.1-8B", str(here))
    code = code.replace("f\"cuda:{os.environ['LOCAL_RANK']}\"", '"cpu"').replace('"cuda"', '"cpu"')
    printed: list[str] = []
    exec(code, {"print": lambda value: printed.append(str(value))})
    return printed


def test_the_engine(tmp_path: Path) -> None:
    assert (
        results("tests.test_loading_doc:engine", 2, tmp_path)
        == [["(Replicate(), Shard(dim=1))", "torch.Size([8, 8])"]] * 2
    )


def test_every_option_has_a_row() -> None:
    rows = re.findall(r"^\| (`\w+=`(?:, `\w+=`)*) \|", TEXT, re.MULTILINE)
    named = [option for row in rows for option in re.findall(r"(\w+)=", row) if option != "mesh"]
    assert sorted(named) == sorted(["device", *rt.Options.__annotations__])


def test_the_prompts() -> None:
    names = {"llama": llama, "config": checkpoint("llama-3.1-8b").config.data}
    examples = doctest.DocTestParser().get_examples(TEXT.replace("```", ""))
    assert len(examples) == 2
    for example in examples:
        assert repr(eval(example.source, names)) + "\n" == example.want


def requests(ranks: Iterable[int]) -> tuple[int, int, int]:
    """Requests to a store for ranks of Llama-3.1-8B at tp=8, bytes that they read, and local bytes."""
    recorded, rt = checkpoint("llama-3.1-8b"), llama.rt
    headers, end = {}, 0
    for name, found in sorted(recorded.headers.items()):
        size = torch.Size(found.shape).numel() * 2
        headers[name] = rt.Header(found.dtype, tuple(found.shape), f"{end // 5_000_000_000}", end, end + size)
        end += size
    meshes = [rt.mesh_of(llama.MESH, rank, 8) for rank in ranks]
    parts = rt.parts_of_ranks(llama.SPEC, rt.Stock(recorded.config.data, headers), meshes, None, fused=True)
    rooms = [rt.rooms_of(part, torch.device("meta"), separate=False) for part in parts]
    windows = [window for found in rt.windows_by_file(parts, rooms, rt.REMOTE).values() for window in found]
    local = sum(fill.shard.local_bytes for part in parts for fill in part.fills)
    return len(windows), sum(window.end - window.begin for window in windows), local


def test_requests_to_a_store() -> None:
    assert requests([1]) == (865, 6_256_599_040, 2_008_031_232)
    assert requests(range(8)) == (2083, 16_060_522_496, 16_064_249_856)
