"""Reading the files that labels name."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.diagnostics import source_lines
from shardc.diagnostics.source_lines import read_text, split_lines


def test_lines_break_where_yaml_breaks_them() -> None:
    assert split_lines("a\nb\r\nc\rd\x85e\u2028f\u2029g") == ["a", "b", "c", "d", "e", "f", "g"]
    assert split_lines("a\x0bb\x0cc\x1cd") == ["a\x0bb\x0cc\x1cd"]
    assert split_lines("") == [""]


def test_text_is_read_without_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfa: \xff\r\n")
    assert read_text(str(tmp_path / "x.yaml")) == "a: \ufffd\r\n"


def test_what_is_not_there_has_no_text(tmp_path: Path) -> None:
    assert read_text(str(tmp_path / "gone.yaml")) is None
    assert read_text(str(tmp_path)) is None
    assert read_text("a\x00b") is None


def test_a_checkpoint_is_not_read_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_lines, "_LARGEST_EXCERPTED", 4)
    (tmp_path / "large").write_text("12345")
    (tmp_path / "small").write_text("1234")
    assert read_text(str(tmp_path / "large")) is None
    assert read_text(str(tmp_path / "small")) == "1234"
