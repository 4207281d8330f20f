"""`specviz compare`: measure both decoders, timed alternately, on one prompt or on a file of prompts."""

import json
from dataclasses import asdict, dataclass
from statistics import median
from typing import Annotated, Any

from typer import Context, Option

from specviz.cli.options import (
    PromptOptions,
    add_command,
    check_one_given,
    grammar_of,
    load_pair,
    new_group,
    prompt_of,
)
from specviz.cli.output import counts_line, print_line, print_table, status_line, write_json
from specviz.cli.sweep import DRAFT_LENGTHS, ManyOptions, draft_lengths, measure_all, prompts_of
from specviz.core.drafters import typed_name
from specviz.core.errors import InputError
from specviz.core.rounding import judge_difference
from specviz.core.rounds import known_seconds
from specviz.core.settings import SETTINGS, DecodeSettings
from specviz.core.trace import Trace
from specviz.measure.paired import Comparison
from specviz.measure.sweep.plan import SweepPair, SweepPlan
from specviz.measure.sweep.rows import COUNTED, counted

REPEATS = 5  # of one prompt
REPEATS_SAID = f"{REPEATS}; 1 with --prompts-file, where the prompts are the sample"

group = new_group()


@dataclass(frozen=True, kw_only=True)
class CompareOptions(PromptOptions, ManyOptions):
    repeats: Annotated[int | None, Option(metavar="R", help=f"alternating repeats (default: {REPEATS_SAID})")] = None
    draft_lengths: Annotated[
        str | None, Option(metavar="G,G,...", help=f"with --prompts-file (default: --draft-length, or {DRAFT_LENGTHS})")
    ] = None


@add_command(
    group,
    'compare --target wren-base --draft wren-nano --prompt "Once upon a time" --repeats 9',
    "compare --target wren-base --draft wren-nano --prompts-file prompts.jsonl --csv rows.csv --plots figures",
)
def compare(options: CompareOptions, settings: DecodeSettings, context: Context) -> None:
    """Measure both decoders, timed alternately, on one prompt or on a file of prompts."""
    check_one_given(prompt=options.prompt, prompt_file=options.prompt_file, prompts_file=options.prompts_file)
    if options.repeats is not None and options.repeats < 1:
        raise InputError(f"--repeats must be at least 1, not {options.repeats}.")
    if not options.prompts_file:
        return compare_one(options, settings)
    if options.json_schema or options.regex:
        raise InputError("--json-schema and --regex are for one prompt: leave out --prompts-file.")
    given = context.params["draft_length"]
    lengths = options.draft_lengths or (DRAFT_LENGTHS if given is None else str(given))
    plan = SweepPlan(
        prompts=prompts_of(options.prompts_file),
        pairs=(SweepPair(options.target, options.draft),),
        draft_lengths=draft_lengths(lengths),
        temperatures=(settings.temperature,),
        schedules=(settings.draft_schedule,),
        settings=settings,
        repeats=options.repeats or 1,
    )
    return measure_all(options, plan)


