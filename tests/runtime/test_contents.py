"""What a spec may ask of a file."""

from __future__ import annotations

from shardc.runtime import Contents, Header

HEADERS = {"l.0.up.weight": Header("BF16", (48, 64)), "norm": Header("F32", ())}


def test_names() -> None:
    file = Contents(HEADERS)
    assert file.has("norm") and not file.has("l.1.up.weight")
    assert not Contents(None).has("norm")


def test_sizes() -> None:
    file = Contents(HEADERS)
    assert file.size("l.*.up.weight", 1) == ("dim 1 of l.0.up.weight", 64)
    assert file.size("norm", 0) is None
    assert file.size("l.0.up", 0) is None
    assert Contents(None).size("norm", 0) is None
