"""`shardc schema`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shardc.cli.output import HELP
from shardc.emit.tree import replace_file
from shardc.spec.schema import schema


@click.command("schema", context_settings=HELP)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("schema/spec.v1.json"), show_default=True
)
@click.option("--check", "check_only", is_flag=True, help="Write nothing; exit 1 where the file is not current.")
def command(out: Path, check_only: bool) -> None:
    """Write the JSON schema of spec files, which editors complete and check by."""
    text = schema()
    current = out.exists() and out.read_text(encoding="utf-8") == text
    if check_only:
        click.echo(f"{out} is current" if current else f"{out} is out of date: run `shardc schema`")
        sys.exit(0 if current else 1)
    if not current:
        out.parent.mkdir(parents=True, exist_ok=True)
        replace_file(out, text)
    click.echo(f"{out} {'unchanged' if current else 'written'}")
