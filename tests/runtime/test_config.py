from typing import Any

import pytest

from shardc.runtime import ShardError, exact, get, root

CONFIG: dict[str, Any] = {
    "hidden_size": 4096,
    "head_dim": None,
    "n_embd": 4096,
    "attention": {"heads": 32, "dim": 256},
    "tie": False,
    "text_config": {"hidden_size": 8},
    "name": "tiny",
}


def test_root() -> None:
    assert root(CONFIG, "text_config") == {"hidden_size": 8}
    assert root({"a": {"b": {"c": 1}}}, "a.b") == {"c": 1}


@pytest.mark.parametrize("path", ["vision_config", "head_dim", "hidden_size", "text_config.inner"])
def test_root_that_is_no_object(path: str) -> None:
    with pytest.raises(ShardError, match=f"^SHD108: config has no {path}$"):
        root(CONFIG, path)


def test_get_follows_dots() -> None:
    assert get(CONFIG, "attention.heads") == 32
    assert get(CONFIG, "tie") is False


def test_spellings_that_agree_are_one_fact() -> None:
    assert get(CONFIG, "hidden_size", "n_embd", "d_model") == 4096


def test_spellings_that_disagree() -> None:
    with pytest.raises(ShardError) as caught:
        get(CONFIG, "hidden_size", "attention.dim")
    assert str(caught.value) == (
        "SHD109: hidden_size = 4096 and attention.dim = 256 disagree: they are two spellings of one fact"
    )


def test_default_only_where_nothing_is_given() -> None:
    assert get(CONFIG, "hidden_size", default=7) == 4096
    assert get(CONFIG, "head_dim", default=0) == 0
    assert get(CONFIG, "head_dim", default=None) is None
    assert get(CONFIG, "head_dim", "attention.head_dim", default=lambda: exact(4096, 32)) == 128


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        (("d_model",), "SHD108: config has no d_model"),
        (("head_dim",), "SHD108: config has no head_dim"),
        (("name.inner",), "SHD108: config has no name.inner"),
        (("head_dim", "attention.head_dim"), "SHD108: config has none of head_dim, attention.head_dim"),
    ],
)
def test_absent(paths: tuple[str, ...], text: str) -> None:
    with pytest.raises(ShardError) as caught:
        get(CONFIG, *paths)
    assert str(caught.value) == text


def test_a_size_found_in_a_header() -> None:
    assert get(CONFIG, found=("dim 0 of up.weight", 7)) == 7
    assert get(CONFIG, "hidden_size", found=("dim 0 of up.weight", 4096)) == 4096
    with pytest.raises(ShardError) as caught:
        get(CONFIG, "hidden_size", found=("dim 0 of up.weight", 7))
    assert str(caught.value) == (
        "SHD109: hidden_size = 4096 and dim 0 of up.weight = 7 disagree: they are two spellings of one fact"
    )


def test_a_size_that_no_header_has() -> None:
    with pytest.raises(ShardError, match=r"^SHD108: the file has no tensor that a size of the model is read from$"):
        get(CONFIG, found=None)
