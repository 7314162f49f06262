"""Asks every detector for every planted fault, and writes docs/faults.md: `python -m scripts.faults [NAME...]`."""

from __future__ import annotations

import sys

import click

from scripts.detectors import Numbers, computes, said
from scripts.fault_page import PAGE, page
from scripts.planted import Fault, faults


@click.command()
@click.argument("names", nargs=-1)
@click.option("--write", is_flag=True, help="Write docs/faults.md.")
@click.option("--static", is_flag=True, help="Run no ranks.")
def main(names: tuple[str, ...], write: bool, static: bool) -> None:
    """Asks for the faults of tests/prove/faults/: all of them, or those of a NAME, which may be a spec's."""
    if write and (names or static):
        raise click.UsageError("--write takes all faults and all detectors")
    wrong = 0
    numbers: dict[str, Numbers] = {}
    for fault in faults():
        if not names or fault.name in names or fault.of in names:
            numbers[fault.name] = Numbers() if static else computes(fault)
            wrong += not _reported(fault, said(fault), numbers[fault.name], static)
    if write:
        PAGE.write_text(page(faults(), {name: one.shown for name, one in numbers.items()}), encoding="utf-8")
    sys.exit(wrong > 0)


def _reported(fault: Fault, codes: set[str], numbers: Numbers, static: bool) -> bool:
    """Writes a line, and tells whether what was found is what the table says."""
    found = codes | ({numbers.code} if numbers.code else set())
    wanted = {code for code in fault.caught if not (static and code.startswith("SHD7"))}
    told = f"{fault.of:12} {fault.name:34} {' '.join(sorted(found)):24} {'' if static else numbers.shown}"
    click.echo(told if found == wanted else f"{told}  expected {' '.join(sorted(wanted)) or 'nothing'}")
    if numbers.stopped:
        click.echo(f"             {numbers.stopped.splitlines()[0][:160]}")
    return found == wanted


if __name__ == "__main__":
    main()
