"""Finds planted faults with every detector, and writes docs/faults.md: `python -m scripts.faults [NAME...]`."""

from __future__ import annotations

import sys

import click

from scripts.detectors import Numbers, computes, said
from scripts.planted import Fault, faults


@click.command()
@click.argument("names", nargs=-1)
@click.option("--write", is_flag=True, help="Write docs/faults.md; takes all faults.")
@click.option("--static", is_flag=True, help="Run no ranks.")
def main(names: tuple[str, ...], write: bool, static: bool) -> None:
    """Runs the faults of tests/prove/faults/, all or those NAMEd (or of the spec NAMEd)."""
    wrong = 0
    for fault in faults():
        if names and fault.name not in names and fault.of not in names:
            continue
        codes = said(fault)
        numbers = Numbers() if static else computes(fault)
        found = codes | ({numbers.code} if numbers.code else set())
        wanted = {code for code in fault.caught if not (static and code.startswith("SHD7"))}
        verdict = "" if found == wanted else f"  EXPECTED {' '.join(sorted(wanted))}"
        wrong += bool(verdict)
        click.echo(f"{fault.of:12} {fault.name:40} {' '.join(sorted(found)):30} {numbers.shown:12} {numbers.stopped or ''}"[:230] + verdict)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
