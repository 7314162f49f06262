import pytest

from shardc.runtime import ShardError, ceil_div, exact, round_up
from shardc.runtime.arithmetic import is_whole_number


def test_exact() -> None:
    assert exact(4096, 32) == 128
    assert exact(0, 32) == 0


@pytest.mark.parametrize("divisor", [24, 0])
def test_exact_refuses_a_remainder(divisor: int) -> None:
    with pytest.raises(ShardError, match=f"^SHD110: 4096 / {divisor} is not whole$"):
        exact(4096, divisor)


def test_rounding_up() -> None:
    assert [ceil_div(n, 128) for n in (0, 1, 128, 576)] == [0, 1, 1, 5]
    assert [round_up(n, 64) for n in (0, 1, 64, 65)] == [0, 64, 64, 128]


def test_a_bool_is_no_whole_number() -> None:
    assert is_whole_number(3)
    assert not any(map(is_whole_number, (True, 3.0, "3", None)))
