"""`specviz run`: decode one prompt with both decoders and print what happened to every drafted token."""

import argparse
from typing import TYPE_CHECKING

from specviz.cli.help_text import add_command
from specviz.cli.loading import load_pair
from specviz.cli.options import add_json, add_pair, add_prompt, grammar_of, prompt_of, settings_of
from specviz.cli.output import status_line, write_json
from specviz.cli.trace_text import print_trace
from specviz.core.trace import dump_trace

if TYPE_CHECKING:
    from specviz.cli.options import Commands


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands,
        "run",
        "decode a prompt and show which tokens were accepted",
        'run --target wren-base --draft wren-nano --prompt "Once upon a time"',
        "run --target wren-base --draft prompt-lookup --prompt-file prompt.txt --json run.json",
    )
    add_pair(parser)
    add_prompt(parser)
    add_json(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Decode the prompt, and print or write the trace."""
    settings, prompt, grammar = settings_of(options), prompt_of(options), grammar_of(options)
    with status_line() as status:
        target, drafter = load_pair(options, status)
        from specviz.decoding import make_constraint  # imports torch
        from specviz.measure.compare import run_both

        constraint = make_constraint(target, drafter.loaded, grammar, prompt) if grammar else None
        status.show("decoding")
        trace = run_both(target, drafter, prompt, settings, constraint)
    if write_json(options.json, dump_trace(trace)):
        print_trace(trace)
