import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from shardc.runtime import Finding, ShardError, read_config, read_headers
from shardc.runtime.headers import read_file_headers
from shardc.runtime.locations import Location
from shardc.runtime.remote import file_of, location_of

from .stores import OpenOnly, Store, stored
from .tiny_model import CONFIG, full_tensors, write_checkpoint, write_indexed_checkpoint


def model(store: Store, path: str = "model") -> Location:
    return location_of(path, store, None)


def refused(checkpoint: str) -> Finding:
    with pytest.raises(ShardError) as caught:
        location_of(checkpoint, None, None)
    [finding] = caught.value.findings
    return finding


def raising(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


def test_a_path_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs no fsspec."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert location_of("some/model", None, None) == Path("some/model")


def test_a_url() -> None:
    directory = location_of("memory://some/model/", None, None)
    file = directory / "a.gguf"
    assert (str(file), file.name, file.suffix) == ("memory://some/model/a.gguf", "a.gguf", ".gguf")
    assert str(file_of(directory, "memory://some/model/sub/a")) == "memory://some/model/sub/a"
    assert file_of(Path("some"), "some/a") == Path("some/a")


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    text = "it is read with fsspec, which is not installed: pip install fsspec, and what it needs for this store"
    assert refused("s3://bucket/model") == ("SHD113", f"s3://bucket/model: {text}")


def test_a_store_that_is_none() -> None:
    assert refused("nope://model") == ("SHD113", "nope://model: ValueError: Protocol not known: nope")


def test_options_of_a_store() -> None:
    directory: Any = location_of("memory://model", None, {"key": "of mine"})
    assert directory.system.storage_options == {"key": "of mine"}


def test_what_a_directory_has(tmp_path: Path) -> None:
    store = stored(write_indexed_checkpoint(tmp_path, full_tensors()))
    directory = model(store)
    assert [path.name for path in directory.glob("*.safetensors")] == ["a.safetensors", "b.safetensors"]
    assert [(directory / name).is_file() for name in ("a.safetensors", "c.safetensors")] == [True, False]
    assert not directory.is_file()
    assert read_config(directory) == CONFIG
    headers, local = read_headers(directory), read_headers(tmp_path)
    assert headers == {name: header._replace(file=f"model/{Path(header.file).name}") for name, header in local.items()}


def test_a_header_is_fetched_with_the_first_bytes(tmp_path: Path) -> None:
    store = stored(write_checkpoint(tmp_path, full_tensors()))
    store.files["model/model.safetensors"] += bytes(1 << 20)
    with pytest.raises(ShardError, match="bytes in the file, but its tensors end at byte"):
        read_file_headers(model(store) / "model.safetensors")
    assert store.asked == [("model.safetensors", 0, 131080)]


def test_a_store_that_cannot_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of an index are known, and that of an only file; whether they are there is asked one by one."""
    store = stored(write_checkpoint(tmp_path, full_tensors()))
    names = set(store.files)
    monkeypatch.setattr(store, "ls", raising(NotImplementedError()))
    monkeypatch.setattr(store, "info", lambda path, **_: {"type": "file" if path in names else "directory", "size": 0})
    assert [path.name for path in model(store).glob("*.safetensors")] == ["model.safetensors"]
    names.clear()
    assert list(model(store).glob("*")) == []


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (PermissionError("Forbidden"), "PermissionError: Forbidden"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (RuntimeError("two\n lines"), "RuntimeError: two lines"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_a_store_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, error: Exception, text: str) -> None:
    store = Store({"model/config.json": b"{}", "model/a.safetensors": b""})
    monkeypatch.setattr(store, "cat_file", raising(error))
    with pytest.raises(ShardError) as caught:
        read_config(model(store))
    assert caught.value.findings == (("SHD406", f"config.json: {text}"),)
    monkeypatch.setattr(store, "_open", raising(error))
    with pytest.raises(ShardError) as caught:
        read_headers(model(store))
    assert caught.value.findings == (("SHD406", f"a.safetensors: {text}"),)
    monkeypatch.setattr(store, "info", raising(error))
    with pytest.raises(ShardError) as caught:
        read_config(model(store))
    assert caught.value.findings == (("SHD406", f"model/config.json: {text}"),)


def test_a_store_that_is_not_reached_has_no_missing_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some backends say of every failure that the file is missing; its cause tells which it was."""
    error = FileNotFoundError("http://host/model/config.json")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    store = Store()
    monkeypatch.setattr(store, "info", raising(error))
    with pytest.raises(ShardError, match=r"^SHD406: model/config\.json: Connection refused$"):
        read_config(model(store))


@pytest.mark.parametrize("kind", [Store, OpenOnly])
def test_a_range_is_one_request(kind: type[Store]) -> None:
    """Also where a store's files read ahead."""
    store = kind({"model/a": bytes(range(100))})
    file: Any = model(store) / "a"
    assert file.fetch(10, 14) == bytes([10, 11, 12, 13])
    assert file.fetch(98, 104) == bytes([98, 99])
    assert [asked[:2] for asked in store.asked] == [("a", 10), ("a", 98)]
    assert store.asked[0][2] == 14
