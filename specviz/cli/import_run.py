"""`specviz import`: another system's record of a run as a trace."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.cli.help_text import add_command
from specviz.cli.options import add_json
from specviz.cli.output import say, write_file, write_json
from specviz.cli.trace_text import print_trace
from specviz.core.errors import InputError
from specviz.core.trace import dump_trace
from specviz.data.importers import SYSTEMS, Given, import_run
from specviz.data.importers.record import MOST_BYTES

if TYPE_CHECKING:
    from specviz.cli.options import Commands
    from specviz.models.record_tokenizer import RecordTokenizer

ABOUT = """\
What the system does not report (most often the rejected tokens, probabilities and times) stays unknown. docs/traces.md
says how to ask each system for its record."""


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands,
        "import",
        "read what vLLM, SGLang, llama.cpp, transformers or LM Studio report of one run, as a trace",
        "import answer.json --from vllm -o trace.json",
        "import stream.txt --from llama.cpp --prompt-file prompt.txt --tokenizer wren-base --json -",
    )
    parser.description = f"{parser.description}\n\n{ABOUT}"
    parser.add_argument("record", type=Path, metavar="FILE", help="an answer, lines of JSON, or a stream saved by curl")
    parser.add_argument("--from", dest="system", required=True, choices=SYSTEMS, help="the system that wrote it")
    parser.add_argument("-o", "--out", type=Path, metavar="TRACE.json", help="write the trace to this file")
    prompt = parser.add_mutually_exclusive_group()
    prompt.add_argument("--prompt", metavar="TEXT", help="the prompt, where the record does not have it")
    prompt.add_argument("--prompt-file", type=Path, metavar="F", help="a file that is the prompt, all of it")
    parser.add_argument("--target", metavar="NAME", help="the target's name, where the record does not have it")
    parser.add_argument("--draft", metavar="NAME", help="the draft's name, where the record does not have it")
    parser.add_argument("--temperature", type=float, metavar="X", help="0 is greedy (as the record has it, or unknown)")
    parser.add_argument(
        "--tokenizer", metavar="T", help="the target's: a bundled name, folder or Hub id; it gives each token's text"
    )
    add_json(parser)
    parser.set_defaults(command=import_command)


def import_command(options: argparse.Namespace) -> None:
    """Write the trace, or print it."""
    given = Given(
        _text(options.prompt_file) if options.prompt_file else options.prompt or "",
        options.target,
        options.draft,
        options.temperature,
        _tokenizer(options.tokenizer) if options.tokenizer else None,
    )
    trace = import_run(_content(options.record), options.system, given)
    if options.out:
        write_file(options.out, dump_trace(trace) + "\n")
    if write_json(options.json, dump_trace(trace)):
        print_trace(trace)
        if options.out:
            say(f"wrote {options.out}")


def _tokenizer(name: str) -> "RecordTokenizer":
    from specviz.models.inspection import inspect_model  # these import torch and tokenizers: bad usage must not wait
    from specviz.models.record_tokenizer import RecordTokenizer

    return RecordTokenizer(inspect_model(name).tokens)


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)  # a limit, because a file can be larger than its size says
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error


def _text(file: Path) -> str:
    try:
        return _content(file).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text.") from error
