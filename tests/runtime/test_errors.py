import pickle

import pytest

from shardc.runtime import ShardError
from shardc.runtime.errors import findings_together, has_refused, refuse


def test_one_line_a_finding() -> None:
    error = ShardError(("SHD401", "norm.weight is missing"), ("SHD404", "A_log is F16; legal: F32 (dense)"))
    assert error.code == "SHD401"
    assert str(error) == "SHD401: norm.weight is missing\nSHD404: A_log is F16; legal: F32 (dense)"


def test_twenty_lines_are_shown_and_all_findings_kept() -> None:
    error = ShardError(*(("SHD401", f"t{number} is missing") for number in range(23)))
    lines = str(error).splitlines()
    assert len(lines) == 21
    assert lines[19] == "SHD401: t19 is missing"
    assert lines[20] == "… and 3 more"
    assert len(error.findings) == 23


def test_survives_a_process_boundary() -> None:
    error = pickle.loads(pickle.dumps(ShardError(("SHD110", "4096 / 24 is not whole"))))
    assert error.findings == (("SHD110", "4096 / 24 is not whole"),)


ONE, TWO, THREE = ("SHD201", "one"), ("SHD204", "two"), ("SHD301", "three")


def test_a_refusal_raises() -> None:
    with pytest.raises(ShardError) as caught:
        refuse(ONE)
    assert caught.value.findings == (ONE,)
    assert not has_refused()


def test_refusals_together_are_raised_at_the_end() -> None:
    reached = []
    with pytest.raises(ShardError) as caught, findings_together():
        assert not has_refused()
        refuse(ONE)
        assert has_refused()
        refuse(TWO, THREE)
        reached.append("end")
    assert caught.value.findings == (ONE, TWO, THREE)
    assert reached == ["end"]
    assert not has_refused()


def test_an_error_inside_comes_last() -> None:
    with pytest.raises(ShardError) as caught, findings_together():
        refuse(ONE)
        raise ShardError(TWO)
    assert caught.value.findings == (ONE, TWO)


def test_what_fails_because_of_a_refusal_is_not_told_of() -> None:
    with pytest.raises(ShardError) as caught, findings_together():
        refuse(ONE)
        raise ZeroDivisionError
    assert caught.value.findings == (ONE,)


def test_another_error_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError), findings_together():
        raise ZeroDivisionError


def test_nothing_refused_is_nothing_raised() -> None:
    with findings_together():
        pass
