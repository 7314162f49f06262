"""Small configs: found by their architecture, and in the form of published ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.prove.small import read_small, small_configs
from tests.prove.support import CONFIGS, SMALL


def test_those_of_a_spec_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name, architecture in (("b", "One"), ("a", "One"), ("c", "Two")):
        (tmp_path / f"{name}.json").write_text(f'{{"architectures": ["{architecture}"], "model_type": "x"}}')
    assert [path.stem for path in small_configs(tmp_path, ["One", "Three"])] == ["a", "b"]
    assert small_configs(tmp_path / "none", ["One"]) == []


@pytest.mark.parametrize(("text", "words"), [("[]", "a config.json has"), ("{", "Expecting property name"), ('{"architectures": []}', "a config.json has")])  # fmt: skip
def test_what_is_no_config(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        read_small(tmp_path / "x.json")


def test_every_small_config_is_small_and_of_one_architecture() -> None:
    assert CONFIGS
    for path in CONFIGS:
        assert path.stat().st_size < 8000, path
        assert len(read_small(path)["architectures"]) == 1
    assert SMALL.is_dir()
