"""How long a sweep takes, what replaying all draft lengths costs, and how well a speedup is predicted.

    python -m benchmarks.experiment [--tokens 64] [--prompts 3] [--repeats 5] [--target T] [--draft D] [--out FILE]

1. A sweep of six workloads and four draft lengths, timed as a whole, with the same plan, `measure` and rows as on the
   page and in `specviz sweep`.
2. The counterfactual: (decoding + one pass of the draft over the output + the replay of all 16 draft lengths) over
   (the same decoding), timed alternately. Decoding is a speculative run at γ = 4, prompt included, nothing recorded.
   It is the fastest kind, so the ratio is the largest.
3. The predicted speedup against the measured one. It is predicted from a calibration before the sweep and from the
   acceptance on *other* prompts of the same workload. Two ways: each point of the sweep (a workload at a draft length:
   the geometric mean of its prompts) from prompts that are not in the sweep, and each single prompt from all others.
   Each with one α and with a rate per position. A replay of those prompts gives both exactly.

One torch thread, float32, greedy, always to the full length.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from statistics import geometric_mean, median
from time import perf_counter
from typing import Any

import torch

from benchmarks.quiet import quiet_machine
from benchmarks.timing import ratio, report, take_turns
from specviz import DecodeSettings, ModelDrafter, load_model, speculative_decode
from specviz.core.metrics import count
from specviz.core.replay import DraftGuesses, replay_lengths
from specviz.core.rounds import Round
from specviz.core.steps import result_of
from specviz.core.theory import expected_tokens, expected_tokens_by_position, round_steps
from specviz.data.prompts.workloads import WORKLOADS
from specviz.measure.calibration import Calibration, calibrate
from specviz.measure.sweep.measure import sweep
from specviz.measure.sweep.plan import SweepPair, SweepPlan, workload_prompts
from specviz.measure.sweep.rows import SweepRow
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel

KINDS = ("story", "code", "structured", "boilerplate", "copy", "prose")
GAMMAS = (1, 2, 4, 8)
GAMMA = 4  # of the decoding that the counterfactual is compared with


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompts", type=int, default=3, help="prompts of each kind")
    parser.add_argument("--repeats", type=int, default=5, help="turns of the counterfactual, per prompt")
    parser.add_argument("--target", default="wren-base")
    parser.add_argument("--draft", default="wren-nano")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    pair = load_model(options.target), load_model(options.draft)
    plan = plan_of(options)
    with quiet_machine(options.target) as quiet:
        calibration = calibrate(*pair)
        rows, sweep_figures = timed_sweep(pair, plan)
        replayed = counterfactual(pair, plan, options.repeats)
    replays = replays_of(pair, options.tokens)
    report(
        {
            "machine": asdict(describe_machine()),
            "quiet": quiet.said(),
            "options": vars(options),
            "sweep": sweep_figures,
            "counterfactual": replayed,
            "prediction": {
                "by_point": prediction(by_point(rows, replays), calibration),
                "by_prompt": prediction(by_prompt(rows, replays), calibration),
                "costs_in_the_sweep_over_calibrated": costs_over_calibrated(rows, calibration),
                "same_plain_run_twice": round(plain_noise(rows), 4),
            },
            "calibration": asdict(calibration),
        },
        options.out,
    )


def to_the_end(tokens: int, gamma: int = GAMMA) -> DecodeSettings:
    return DecodeSettings(max_new_tokens=tokens, draft_length=gamma, stop_at_eos=False)


def plan_of(options: argparse.Namespace) -> SweepPlan:
    """What `specviz sweep --workload ... --prompts 3 --draft-lengths 1,2,4,8 --max-new-tokens 64` plans."""
    return SweepPlan(
        prompts=tuple(workload_prompts([each for each in WORKLOADS if each.name in KINDS], options.prompts)),
        pairs=(SweepPair(options.target, options.draft),),
        draft_lengths=GAMMAS,
        settings=to_the_end(options.tokens),
    )


# ---- the sweep


def timed_sweep(pair: tuple[LoadedModel, LoadedModel], plan: SweepPlan) -> tuple[list[SweepRow], dict[str, Any]]:
    """The rows, and their time, with warm-ups and plain runs but without loading the two models."""
    cells = plan.cells()
    began = perf_counter()
    rows = list(sweep(cells, lambda _: pair))
    seconds = perf_counter() - began
    decoding = sum(row.speculative_seconds for row in rows) + sum({row.autoregressive_seconds for row in rows})
    figures = {
        "workloads": list(KINDS),
        "draft_lengths": list(plan.draft_lengths),
        "cells": len(rows),
        "seconds": round(seconds, 2),
        "share_in_timed_decoding": round(decoding / seconds, 3),
        "identical_outputs": sum(bool(row.identical) for row in rows),
    }
    return rows, figures


# ---- the counterfactual


def draft_guesses_of(pair: tuple[LoadedModel, LoadedModel], prompt: str, tokens: int) -> DraftGuesses:
    """What the draft would have guessed along the target's greedy output."""
    drafter = ModelDrafter(pair[1])
    trace = speculative_decode(pair[0], drafter, prompt, to_the_end(tokens), record=False)
    found = result_of(drafter.guess_along(pair[0], trace.prompt.token_ids, trace.output.token_ids))
    assert found is not None
    return found


