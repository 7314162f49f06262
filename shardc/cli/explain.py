"""`shardc explain`"""

from __future__ import annotations

from difflib import get_close_matches

import click

from shardc.cli.output import HELP
from shardc.diagnostics import NAMES
from shardc.rules.explained import codes, explanation, page
from shardc.spec.library import library_text


@click.command("explain", context_settings=HELP)
@click.argument("code", required=False)
@click.option("--markdown", is_flag=True, help="The texts of all codes, as one Markdown page.")
def command(code: str | None, markdown: bool) -> None:
    """What CODE means, why it matters and what to do; or a fragment, format or contract by its name. All codes, if
    none is given."""
    if markdown:
        click.echo(page(), nl=False)
        return
    if code is None:
        for known in codes():
            click.echo(f"{known}  {NAMES[known]}")
        return
    text = library_text(code)
    if text is not None:
        click.echo(text, nl=False)
        return
    wanted = code.upper()
    found = explanation(wanted)
    if found is None or wanted not in NAMES:
        near = get_close_matches(wanted, codes(), n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `shardc explain` lists all codes"
        raise click.UsageError(f"no code {code}{hint}")
    click.echo(f"{wanted} {NAMES[wanted]}\n")
    click.echo(_plain(found.text))


def _plain(text: str) -> str:
    """Markdown for a terminal: headings bare, what is under them indented, fences dropped."""
    out = []
    fenced = False
    for line in text.strip().splitlines():
        if line.startswith("```"):
            fenced = not fenced
            continue
        if line.startswith("## ") and not fenced:
            out.append(line[3:])
        else:
            out.append(f"  {'  ' if fenced else ''}{line}" if line else "")
    return "\n".join(line for i, line in enumerate(out) if line or (i and out[i - 1]))
