"""The command line: `python -m specviz`. Parses, calls, prints; no arithmetic of its own.

Exit status: 0 done, 2 bad usage or bad input (one line on standard error), 1 anything else.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from specviz.cli.sweep import add_sweep_options, print_sweep, sweep_plan
from specviz.cli.text import download_line, print_comparison, print_dtypes, print_models, print_trace, safe, table
from specviz.core.errors import InputError
from specviz.core.prompts import prompt_problem
from specviz.core.request import PROMPT_LOOKUP as LOOKUP
from specviz.core.settings import DRAFT_SCHEDULES, DecodeSettings
from specviz.core.trace import dump_trace, read_trace
from specviz.data.grammars import Grammar, compile_grammar
from specviz.measure.sweep.plan import SweepPair
from specviz.measure.sweep.rows import SweepFile
from specviz.models.catalogue import bundled_models, bundled_names, changed_weights
from specviz.models.pairs import HUB_MODELS, PAIRS, KnownModel, Pair, known_models

if TYPE_CHECKING:
    from specviz.decoding import Drafter
    from specviz.measure.compare import Comparison
    from specviz.models import LoadedModel
    from specviz.models.hub import Progress

PROMPT_LOOKUP = "prompt-lookup"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        options = _parser().parse_args(arguments)
        if options.json != "-" and isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal that has no such glyph shows a question mark
        options.command(options)
        sys.stdout.flush()  # here, where a reader that has left is met below
        return 0
    except InputError as error:
        print(f"specviz: {_one_line(error)}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, MemoryError):
        print("specviz: stopped before it was done.", file=sys.stderr)
        return 1
    except Exception as error:
        logging.getLogger(__name__).debug("unexpected", exc_info=True)
        print(f"specviz: unexpected {type(error).__name__}: {_one_line(error)}", file=sys.stderr)
        return 1


def _one_line(error: Exception) -> str:
    """Of our own sentences nothing is cut; a name in them may hold anything."""
    return safe(" ".join(str(error).split()))[:1000]


class _Parser(argparse.ArgumentParser):
    """Bad usage is one line, like any other bad input."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} ({self.prog} --help tells more).")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="specviz", description="Speculative decoding with real models, measured.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)

    models = commands.add_parser("models", help="the models and pairs there are, and their sizes")
    models.set_defaults(command=_models)

    run = commands.add_parser("run", help="decode a prompt and show every token's fate")
    _add_pair(run)
    _add_prompt(run)
    run.set_defaults(command=_run)

    compare = commands.add_parser("compare", help="measure both decoders in turns")
    _add_pair(compare)
    _add_prompt(compare)
    compare.add_argument("--repeats", type=int, default=5, metavar="R", help="interleaved repeats (5)")
    compare.set_defaults(command=_compare)

    sweep = commands.add_parser("sweep", help="measure workloads, drafts and settings against each other")
    _add_pair(sweep, drafts="append")
    add_sweep_options(sweep)
    sweep.set_defaults(command=_sweep)

    show = commands.add_parser("show", help="check a saved trace and print it")
    show.add_argument("trace", type=Path, metavar="TRACE.json")
    show.set_defaults(command=_show)

    calibrate = commands.add_parser("calibrate", help="measure c, v(k) and overhead on this machine")
    _add_pair(calibrate)
    calibrate.set_defaults(command=_calibrate)

    for command in (models, run, compare, sweep, show, calibrate):
        command.add_argument("--json", metavar="PATH", help="write the result as JSON; - is standard output")
    return parser


def _add_pair(parser: argparse.ArgumentParser, drafts: Literal["store", "append"] = "store") -> None:
    dtypes = ("auto", "float32", "bfloat16")
    default = DecodeSettings()
    parser.add_argument("--target", required=True, metavar="T", help="bundled name, folder or Hub id")
    several = "; may be given several times" if drafts == "append" else ""
    lookup = f"the same, or {PROMPT_LOOKUP}{several}"
    parser.add_argument("--draft", required=True, action=drafts, metavar="D", help=lookup)
    parser.add_argument("--max-new-tokens", type=int, default=default.max_new_tokens, metavar="N")
    parser.add_argument("--draft-length", type=int, default=default.draft_length, metavar="G")
    parser.add_argument("--temperature", type=float, default=default.temperature, metavar="X", help="0 is greedy")
    parser.add_argument("--top-k", type=int, metavar="K")
    parser.add_argument("--top-p", type=float, metavar="P")
    parser.add_argument("--seed", type=int, default=default.seed, metavar="S")
    parser.add_argument("--ignore-eos", action="store_true", help="always write all new tokens")
    parser.add_argument("--dtype", choices=dtypes, default="float32", help="of both models; float32 is exact")
    parser.add_argument("--target-dtype", choices=dtypes)
    parser.add_argument("--draft-dtype", choices=dtypes)
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="torch threads (1)")
    parser.set_defaults(draft_schedule=default.draft_schedule)


