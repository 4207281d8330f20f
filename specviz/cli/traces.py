"""Commands with one trace: `run` makes it, `show` checks and prints it, `import` reads another system's record."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from specviz.cli.options import (
    JsonPath,
    PromptFile,
    PromptOptions,
    add_command,
    check_one_given,
    grammar_of,
    load_pair,
    new_group,
    one_of,
    prompt_of,
)
from specviz.cli.output import print_line, print_trace, status_line, write_file, write_json
from specviz.core.files import content_of, text_of
from specviz.core.settings import DecodeSettings
from specviz.core.trace import dump_trace, read_trace
from specviz.models.catalogue import changed_weights
from specviz.systems import SYSTEMS, RecordOptions, import_run
from specviz.systems.fields import MOST_BYTES

group = new_group()


@add_command(
    group,
    'run --target wren-base --draft wren-nano --prompt "Once upon a time"',
    "run --target wren-base --draft prompt-lookup --prompt-file prompt.txt --json run.json",
)
def run(options: PromptOptions, settings: DecodeSettings) -> None:
    """Decode a prompt and show which tokens were accepted."""
    prompt, grammar = prompt_of(options), grammar_of(options)
    with status_line() as status:
        target, drafter = load_pair(options, settings, status)
        from specviz.decoding import make_constraint  # imports torch
        from specviz.measure.compare import run_both

        constraints = [make_constraint(target, drafter.loaded, grammar, prompt) for _ in range(2)] if grammar else []
        status.show("decoding, then calibrating")
        trace = run_both(target, drafter, prompt, settings, *constraints)
    if write_json(options.json, dump_trace(trace)):
        print_trace(trace)


@add_command(group, "show run.json")
def show(trace: Annotated[Path, Argument(metavar="TRACE.json", help="the file")], json: JsonPath = None) -> None:
    """Check a saved trace and print it."""
    run = read_trace(trace)
    if write_json(json, dump_trace(run) if json else ""):  # a second text as large as the file
        print_trace(run)
        for change in changed_weights(run):
            print_line(f"note: {change}")


@add_command(
    group,
    "import answer.json --from vllm -o trace.json",
    "import stream.txt --from llama.cpp --prompt-file prompt.txt --tokenizer wren-base --json -",
    name="import",
)
def import_record(
    record: Annotated[Path, Argument(metavar="FILE", help="an answer, lines of JSON, or a stream saved by curl")],
    system: Annotated[str, Option("--from", help="the system that wrote it", **one_of(SYSTEMS))],
    out: Annotated[
        Path | None, Option("--out", "-o", metavar="TRACE.json", help="write the trace to this file")
    ] = None,
    prompt: Annotated[str | None, Option(metavar="TEXT", help="the prompt, where the record does not have it")] = None,
    prompt_file: PromptFile = None,
    target: Annotated[str | None, Option(metavar="NAME", help="where the record does not have its name")] = None,
    draft: Annotated[str | None, Option(metavar="NAME", help="where the record does not have its name")] = None,
    temperature: Annotated[float | None, Option(metavar="X", help="0 is greedy (default: as recorded)")] = None,
    tokenizer: Annotated[
        str | None, Option(metavar="T", help="the target's, which gives each token's text: a name, folder or Hub id")
    ] = None,
    json: JsonPath = None,
) -> None:
    """Read what vLLM, SGLang, llama.cpp, transformers or LM Studio report of one run, as a trace.

    What the system does not report (most often the rejected tokens, probabilities and times) stays unknown.
    docs/traces.md says how to ask each system for its record.
    """
    check_one_given(prompt=prompt, prompt_file=prompt_file)
    tokens = None
    if tokenizer:
        from specviz.models.loading import inspect_model  # these import torch and tokenizers: bad usage must not wait
        from specviz.models.record_tokenizer import RecordTokenizer

        tokens = RecordTokenizer(inspect_model(tokenizer).tokens)
    text = text_of(prompt_file, MOST_BYTES) if prompt_file else prompt or ""
    given = RecordOptions(text, target, draft, temperature, tokens)
    trace = import_run(content_of(record, MOST_BYTES), system, given)
    dumped = dump_trace(trace) if out or json else ""
    if out:
        write_file(out, dumped + "\n")
    if write_json(json, dumped):
        print_trace(trace)
        if out:
            print_line(f"wrote {out}")
