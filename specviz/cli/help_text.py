"""What `--help` prints: every option with its default, then examples that can be copied."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specviz.cli.options import Commands

PROGRAM = "python -m specviz"


class Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """The default stands after an option's text, where there is one; examples keep their lines."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False:
            return action.help
        return super()._get_help_string(action)


def add_command(commands: "Commands", name: str, summary: str, *examples: str) -> argparse.ArgumentParser:
    """Add a command to the program.

    Args:
        commands: the program's commands.
        name: what is typed.
        summary: what the command does, in a few words.
        examples: what can follow the program's name, each on its own line.
    """
    lines = "\n".join(f"  {PROGRAM} {example}" for example in examples)
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"examples:\n{lines}",
        formatter_class=Help,
    )
