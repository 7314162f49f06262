from pathlib import Path

from shardc.runtime.jobs import Jobs
from shardc.runtime.limits import LOCAL
from shardc.runtime.memory import host_memory

from .devices import open_files
from .samples import piece, window

KIB = 1024


def test_files_are_open_from_their_first_window_to_their_last(tmp_path: Path) -> None:
    memory, done = host_memory(4 * KIB), []
    paths = [tmp_path / f"{name}.safetensors" for name in "abc"]
    for each in paths:
        each.write_bytes(bytes(KIB))
    windows = {each: [window(piece(0, 8, memory)), window(piece(512, 520, memory))] for each in paths}
    jobs = Jobs(windows, LOCAL._replace(span=0), done.append)
    seen = [(file.path.stem, [path.stem for path in paths if open_files(path)]) for file, _ in jobs]
    assert seen == [(name, [name]) for name in "aabbcc"]
    assert done == [8] * 6
    assert open_files(tmp_path) == []


def test_windows_near_each_other_are_one_job(tmp_path: Path) -> None:
    """Of one file; what they fill is counted together."""
    memory, done = host_memory(4 * KIB), []
    paths = [tmp_path / f"{name}.safetensors" for name in "ab"]
    for each in paths:
        each.write_bytes(bytes(4 * KIB))
    windows = {each: [window(piece(k * KIB, k * KIB + 8, memory)) for k in range(3)] for each in paths}
    jobs = Jobs(windows, LOCAL._replace(span=KIB + 8), done.append)
    assert [(file.path.stem, [one.begin // KIB for one in those]) for file, those in jobs] == [
        ("a", [0, 1]),
        ("a", [2]),
        ("b", [0, 1]),
        ("b", [2]),
    ]
    assert done == [16, 8, 16, 8]


def test_the_first_error_is_kept() -> None:
    """And nothing more is handed out."""
    jobs, errors = (
        Jobs({Path("never opened"): [window(piece(0, 8, host_memory(8)))]}, LOCAL, None),
        [
            ValueError("first"),
            ValueError("second"),
        ],
    )
    for error in errors:
        jobs.fail(error)
    assert jobs.errors == errors[:1]
    assert list(jobs) == []