def _add_prompt(parser: argparse.ArgumentParser) -> None:
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT")
    prompt.add_argument("--prompt-file", type=Path, metavar="F")
    parser.add_argument("--draft-schedule", choices=DRAFT_SCHEDULES, help="how the draft length changes (fixed)")
    grammar = parser.add_mutually_exclusive_group()
    grammar.add_argument("--json-schema", type=Path, metavar="F", help="the output is JSON that follows this schema")
    grammar.add_argument("--regex", metavar="TEXT", help="the whole output matches this expression")


def _settings(options: argparse.Namespace) -> DecodeSettings:
    return DecodeSettings(
        max_new_tokens=options.max_new_tokens,
        draft_length=options.draft_length,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        seed=options.seed,
        stop_at_eos=not options.ignore_eos,
        draft_schedule=options.draft_schedule,
    )


def _prompt(options: argparse.Namespace) -> str:
    text = _read(options.prompt_file) if options.prompt is None else options.prompt
    if problem := prompt_problem(text):
        raise InputError(problem)
    return str(text)


def _grammar(options: argparse.Namespace) -> Grammar | None:
    """What the output must be, checked before anything is loaded."""
    if options.json_schema is None and options.regex is None:
        return None
    regex = options.regex is not None
    grammar = Grammar("regex", options.regex) if regex else Grammar("json_schema", _read(options.json_schema))
    compile_grammar(grammar)
    return grammar


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text.") from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error


def _pair(options: argparse.Namespace) -> "tuple[LoadedModel, Drafter]":
    """Load target and drafter. torch is imported here, after everything cheap was checked."""
    target, draft = _load_models(options)
    from specviz.decoding import make_drafter

    return target, make_drafter(target, draft, _settings(options))


def _load_models(
    options: argparse.Namespace, target: "LoadedModel | None" = None
) -> "tuple[LoadedModel, LoadedModel | None]":
    """Load target and draft, None for prompt lookup; a target that is there already is not loaded again."""
    if options.threads < 1:
        raise InputError(f"--threads must be at least 1, not {options.threads}.")
    import torch

    from specviz.models import load_model

    torch.set_num_threads(options.threads)
    _check_pair(options)
    if target is None:
        _progress(f"loading {options.target}")
        target = load_model(options.target, options.target_dtype or options.dtype, _download_progress)
    if options.draft == PROMPT_LOOKUP:
        return target, None
    _progress(f"loading {options.draft}")
    return target, load_model(options.draft, options.draft_dtype or options.dtype, _download_progress)


def _check_pair(options: argparse.Namespace) -> None:
    """Refuse a pair that cannot work before anything is downloaded or loaded; bundled pairs can."""
    draft = None if options.draft == PROMPT_LOOKUP else options.draft
    if {options.target, draft} <= {None, *bundled_names()}:
        return
    from specviz.models.pairing import check_pair

    _progress("checking the pair")
    report = check_pair(
        options.target,
        draft,
        options.target_dtype or options.dtype,
        options.draft_dtype or options.dtype,
        greedy=options.temperature == 0,
        new_tokens=options.max_new_tokens,
    )
    _progress("")
    if not report.ok:
        raise InputError(report.problems[0])
    if sys.stderr.isatty():
        for note in report.notes:
            print(f"note: {safe(note)}", file=sys.stderr)


def _download_progress(step: "Progress") -> None:
    _progress(download_line(step))


