"""The harness from end to end on a tiny workload: processes, rounds, tables. Nothing here looks at how long it took."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench.loading.bars import bars
from bench.loading.catalogue import TINY_WORKLOAD, WORKLOADS
from bench.loading.cells import Cell, Way, cells, ways
from bench.loading.child import Failed
from bench.loading.processes import Bench
from bench.loading.results import ratio, read_results, tables
from bench.loading.run import main
from bench.loading.table import sections, write_section

CELL = Cell("llama", 4, "warm", "rank")


def test_the_command_measures_and_writes_a_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, "tiny", TINY_WORKLOAD)
    page = tmp_path / "RESULTS.md"
    page.write_text("# Measured\n")
    options = ["--quick", "--workloads", "tiny", "--only", "tiny/tp2/warm/rank", "--methods", "get_slice"]
    places = ["--scratch", str(tmp_path), "--python", sys.executable, "--results", str(page)]
    assert main([*options, *places]) == 0
    (cell, table), *others = read_results(tmp_path / "results.jsonl").items()
    assert (cell, others) == (("tiny", 2, "warm", "rank"), [])
    assert [way.label for way in table] == ["shardc", "limit: memcpy", "get_slice"]
    assert [list(row.rounds) for row in table.values()] == [[0], [0], [0]]
    assert {row.bytes for row in table.values()} == {691108}
    lines = page.read_text().splitlines()
    assert lines[:3] == ["# Measured", "", "<!-- loading: begin -->"]
    assert lines[-1] == "<!-- loading: end -->"
    assert "**on a GPU** (`python -m bench.loading.gpu`)" in lines
    assert [line.split(" | ")[1] for line in lines if line.startswith("| 2 |")] == [
        "shardc",
        "limit: memcpy",
        "get_slice",
    ]


def test_rounds_of_another_run_are_no_pairs_of_earlier_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, "tiny", TINY_WORKLOAD)
    options = ["--workloads", "tiny", "--only", "tiny/tp2/warm/rank", "--unchecked", "--dry"]
    places = ["--scratch", str(tmp_path), "--python", sys.executable]
    for more in (["--rounds", "2", "--methods", "no"], ["--quick", "--keep", "--methods", "get_slice"]):
        assert main([*options, *more, *places]) == 0
    (table,) = read_results(tmp_path / "results.jsonl").values()
    assert {way.label: list(row.rounds) for way, row in table.items()} == {
        "shardc": [0, 1, 2],
        "limit: memcpy": [0, 1, 2],
        "get_slice": [2],
    }


def test_ranks_at_once_are_a_process_each(tmp_path: Path) -> None:
    bench = Bench(Path(sys.executable), tmp_path)
    figures = bench.measure(TINY_WORKLOAD, Cell("tiny", 2, "cold", "node"), Way("get_slice", "once"), check=True)
    assert (figures["processes"], figures["local"]) == (2, 691108)


def test_a_method_that_fails_says_why(tmp_path: Path) -> None:
    bench = Bench(Path(sys.executable), tmp_path)
    with pytest.raises(Failed, match=r"^ShardError: SHD"):
        bench.measure(TINY_WORKLOAD, Cell("tiny", 3, "warm", "rank"), Way("shardc", "alone"), check=False)


def test_what_is_measured_where() -> None:
    assert len(cells("*", list(WORKLOADS))) == 48
    assert [cell.name for cell in cells("llama/tp4/*", list(WORKLOADS))] == [
        "llama/tp4/warm/rank",
        "llama/tp4/warm/node",
        "llama/tp4/cold/rank",
        "llama/tp4/cold/node",
    ]
    labels = ["shardc", "limit: memcpy", "get_slice", "load-narrow-copy"]
    assert [way.label for way in ways(CELL._replace(tp=2), "*")] == labels
    assert len(ways(CELL, "*")) == 14
    labels = ["shardc load_ranks", "limit: memcpy", "get_slice, at once", "get_slice, in turn"]
    assert [way.label for way in ways(CELL._replace(tp=8, scope="node"), "*")] == labels
    assert [way.label for way in ways(CELL._replace(cache="cold", scope="node"), "get_*")] == [
        "shardc load_ranks",
        "limit: read",
        "shardc, at once",
        "shardc, in turn",
        "get_slice, at once",
        "get_slice, in turn",
    ]


def entry(method: str, number: int, seconds: float) -> dict[str, object]:
    figures = {"seconds": seconds, "peak": 2_200_000_000, "disk": 500_000_000, "local": 2_000_000_000, "ranks": 1}
    figures |= {"processes": 1, "file": 8_000_000_000}
    return {"cell": CELL, "way": Way(method, "alone"), "round": number, **figures}


def measured() -> list[dict[str, object]]:
    pairs = [("shardc", (0.5, 0.4, 1.0)), ("limit: memcpy", (0.2, 0.4, 0.4)), ("get_slice", (2.0, 1.0, 2.0))]
    entries = [entry(method, number, value) for method, values in pairs for number, value in enumerate(values)]
    return [*entries, {"cell": CELL, "way": Way("tensorizer", "alone"), "round": -1, "reason": "RuntimeError: no"}]


def test_ratios_are_medians_of_pairs() -> None:
    table = tables(measured())[CELL]
    ours, peer = table[Way("shardc", "alone")], table[Way("get_slice", "alone")]
    assert ratio(peer, ours) == 2.5  # of 4, 2.5 and 2; that of the medians would be 4
    assert (ours.speed, ours.peak, ours.disk, ours.disk_of_file) == (4.0, 1.1, 0.25, 0.0625)
    assert round(ours.excess, 2) == 133.51


def test_a_table_has_a_row_for_each_method_and_a_reason_for_each_failure() -> None:
    page = "\n".join(sections(tables(measured()))).splitlines()
    assert page[0] == "**llama, one rank**"
    assert page[4:] == [
        "| 4 | shardc | 0.50 | 4.00 | 0.40 | 1.00 | 1.10 |  |  |  |  |  |",
        "| 4 | limit: memcpy | 0.40 | 5.00 | 1.00 | 0.40 |  |  |  |  |  |  |",
        "| 4 | get_slice | 2.00 | 1.00 | 0.20 | 2.50 | 1.10 |  |  |  |  |  |",
        "| 4 | tensorizer | – |  |  |  |  |  |  |  |  |  |",
        "- tensorizer: RuntimeError: no (tp=4 warm)",
    ]


def test_bars_say_what_is_reached() -> None:
    found = {bar.text: bar.line for bar in bars(tables(measured()))}
    assert found["llama, warm: get_slice over ours"] == "| llama, warm: get_slice over ours | ≥ 2.2 | 2.50 | yes |"
    assert found["llama, warm: of the memcpy limit"].endswith("| ≥ 0.65 | 0.40 | no |")
    assert found["moe, warm: get_slice over ours"].endswith("| ≥ 1.5 | | not measured |")


def test_a_section_is_put_in_the_place_of_the_old_one(tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    page.write_text("before\n\n<!-- loading: begin -->\nold\n<!-- loading: end -->\n\nafter\n")
    write_section(page, "new")
    assert page.read_text() == "before\n\n<!-- loading: begin -->\nnew\n<!-- loading: end -->\n\nafter\n"


def test_entries_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in measured()))
    (read,), (wanted,) = read_results(path).values(), tables(measured()).values()
    assert {way: list(row.rounds) for way, row in read.items()} == {
        way: list(row.rounds) for way, row in wanted.items()
    }
    assert read[Way("tensorizer", "alone")].reason == "RuntimeError: no"
