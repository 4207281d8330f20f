"""`specviz compare`: measure both decoders on one prompt, timed alternately."""

import argparse
import json
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from specviz.cli.loading import load_pair
from specviz.cli.options import PROMPT_LOOKUP, add_json, add_pair, add_prompt, grammar_of, prompt_of, settings_of
from specviz.cli.output import number, print_table, say, status_line, write_json

if TYPE_CHECKING:
    from specviz.cli.options import Commands
    from specviz.measure.compare import Comparison


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = commands.add_parser("compare", help="measure both decoders, timed alternately")
    add_pair(parser)
    add_prompt(parser)
    parser.add_argument("--repeats", type=int, default=5, metavar="R", help="interleaved repeats (5)")
    add_json(parser)
    parser.set_defaults(command=compare)


def compare(options: argparse.Namespace) -> None:
    """Measure, and print or write the comparison."""
    settings, prompt, grammar = settings_of(options), prompt_of(options), grammar_of(options)
    with status_line() as status:
        target, drafter = load_pair(options, status)
        from specviz.decoding import make_constraint  # imports torch
        from specviz.measure import compare

        constraint = make_constraint(target, drafter.loaded, grammar, prompt) if grammar else None
        comparison = compare.compare(target, drafter, prompt, settings, options.repeats, status.show, constraint)
    result = comparison_json(comparison)
    if write_json(options.json, json.dumps(result, indent=2)):
        print_comparison(result)


def comparison_json(comparison: "Comparison") -> dict[str, Any]:
    """The result of `compare --json`. Other programs depend on its shape."""
    speculative, plain, counts = comparison.speculative, comparison.plain, comparison.counts
    drafter, settings = speculative.drafter, speculative.settings
    verdict = comparison.verdict
    low, high = verdict.interval or (None, None)  # one repeat has no interval
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
        "speedup_low": low,
        "speedup_high": high,
        "predicted_speedup": comparison.predicted_speedup,
        "identical": comparison.identical,
        "quality": comparison.quality,
        "verdict": {"label": verdict.label, "reason": verdict.reason},
    }


def print_comparison(result: dict[str, Any]) -> None:
    """The figures as a table, then the verdict."""
    plain, speculative = result["autoregressive"], result["speculative"]
    print_table(
        ("", "median s", "tokens/s", "spread"),
        [
            [name, run["seconds"], len(run["token_ids"]) / run["seconds"], _spread(run["seconds_all"])]
            for name, run in (("target alone", plain), ("speculative", speculative))
        ],
    )
    say(
        f"{speculative['rounds']} target passes: {speculative['drafted']} drafted, {speculative['accepted']} accepted, "
        f"{speculative['rejected']} rejected, {speculative['discarded']} discarded; acceptance rate "
        f"{number(speculative['acceptance_rate'])}, per judgement {number(speculative['per_judgement_rate'])}"
    )
    predicted = number(result["predicted_speedup"])
    say(f"speedup {result['speedup']:.2f}× measured{_interval(result)}, {predicted}× modelled; {_sameness(result)}")
    say(f"{result['verdict']['label']}: {result['verdict']['reason']}")


def _interval(result: dict[str, Any]) -> str:
    if result["speedup_low"] is None:
        return ""
    return f" (95 % interval {result['speedup_low']:.2f} to {result['speedup_high']:.2f}×)"


def _sameness(result: dict[str, Any]) -> str:
    if result["identical"] is None:
        return "the texts are two draws from one distribution"
    return "texts identical" if result["identical"] else f"texts differ, see quality: {result['quality']}"


def _spread(seconds: Sequence[float]) -> str:
    return f"{min(seconds):.3f} to {max(seconds):.3f}"
