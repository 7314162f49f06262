"""torch's own checkpoints: what is exported is read by torch, and what torch wrote is imported."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import load_file
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

import shardc.runtime as rt
from scripts.merge import same_bytes
from shardc.store.dcp_export import DcpExporter
from shardc.store.dcp_import import DcpImporter
from shardc.store.dcp_metadata import read_dcp
from tests.store.support import TINY, files, shard

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def export(directory: Path, out: Path) -> Path:
    exporter = DcpExporter(directory, out)
    exporter.begin()
    exporter.finish([exporter.write(folder, lambda count: None) for folder in exporter.folders()])
    return out


def import_(directory: Path, out: Path, **options: Any) -> Path:
    importer = DcpImporter(directory, out, **options)
    importer.begin()
    for file in importer.files():
        importer.write(file, lambda count: None)
    importer.finish()
    return out


def originals(folder: Path) -> dict[str, torch.Tensor]:
    return {
        name: one for file in ("a", "b") for name, one in load_file(folder / "original" / f"{file}.safetensors").items()
    }


def test_torch_reads_what_is_exported(folder: Path) -> None:
    out = export(folder / "cut", folder / "dcp")
    assert sorted(path.name for path in out.iterdir()) == [
        ".metadata",
        *(f"__{rank}_0.distcp" for rank in range(5)),
        "config.json",
        "tokenizer.json",
    ]
    expected = originals(folder)
    found = {name: torch.empty_like(tensor) for name, tensor in expected.items()}
    dcp.load(found, checkpoint_id=out, no_dist=True)
    assert [name for name in expected if not same_bytes(found[name], expected[name])] == []


def test_torch_makes_one_file_of_it(folder: Path) -> None:
    dcp_to_torch_save(export(folder / "cut", folder / "dcp"), folder / "all.pt")
    found, expected = torch.load(folder / "all.pt", weights_only=True), originals(folder)
    assert found.keys() == expected.keys()
    assert [name for name in expected if not same_bytes(found[name], expected[name])] == []


def test_a_replica_is_written_once_and_padding_never(folder: Path) -> None:
    tensors, _ = read_dcp(export(folder / "cut", folder / "dcp"))
    assert [(chunk.full, chunk.file) for chunk in tensors["norm.weight"].chunks] == [(((0, 8),), "__0_0.distcp")]
    embed = [(chunk.full[0], chunk.file) for chunk in tensors["embed.weight"].chunks]
    assert embed == [((3 * rank, min(3 * rank + 3, 10)), f"__{rank}_0.distcp") for rank in range(4)]


def test_there_and_back(folder: Path) -> None:
    """Imported, and cut again: the same ranks' tensors."""
    whole = import_(export(folder / "cut", folder / "dcp"), folder / "whole")
    found = load_file(whole / "model-00001-of-00001.safetensors")
    expected = originals(folder)
    assert found.keys() == expected.keys()
    assert [name for name in expected if not same_bytes(found[name], expected[name])] == []
    again = shard(TINY, whole, folder / "again", {"tp": 4})
    assert rt.read_headers(again / "rank-3").keys() == rt.read_headers(folder / "cut" / "rank-3").keys()


def test_what_torch_saved(tmp_path: Path) -> None:
    model = {
        "w": torch.arange(12.0).reshape(3, 4),
        "b": torch.tensor([1, 2], dtype=torch.int64),
        "s": torch.tensor(2.5),
    }
    dcp.save({"model": model, "optim": {"step": 7}}, checkpoint_id=tmp_path / "dcp", no_dist=True)
    importer = DcpImporter(tmp_path / "dcp", tmp_path / "out", "model.")
    assert importer.others == ["optim.step"]
    import_(tmp_path / "dcp", tmp_path / "out", prefix="model.", part_bytes=40)
    headers = rt.read_headers(tmp_path / "out")
    assert {name: (header.dtype, header.shape) for name, header in headers.items()} == {
        "w": ("F32", (3, 4)),
        "b": ("I64", (2,)),
        "s": ("F32", ()),
    }
    found = {name: one for path in (tmp_path / "out").glob("*.safetensors") for name, one in load_file(path).items()}
    assert len(list((tmp_path / "out").glob("*.safetensors"))) == 2
    assert all(same_bytes(found[name], model[name]) for name in model)


class Command:
    """What a pickle may do, unless it is read with care."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("should-not-be",)


def test_metadata_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".metadata").write_bytes(pickle.dumps(Command()))
    with pytest.raises(
        rt.ShardError, match=r"^SHD406: \.metadata: posix\.mkdir is no part of a checkpoint's metadata$"
    ):
        read_dcp(tmp_path)
    assert not (tmp_path / "should-not-be").exists()


def test_a_chunk_runs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = export(folder / "cut", folder / "dcp")
    monkeypatch.chdir(out)
    tensors, _ = read_dcp(out)
    chunk = tensors["A_log"].chunks[0]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Command(), protocol=2))
        archive.writestr("archive/version", "3\n")
    data = bytearray((out / chunk.file).read_bytes())
    assert len(packed.getvalue()) <= chunk.length
    data[chunk.offset : chunk.offset + chunk.length] = packed.getvalue().ljust(chunk.length, b"\0")
    (out / chunk.file).write_bytes(data)
    with pytest.raises(rt.ShardError, match=r"^SHD406: __0_0\.distcp: A_log at byte \d+: "):
        import_(out, folder / "whole")
    assert not (out / "should-not-be").exists()
    assert list((folder / "whole").glob("*.safetensors")) == []


@pytest.mark.parametrize("text", [b"", b"junk", pickle.dumps(7), pickle.dumps({})])
def test_metadata_that_is_none(tmp_path: Path, text: bytes) -> None:
    (tmp_path / ".metadata").write_bytes(text)
    with pytest.raises(rt.ShardError, match=r"^SHD406: \.metadata: "):
        read_dcp(tmp_path)


def test_a_file_elsewhere(folder: Path) -> None:
    out = export(folder / "cut", folder / "dcp")
    found = pickle.loads((out / ".metadata").read_bytes())
    for one in found.storage_data.values():
        one.relative_path = "../original/a.safetensors"
    (out / ".metadata").write_bytes(pickle.dumps(found))
    with pytest.raises(
        rt.ShardError, match=r"not as torch writes it: '\.\./original/a\.safetensors' is no plain file name$"
    ):
        read_dcp(out)


def test_chunks_that_leave_a_hole(folder: Path) -> None:
    out = export(folder / "cut", folder / "dcp")
    found = pickle.loads((out / ".metadata").read_bytes())
    found.state_dict_metadata["embed.weight"].chunks.pop()
    (out / ".metadata").write_bytes(pickle.dumps(found))
    with pytest.raises(
        rt.ShardError,
        match=r"^SHD406: \.metadata: embed\.weight is not what its chunks are: 72 elements in chunks of \[10, 8\]$",
    ):
        import_(out, folder / "whole")


def test_a_file_that_was_cut_off(folder: Path) -> None:
    out = export(folder / "cut", folder / "dcp")
    os.truncate(out / "__0_0.distcp", 3000)
    with pytest.raises(rt.ShardError, match=r"^SHD406: __0_0\.distcp: "):
        import_(out, folder / "whole")
    assert "model-00001-of-00001.safetensors" not in files(folder / "whole")
