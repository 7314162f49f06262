"""A generated module as a command: load one rank and say how long it took."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from shardc.runtime.dtypes import CASTABLE, TORCH_DTYPES
from shardc.runtime.errors import ShardError
from shardc.runtime.loading import load
from shardc.runtime.meshes import mesh
from shardc.runtime.tensors import Spec


def main(spec: Spec, arguments: Sequence[str] | None = None) -> int:
    """Loads one rank of a checkpoint. Returns the exit code: 0, or 1 where the checkpoint is refused."""
    options = parser(spec).parse_args(arguments)
    try:
        coordinates = {name: (getattr(options, f"{name}_rank"), getattr(options, f"{name}_size")) for name in spec.mesh}
        rank = mesh(spec.mesh, extra=coordinates)
        started = time.perf_counter()
        tensors = load(spec, options.checkpoint, rank, device=options.device, dtype=TORCH_DTYPES.get(options.dtype))
        seconds = time.perf_counter() - started
    except ShardError as error:
        print(error, file=sys.stderr)
        return 1
    held = {tensor.data_ptr(): tensor.nbytes for tensor in tensors.values()}
    total = sum(held.values())
    print(f"{len(tensors)} tensors, {total} bytes on this rank, {seconds:.2f} s, {total / seconds / 1e9:.2f} GB/s")
    return 0


def parser(spec: Spec) -> argparse.ArgumentParser:
    """The options of the command: a rank and a size for each mesh dim of the model."""
    options = argparse.ArgumentParser(description="Load one rank of a safetensors checkpoint.")
    options.add_argument("checkpoint", metavar="CHECKPOINT", help="directory or URL with config.json and *.safetensors")
    for name in spec.mesh:
        options.add_argument(f"--{name}-rank", type=int, metavar="RANK", help=f"this rank's coordinate on {name}")
        options.add_argument(f"--{name}-size", type=int, metavar="SIZE", default=1, help=f"ranks on {name}")
    options.add_argument("--device", default="cpu", help="where the tensors go")
    options.add_argument("--dtype", choices=CASTABLE, help="cast the tensors of the default dtype")
    return options