def _progress(line: str) -> None:
    """One line that overwrites itself, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="" if line else "\r", file=sys.stderr, flush=True)


def _write(options: argparse.Namespace, text: str) -> bool:
    """Write JSON where --json says; False means standard output holds it and nothing else may be printed."""
    if options.json is None:
        return True
    if options.json == "-":
        print(text)
        return False
    try:
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{options.json} cannot be written: {error.strerror}.") from error
    return True


def _models(options: argparse.Namespace) -> None:
    result = {
        "bundled": [asdict(model) for model in bundled_models()],
        "catalogue": [_with_memory(model) for model in HUB_MODELS],
        "pairs": [_with_memory(pair) for pair in PAIRS],
    }
    if _write(options, json.dumps(result, indent=2)):
        print_models(known_models().values(), PAIRS)


def _with_memory(what: KnownModel | Pair) -> dict[str, Any]:
    memory = {"float32": what.float32_bytes, "bfloat16": what.bfloat16_bytes}
    return asdict(what) | {"parameters": what.parameters, "memory_bytes": memory}


def _run(options: argparse.Namespace) -> None:
    settings, prompt, grammar = _settings(options), _prompt(options), _grammar(options)
    target, drafter = _pair(options)
    from specviz.decoding import make_constraint
    from specviz.measure.compare import run_both

    constraint = make_constraint(target, drafter.loaded, grammar, prompt) if grammar else None
    _progress("decoding")
    trace = run_both(target, drafter, prompt, settings, constraint)
    _progress("")
    if _write(options, dump_trace(trace)):
        print_trace(trace)


def _compare(options: argparse.Namespace) -> None:
    settings, prompt, grammar = _settings(options), _prompt(options), _grammar(options)
    target, drafter = _pair(options)
    from specviz.decoding import make_constraint
    from specviz.measure.compare import compare

    constraint = make_constraint(target, drafter.loaded, grammar, prompt) if grammar else None
    comparison = compare(target, drafter, prompt, settings, options.repeats, _progress, constraint)
    _progress("")
    result = comparison_json(comparison)
    if _write(options, json.dumps(result, indent=2)):
        print_comparison(result)


def comparison_json(comparison: "Comparison") -> dict[str, Any]:
    """`compare --json`: the shape others depend on."""
    speculative, plain, counts = comparison.speculative, comparison.plain, comparison.counts
    drafter, settings = speculative.drafter, speculative.settings
    verdict = comparison.verdict
    return {
        "target": speculative.target.name,
        "draft": drafter.name if drafter and drafter.kind == "model" else PROMPT_LOOKUP,
        "draft_length": settings.draft_length,
        "temperature": settings.temperature,
        "seed": settings.seed,
        "target_dtype": speculative.target.dtype,
        "draft_dtype": drafter.dtype if drafter else None,
        "threads": comparison.threads,
        "prompt_tokens": len(speculative.prompt.token_ids),
        "new_tokens": len(speculative.output.token_ids),
        "autoregressive": {
            "seconds": median(comparison.plain_seconds),
            "seconds_all": comparison.plain_seconds,
            "prefill_seconds": plain.prefill_seconds.target,
            "token_ids": plain.output.token_ids,
            "text": plain.output.text,
        },
        "speculative": {
            "seconds": median(comparison.speculative_seconds),
            "seconds_all": comparison.speculative_seconds,
            "prefill_seconds": speculative.prefill_seconds.target + speculative.prefill_seconds.draft,
            "token_ids": speculative.output.token_ids,
            "text": speculative.output.text,
            "rounds": counts.rounds,
            "drafted": counts.drafted,
            "accepted": counts.accepted,
            "rejected": counts.rejected,
            "discarded": counts.discarded,
            "acceptance_rate": counts.acceptance_rate,
            "per_judgement_rate": counts.per_judgement_rate,
            "tokens_per_target_call": counts.tokens_per_target_call,
            "draft_seconds": sum(round.draft_seconds for round in speculative.rounds),
            "verify_seconds": sum(round.verify_seconds for round in speculative.rounds),
            "overhead_seconds": sum(round.overhead_seconds for round in speculative.rounds),
        },
        "speedup": comparison.speedup,
        "predicted_speedup": comparison.predicted_speedup,
        "identical": comparison.identical,
        "quality": comparison.quality,
        "verdict": {"label": verdict.label, "reason": verdict.reason},
    }


def _sweep(options: argparse.Namespace) -> None:
    plan = sweep_plan(options, _settings(options))
    cells = plan.cells()
    file = SweepFile(options.csv)
    before = len(file.rows)
    target: LoadedModel | None = None

    def load(pair: SweepPair) -> "tuple[LoadedModel, LoadedModel | None]":
        nonlocal target
        draft = PROMPT_LOOKUP if pair.draft == LOOKUP else pair.draft
        one = {"draft": draft, "temperature": max(plan.temperatures)}
        target, loaded = _load_models(argparse.Namespace(**{**vars(options), **one}), target)
        return target, loaded

    from specviz.measure.sweep.measure import sweep

    for row in sweep(cells, load, file.done, _progress):
        file.add(row)
    _progress("")
    if _write(options, json.dumps({"rows": [asdict(row) for row in file.rows]}, indent=2)):
        print_sweep(file.rows[before:], str(options.csv))


def _show(options: argparse.Namespace) -> None:
    trace = read_trace(options.trace)
    if _write(options, dump_trace(trace)):
        print_trace(trace)
        for change in changed_weights(trace):
            print(f"note: {change}")


def _calibrate(options: argparse.Namespace) -> None:
    target, drafter = _pair(options)
    from specviz.measure.calibration import LONGEST_PASS, calibrate
    from specviz.models.dtype_choice import measure_dtypes

    _progress("measuring")
    result = asdict(calibrate(target, drafter.loaded))
    result["dtypes"] = {}
    for role, model in (("target", target), ("draft", drafter.loaded)):
        _progress(f"measuring the {role} in both number formats")
        lengths = range(1, LONGEST_PASS + 1)
        result["dtypes"][role] = asdict(measure_dtypes(model.name, lengths)) if model else None
    _progress("")
    if _write(options, json.dumps(result, indent=2)):
        print(f"one target step  {1000 * result['step_seconds']:.2f} ms ({result['target_dtype']}, measured here)")
        print(f"c                {result['cost_ratio']:.3f}   one draft step, in target steps")
        print(f"overhead         {result['overhead']:.3f}   a round, in target steps")
        table(("k", "v(k)"), [[k, v] for k, v in result["verification"].items()])
        print_dtypes(choice for choice in result["dtypes"].values() if choice)
