"""Libraries that load whole tensors fast; the rank's part is taken of each."""

from __future__ import annotations

from pathlib import Path

from bench.loading.methods import Job, Method, Tensors, imports


def fastsafetensors(job: Job, rank: int) -> Tensors:
    """A file at a time, on the CPU, so without GPUDirect."""
    from fastsafetensors import SafeTensorsFileLoader

    kept: Tensors = {}
    for path in job.files:
        loader = SafeTensorsFileLoader(None, "cpu", nogds=True)
        loader.add_filenames({0: [str(path)]})
        buffer = loader.copy_files_to_device()
        for name in loader.get_keys():
            kept[name] = job.own(name, buffer.get_tensor(name), rank)
        buffer.close()
        loader.close()
    return kept


def runai(job: Job, rank: int) -> Tensors:
    """All files streamed by its threads."""
    from runai_model_streamer import SafetensorsStreamer

    with SafetensorsStreamer() as streamer:
        streamer.stream_files([str(path) for path in job.files], device="cpu")
        return {name: job.own(name, tensor, rank) for name, tensor in streamer.get_tensors()}


def write_tensorizer(job: Job, path: Path) -> None:
    """All tensors in tensorizer's format."""
    from safetensors.torch import load_file
    from tensorizer import TensorSerializer

    full: Tensors = {}
    for file in job.files:
        full |= load_file(file)
    serializer = TensorSerializer(str(path))
    serializer.write_state_dict(full)
    serializer.close()


def tensorizer(job: Job, rank: int) -> Tensors:
    """Its file, a tensor at a time."""
    from tensorizer import TensorDeserializer

    with TensorDeserializer(str(job.made), device="cpu", lazy_load=True) as file:
        return {name: job.own(name, file[name], rank) for name in file.keys()}  # noqa: SIM118 (`in file` has no order)


_fast, _runai = imports("torch", "fastsafetensors"), imports("torch", "runai_model_streamer")
_quiet = {"RUNAI_STREAMER_LOG_LEVEL": "ERROR"}

# Both read past the page cache unless they are told not to.
METHODS = (
    Method("fastsafetensors", _fast, fastsafetensors),
    Method("fastsafetensors (buffered)", _fast, fastsafetensors, environment={"FASTSAFETENSORS_ODIRECT": "0"}),
    Method("runai-model-streamer", _runai, runai, environment=_quiet),
    Method(
        "runai-model-streamer (buffered)",
        _runai,
        runai,
        environment=_quiet | {"RUNAI_STREAMER_FS_STRATEGY": "sync_buffered"},
    ),
    Method("tensorizer", imports("torch", "tensorizer"), tensorizer, make=write_tensorizer, suffix=".tensors"),
)
