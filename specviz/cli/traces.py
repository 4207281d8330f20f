"""Commands with one trace: `run` makes it, `show` checks and prints it, `import` reads another system's record."""

import argparse
from pathlib import Path

from specviz.cli.options import Command, add_pair, add_prompt, grammar_of, load_pair, prompt_of, settings_of
from specviz.cli.output import print_line, print_trace, status_line, write_file, write_json
from specviz.core.files import content_of, text_of
from specviz.core.trace import dump_trace, read_trace
from specviz.models.catalogue import changed_weights
from specviz.systems import SYSTEMS, RecordOptions, import_run
from specviz.systems.fields import MOST_BYTES


def _run_options(parser: argparse.ArgumentParser) -> None:
    add_pair(parser)
    add_prompt(parser)


def run(options: argparse.Namespace) -> None:
    settings, prompt, grammar = settings_of(options), prompt_of(options), grammar_of(options)
    with status_line() as status:
        target, drafter = load_pair(options, status)
        from specviz.decoding import make_constraint  # imports torch
        from specviz.measure.compare import run_both

        constraints = [make_constraint(target, drafter.loaded, grammar, prompt) for _ in range(2)] if grammar else []
        status.show("decoding, then calibrating")
        trace = run_both(target, drafter, prompt, settings, *constraints)
    if write_json(options.json, dump_trace(trace)):
        print_trace(trace)


def show(options: argparse.Namespace) -> None:
    trace = read_trace(options.trace)
    if write_json(options.json, dump_trace(trace) if options.json else ""):  # a second text as large as the file
        print_trace(trace)
        for change in changed_weights(trace):
            print_line(f"note: {change}")


def _import_options(parser: argparse.ArgumentParser) -> None:
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


ABOUT = """\
What the system does not report (most often the rejected tokens, probabilities and times) stays unknown. docs/traces.md
says how to ask each system for its record."""


def import_command(options: argparse.Namespace) -> None:
    tokenizer = None
    if options.tokenizer:
        from specviz.models.loading import inspect_model  # these import torch and tokenizers: bad usage must not wait
        from specviz.models.record_tokenizer import RecordTokenizer

        tokenizer = RecordTokenizer(inspect_model(options.tokenizer).tokens)
    prompt = text_of(options.prompt_file, MOST_BYTES) if options.prompt_file else options.prompt or ""
    given = RecordOptions(prompt, options.target, options.draft, options.temperature, tokenizer)
    trace = import_run(content_of(options.record, MOST_BYTES), options.system, given)
    text = dump_trace(trace) if options.out or options.json else ""
    if options.out:
        write_file(options.out, text + "\n")
    if write_json(options.json, text):
        print_trace(trace)
        if options.out:
            print_line(f"wrote {options.out}")


COMMANDS = (
    Command(
        "run",
        "decode a prompt and show which tokens were accepted",
        run,
        _run_options,
        (
            '--target wren-base --draft wren-nano --prompt "Once upon a time"',
            "--target wren-base --draft prompt-lookup --prompt-file prompt.txt --json run.json",
        ),
    ),
    Command(
        "show",
        "check a saved trace and print it",
        show,
        lambda parser: parser.add_argument("trace", type=Path, metavar="TRACE.json", help="the file"),
        ("run.json",),
    ),
    Command(
        "import",
        "read what vLLM, SGLang, llama.cpp, transformers or LM Studio report of one run, as a trace",
        import_command,
        _import_options,
        (
            "answer.json --from vllm -o trace.json",
            "stream.txt --from llama.cpp --prompt-file prompt.txt --tokenizer wren-base --json -",
        ),
    ),
)
