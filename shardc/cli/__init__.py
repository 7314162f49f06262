"""The `shardc` command. One file a command; each is imported only when it is called."""

from __future__ import annotations

import gc
import sys

import click

from shardc.cli.output import HELP
from shardc.diagnostics import ShardcBug

#: Python's 700 would have the garbage collector look through what a command keeps to its end, again and again.
OBJECTS_BETWEEN_COLLECTIONS = 100_000

_COMMANDS = {
    "build": "Check the specs and write generated/.",
    "check": "Check the specs, and every target they claim.",
    "diff": "What a change of specs does, tensor by tensor and mesh by mesh.",
    "explain": "What a code means, why it matters and what to do.",
    "merge": "Put ranks' files together again, byte for byte.",
    "plan": "What each rank keeps of each tensor.",
    "prove": "Run a model on its shards, and compare what it computes.",
    "report": "Draw how every tensor is cut, as one HTML file.",
    "reshard": "Cut ranks' files anew, for another mesh.",
    "schema": "Write the JSON schema of spec files.",
    "shard": "Cut a checkpoint into files, of which each rank loads its own.",
    "verify": "Compare checkpoints' headers with their specs.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = __import__(f"shardc.cli.{name}", fromlist=["command"])
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings=HELP)
@click.version_option(package_name="shardc")
def shardc() -> None:
    """Say how a checkpoint is cut for tensor-parallel serving, prove it, and get the loader.

    Exit codes: 0 clean, 1 findings, 2 usage or I/O, 3 a bug in shardc.
    """


def main() -> None:
    """The console script. A bug of shardc is exit code 3, with a traceback and words that say so."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        shardc(standalone_mode=True)
    except ShardcBug as bug:
        print(f"shardc: a bug in shardc, not in your input: {bug}", file=sys.stderr)
        sys.exit(3)
    except OSError as error:
        print(f"shardc: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except Exception:
        import traceback

        traceback.print_exc()
        print("shardc: a bug in shardc, not in your input; please report it", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