def counterfactual(pair: tuple[LoadedModel, LoadedModel], plan: SweepPlan, repeats: int) -> dict[str, Any]:
    """(Decoding + draft_guesses + 16 replays) / decoding, the median of the turns for one prompt of each kind."""
    tokens, each = plan.settings.max_new_tokens, {}
    for prompt in plan.prompts[: len(KINDS)]:  # the first of every workload
        decode = partial(speculative_decode, *(pair[0], ModelDrafter(pair[1]), prompt.text, to_the_end(tokens)))
        seconds = take_turns(
            {
                "decode": lambda decode=decode: decode(record=False),  # type: ignore[misc]
                "all": lambda text=prompt.text: replay_lengths(draft_guesses_of(pair, text, tokens), tokens),  # type: ignore[misc]
            },
            repeats,
        )
        each[prompt.name] = round(ratio(seconds, "all", "decode"), 3)
    return {
        "numerator": f"decoding {tokens} tokens at draft length {GAMMA}, draft_guesses, replays of lengths 1 to 16",
        "denominator": "the same decoding alone",
        "median": round(median(each.values()), 3),
        "each": each,
    }


# ---- the prediction


Replays = dict[str, dict[str, dict[int, list[Round]]]]  # by workload, prompt and draft length


@dataclass(frozen=True, slots=True)
class Case:
    """Something the sweep measured, and the rounds that its speedup is predicted from."""

    workload: str
    prompt: str  # empty for a point
    draft_length: int
    measured: float
    others: list[Round]  # of other prompts, at this draft length
    own: list[Round]  # of the same prompts: separates errors of the costs from errors of the acceptance


def replays_of(pair: tuple[LoadedModel, LoadedModel], tokens: int) -> Replays:
    """Every prompt of the six workloads at every draft length: one decoding and one pass of the draft each."""
    return {
        each.name: {
            preset.name: replay_lengths(draft_guesses_of(pair, preset.text, tokens), tokens) for preset in each.prompts
        }
        for each in WORKLOADS
        if each.name in KINDS
    }


def by_point(rows: Sequence[SweepRow], replays: Replays) -> list[Case]:
    """Each workload at each draft length, from its prompts that are not in the sweep."""
    cases = []
    for kind, gamma in product(KINDS, GAMMAS):
        speedups = {row.preset: row.speedup for row in rows if (row.workload, row.draft_length) == (kind, gamma)}
        own = [round for name in speedups for round in replays[kind][name][gamma]]
        others = [round for name, each in replays[kind].items() if name not in speedups for round in each[gamma]]
        cases.append(Case(kind, "", gamma, geometric_mean(speedups.values()), others, own))
    return cases


def by_prompt(rows: Sequence[SweepRow], replays: Replays) -> list[Case]:
    """Each prompt of the sweep at each draft length, from all other prompts of its workload."""
    return [
        Case(
            row.workload,
            row.preset,
            row.draft_length,
            row.speedup,
            [
                round
                for name, each in replays[row.workload].items()
                if name != row.preset
                for round in each[row.draft_length]
            ],
            replays[row.workload][row.preset][row.draft_length],
        )
        for row in rows
    ]


def predicted(rounds: Sequence[Round], gamma: int, calibration: Calibration) -> dict[str, float]:
    """Speedup from these rounds' acceptance, by one α and by position, at the calibration's costs."""
    steps = round_steps(gamma, calibration.cost_ratio, calibration.verification, calibration.overhead)
    alpha = count(rounds).per_judgement_rate
    assert alpha is not None
    return {
        "one_alpha": expected_tokens(alpha, gamma) / steps,
        "by_position": expected_tokens_by_position(position_rates(rounds, gamma)) / steps,
    }


