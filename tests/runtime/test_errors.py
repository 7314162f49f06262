import pickle

from shardc.runtime import ShardError


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
