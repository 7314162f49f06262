"""The whole-number arithmetic of shape formulas."""

from __future__ import annotations

from shardc.runtime.errors import ShardError


def exact(dividend: int, divisor: int) -> int:
    """`dividend / divisor`. Raises SHD110 where that is not whole."""
    if divisor == 0 or dividend % divisor:
        raise ShardError(("SHD110", f"{dividend} / {divisor} is not whole"))
    return dividend // divisor


def ceil_div(dividend: int, divisor: int) -> int:
    """`dividend / divisor`, rounded up."""
    return -(-dividend // divisor)


def round_up(size: int, multiple: int) -> int:
    """The next multiple that is not below `size`."""
    return ceil_div(size, multiple) * multiple


def is_whole_number(value: object) -> bool:
    """True for an int that is no bool."""
    return isinstance(value, int) and not isinstance(value, bool)
