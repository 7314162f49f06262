"""Numbers of a command line."""

from __future__ import annotations

import click
import pytest

from shardc.cli.values import as_ranges, bytes_of, ranks


@pytest.mark.parametrize(
    ("text", "numbers", "again"),
    [("3", [3], "3"), ("0-3,6", [0, 1, 2, 3, 6], "0-3,6"), ("6, 5,2-3,3", [2, 3, 5, 6], "2-3,5-6")],
)
def test_ranks(text: str, numbers: list[int], again: str) -> None:
    assert ranks(text) == numbers
    assert as_ranges(numbers) == again


@pytest.mark.parametrize("text", ["", "-1", "1-", "3-1", "a", "1,,2", "1-2-3", "1234567"])
def test_no_ranks(text: str) -> None:
    with pytest.raises(click.BadParameter):
        ranks(text)


@pytest.mark.parametrize(("text", "count"), [("7", 7), ("5GB", 5 * 10**9), ("512MiB", 512 * 2**20), ("3kB", 3000)])
def test_bytes(text: str, count: int) -> None:
    assert bytes_of(text) == count


@pytest.mark.parametrize("text", ["", "0", "-5GB", "5gb", "1.5GB", "GB"])
def test_no_bytes(text: str) -> None:
    with pytest.raises(click.BadParameter):
        bytes_of(text)
