"""docs/loading.md: its engine runs on two ranks, and its prompts answer as written."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import torch.distributed as dist

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


def test_the_prompts() -> None:
    names = {"llama": llama, "config": checkpoint("llama-3.1-8b").config.data}
    examples = doctest.DocTestParser().get_examples(TEXT.replace("```", ""))
    assert len(examples) == 2
    for example in examples:
        assert repr(eval(example.source, names)) + "\n" == example.want