def compare_one(options: CompareOptions, settings: DecodeSettings) -> None:
    for option in ("csv", "plots", "ray", "draft_lengths"):
        if getattr(options, option) is not None:
            raise InputError(f"--{option.replace('_', '-')} is for several prompts: use --prompts-file.")
    prompt, grammar, repeats = prompt_of(options), grammar_of(options), options.repeats or REPEATS
    with status_line() as status:
        target, drafter = load_pair(options, settings, status)
        from specviz.decoding import make_constraint  # imports torch
        from specviz.measure import compare

        constraint = make_constraint(target, drafter.loaded, grammar, prompt) if grammar else None
        comparison = compare.compare(target, drafter, prompt, settings, repeats, status.show, constraint)
    if write_json(options.json, json.dumps(comparison_json(comparison), indent=2)):
        print_comparison(comparison)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The result of `compare --json`.

    Above temperature 0 each repeat has one of `seeds`. "autoregressive" and "speculative" hold one repeat's texts and
    counts (that with the median ratio), and every repeat's seconds; "all_seeds" holds the counts over all repeats.
    """
    speculative, plain = comparison.speculative, comparison.plain
    drafter, settings = speculative.drafter, speculative.settings
    verdict = comparison.verdict
    low, high = verdict.interval or (None, None)  # one repeat has no interval
    predicted = comparison.predicted
    predicted_low, predicted_high = (predicted and predicted.interval) or (None, None)
    return {
        "target": speculative.target.name,
        "draft": typed_name(drafter.asked_as) if drafter else None,
        "draft_length": settings.draft_length,
        "temperature": settings.temperature,
        **{name: getattr(settings, name) for name, row in SETTINGS.items() if row.words},  # those that are in `manner`
        "seed": comparison.seeds[0],
        "seeds": comparison.seeds,
        "target_dtype": speculative.target.dtype,
        "draft_dtype": drafter.dtype if drafter else None,
        "threads": speculative.recorded_on.threads,
        "prompt_tokens": len(speculative.prompt.token_ids),
        "new_tokens": len(speculative.output.token_ids),
        "autoregressive": _decoder_json(plain, comparison.plain_seconds, comparison.plain_lengths),
        "speculative": {
            **_decoder_json(speculative, comparison.speculative_seconds, comparison.speculative_lengths),
            **counted(speculative),
        },
        "all_seeds": {
            **{name: getattr(comparison.counts, name) for name in (*COUNTED, "emitted")},
            "plain_tokens": comparison.plain_written,
        },
        "speedup": comparison.speedup,
        "speedup_low": low,
        "speedup_high": high,
        "predicted_speedup": predicted and predicted.speedup,
        "predicted_low": predicted_low,
        "predicted_high": predicted_high,
        "calibrated": comparison.costs is not None,
        "identical": comparison.identical,
        "quality": asdict(comparison.quality),
        "verdict": {"label": verdict.label, "reason": verdict.reason},
    }


def _decoder_json(trace: Trace, seconds: list[float], lengths: list[int]) -> dict[str, Any]:
    """One decoder: its run that is shown, and of every repeat the seconds and the number of new tokens."""
    prefill = trace.prefill_seconds
    return {
        "seconds": median(seconds),
        "seconds_all": seconds,
        "new_tokens_all": lengths,
        "prefill_seconds": known_seconds(prefill.target) + known_seconds(prefill.draft),
        "token_ids": trace.output.token_ids,
        "text": trace.output.text,
    }


def print_comparison(comparison: Comparison) -> None:
    verdict, seeds, found = comparison.verdict, comparison.seeds, comparison.quality
    timed = (
        ("target alone", comparison.plain_seconds, comparison.plain_rates),
        ("speculative", comparison.speculative_seconds, comparison.speculative_rates),
    )
    rows = [[name, median(s), float(median(rates)), f"{min(s):.3f} to {max(s):.3f}"] for name, s, rates in timed]
    print_table(("", "median s", "tokens/s", "spread"), rows)
    of_all = f"seeds {seeds[0]} to {seeds[-1]}, all together: " if len(seeds) > 1 else ""
    print_line(f"{of_all}{counts_line(comparison.counts, 'discarded')}")
    said = f"speedup {verdict.shown} measured"
    if predicted := comparison.predicted:
        said += f", {predicted.shown} modelled"
    target = comparison.speculative.target
    if found.kind == "sampling":
        same = "the texts are two draws from one distribution"
    elif comparison.identical:
        same = "texts identical"
    elif found.top2_gap is None:
        same = f"texts the same for {found.first_difference} tokens, then only one of them goes on"
    else:
        why = judge_difference(found.lead, target.dtype, target.name).sentence
        same = f"texts differ from token {(found.first_difference or 0) + 1}: {why}"
    print_line(f"{said}; {same}")
    print_line(f"{verdict.headline}: {verdict.reason}")