def position_rates(rounds: Sequence[Round], gamma: int) -> list[float]:
    """Accepted / judged at each position, up to the last position that was ever judged."""
    rates = []
    for position in range(gamma):
        accepted = sum(round.accepted > position for round in rounds)
        judged = sum(round.accepted + round.rejected > position for round in rounds)
        if not judged:
            break
        rates.append(accepted / judged)
    return rates


def prediction(cases: Sequence[Case], calibration: Calibration) -> dict[str, Any]:
    """The errors of the predictions: how much is due to the other prompts' acceptance and how much to the costs."""
    found = [(case, errors(case, calibration)) for case in cases]
    return {
        "median_relative_error": middle_of(each for _, each in found),
        "by_workload": {kind: spread(each for case, each in found if case.workload == kind) for kind in KINDS},
        "by_draft_length": {g: spread(each for case, each in found if case.draft_length == g) for g in GAMMAS},
        "cells": [as_row(case, calibration) for case in cases],
    }


def as_row(case: Case, calibration: Calibration) -> dict[str, Any]:
    """One prediction and the measured value."""
    ways = predicted(case.others, case.draft_length, calibration)
    return {
        "of": case.prompt or case.workload,
        "draft_length": case.draft_length,
        "measured": round(case.measured, 3),
        **{f"predicted_{way}": round(value, 3) for way, value in ways.items()},
    }


def errors(case: Case, calibration: Calibration) -> dict[str, float]:
    """Predicted / measured - 1, by way of predicting. Above 0, the prediction was too high.

    "others": acceptance of other prompts. "own": acceptance of the measured prompts, so only costs and noise can be
    wrong.
    """
    sources = {"others": case.others, "own": case.own}
    return {
        f"{source}_{way}": value / case.measured - 1
        for source, rounds in sources.items()
        for way, value in predicted(rounds, case.draft_length, calibration).items()
    }


def middle_of(found: Iterable[dict[str, float]]) -> dict[str, float]:
    """Median size of the error, by way."""
    return {way: round(median(map(abs, values)), 4) for way, values in by_way(found).items()}


def spread(found: Iterable[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Median size of the error, and the median with its sign, by way."""
    return {
        way: {"median": round(median(map(abs, values)), 4), "signed": round(median(values), 4)}
        for way, values in by_way(found).items()
    }


def by_way(found: Iterable[dict[str, float]]) -> dict[str, list[float]]:
    every = list(found)
    return {way: [each[way] for each in every] for way in every[0]}


def costs_over_calibrated(rows: Sequence[SweepRow], calibration: Calibration) -> dict[int, dict[str, float]]:
    """By draft length: the costs of a step, c, v(γ+1) and a whole round in the sweep, over the calibrated ones."""
    return {
        gamma: costs_ratio([row for row in rows if row.draft_length == gamma], gamma, calibration) for gamma in GAMMAS
    }


def costs_ratio(rows: Sequence[SweepRow], gamma: int, calibration: Calibration) -> dict[str, float]:
    """Medians over rows. The unit of a row's times is the mean step of its own plain run, as in its speedup."""
    steps = [row.autoregressive_seconds / row.plain_tokens for row in rows]
    draft = median(row.draft_seconds / row.drafted / step for row, step in zip(rows, steps, strict=True))
    verify = median(row.verify_seconds / row.rounds / step for row, step in zip(rows, steps, strict=True))
    whole = median(row.speculative_seconds / row.rounds / step for row, step in zip(rows, steps, strict=True))
    costs = calibration.cost_ratio, calibration.verification, calibration.overhead
    return {
        "step": round(median(steps) / calibration.step_seconds, 3),
        "c": round(draft / calibration.cost_ratio, 3),
        "v": round(verify / calibration.verification[gamma + 1], 3),
        "round": round(whole / round_steps(gamma, *costs), 3),
    }


def plain_noise(rows: Sequence[SweepRow]) -> float:
    """Median difference of two plain runs of the same prompt within minutes: no prediction can do better."""
    seconds: dict[str, set[float]] = {}
    for row in rows:
        seconds.setdefault(row.preset, set()).add(row.autoregressive_seconds)
    return median(max(each) / min(each) - 1 for each in seconds.values())


if __name__ == "__main__":
    main()
