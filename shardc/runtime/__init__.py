"""The copy engine of generated modules: the standard library and torch only.

Its files are bundled into one, `generated/_runtime.py`, in the order of `ORDER`: each uses only files before it.
"""

from shardc.runtime.arithmetic import ceil_div, exact, round_up
from shardc.runtime.axes import Axis
from shardc.runtime.command import main
from shardc.runtime.config import MISSING, Config, get, root
from shardc.runtime.contents import Contents
from shardc.runtime.contracts import contract
from shardc.runtime.distributed import MeshLike
from shardc.runtime.dtensors import as_dtensors, dtensor_mesh, placements
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.headers import Header
from shardc.runtime.indexes import read_config, read_headers
from shardc.runtime.loading import Options, load, load_ranks
from shardc.runtime.meshes import MeshDim, mesh, mesh_of
from shardc.runtime.outputs import Granules, Output, Permuted, Turn
from shardc.runtime.placements import Placements
from shardc.runtime.planning import plan
from shardc.runtime.regions import Region, local_size, normalise, pieces, rank0
from shardc.runtime.resharding import shard_tensors
from shardc.runtime.shards import Shard
from shardc.runtime.splits import axis, per, summed, within
from shardc.runtime.tensors import Dim, Family, Format, Part, Spec, Tensor

ORDER: tuple[str, ...] = (
    "errors",
    "arithmetic",
    "collector",
    "config",
    "distributed",
    "meshes",
    "contracts",
    "axes",
    "deals",
    "splits",
    "regions",
    "rectangles",
    "dtypes",
    "outputs",
    "locations",
    "remote",
    "headers",
    "contents",
    "tensors",
    "settling",
    "indexes",
    "refusals",
    "choices",
    "chooser",
    "companions",
    "shards",
    "cutting",
    "granules",
    "planning",
    "manifests",
    "presharded",
    "coverage",
    "members",
    "moves",
    "strides",
    "stretches",
    "copies",
    "buffers",
    "placing",
    "memory",
    "preparing",
    "rooms",
    "limits",
    "pieces",
    "windows",
    "files",
    "dealing",
    "rings",
    "streams",
    "uploads",
    "bounces",
    "reader_threads",
    "jobs",
    "reading",
    "loading",
    "resharding",
    "row_runs",
    "compositions",
    "placements",
    "spreading",
    "dtensors",
    "command",
)

__all__ = [
    "MISSING",
    "ORDER",
    "Axis",
    "Config",
    "Contents",
    "Dim",
    "Family",
    "Finding",
    "Format",
    "Granules",
    "Header",
    "MeshDim",
    "MeshLike",
    "Options",
    "Output",
    "Part",
    "Permuted",
    "Placements",
    "Region",
    "Shard",
    "ShardError",
    "Spec",
    "Tensor",
    "Turn",
    "as_dtensors",
    "axis",
    "ceil_div",
    "contract",
    "dtensor_mesh",
    "exact",
    "get",
    "load",
    "load_ranks",
    "local_size",
    "main",
    "mesh",
    "mesh_of",
    "normalise",
    "per",
    "pieces",
    "placements",
    "plan",
    "rank0",
    "read_config",
    "read_headers",
    "root",
    "round_up",
    "shard_tensors",
    "summed",
    "within",
]
