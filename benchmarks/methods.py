"""All drafting methods on the same prompts: what a draft costs, how much of it is accepted, and what is gained.

    python -m benchmarks.methods CORPUS [--out benchmarks/results/methods.json] [--methods NAME ...] [--prompts 6]
        [--repeats 3] [--temperatures 0 1]

CORPUS is the folder that the bundled models were trained on. Its last documents were held out. Their beginnings are
prompts here, together with the app's workloads. The first stage of wren-base's training held out other documents and
read most of these. No later stage did, but every model here comes from that stage, so the figures look better than they
are.

Every method runs at several settings. A prompt's speedup is the median of ratios: the target alone and every setting
run in turn, decoding only, one torch thread, always to the full length. The best of several settings on the prompts
that it is reported for would flatter, so each prompt counts at the setting that did best on the others of its kind; the
speedup is the geometric mean over prompts, with its 95 % interval. Costs are in steps of the target alone that ran in
the same turn. A draft step is one guess; with Medusa all guesses of a round share one pass, and in a tree a step makes
all guesses of a depth. Above temperature 0 each turn has a seed of its own.

The page When it helps, docs/measurements.md and the cards of the heads (python -m scripts.write) read
the file. A run with the default options takes a little over an hour.
"""

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, geometric_mean, median
from typing import Any

import torch

from benchmarks.held_out import find_prompts
from benchmarks.quiet import quiet_machine
from benchmarks.timing import asked, chosen_on_others, report
from specviz import DecodeSettings, autoregressive_decode, load_model, speculative_decode
from specviz.core.intervals import interval_of_ratios
from specviz.core.metrics import count, count_by_position
from specviz.core.rounds import known_seconds
from specviz.core.trace import Round
from specviz.data.measured.measured_methods import (
    ALL,
    ARGMAX,
    BLOCK,
    TREE,
    BestSetting,
    KindFigures,
    MeasuredMethod,
    MeasuredMethods,
    MethodSetting,
    Quiet,
    RoundCosts,
    SettingFigures,
    TemperatureFigures,
)
from specviz.decoding import Drafter, make_drafter
from specviz.models.catalogue import MODELS_FOLDER
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel

TARGET = "wren-base"
LENGTHS = (2, 3, 4, 6)
SHAPES = (("2,2", 2), ("4,2,1", 3), ("dynamic:6", 3), ("dynamic:10", 4))  # and their depths
METHODS = (
    *("wren-nano", "wren-mini", "wren-small", "wren-eagle", "wren-medusa", "prompt-lookup"),
    *("early-exit:2", "early-exit:4", "early-exit:6"),
    *(f"{drafter}{TREE}" for drafter in ("wren-nano", "wren-eagle", "wren-medusa")),
)
SAMPLED: dict[str, dict[str, Any]] = {ARGMAX: {"draft_sampling": "argmax"}, BLOCK: {"verification": "block"}}
ALSO_SAMPLED = tuple(f"{drafter}{how}" for drafter in ("wren-nano", "wren-eagle") for how in SAMPLED)
DIGITS = 3
WARM_UP_TOKENS = 8


def ways_of(method: str) -> list[MethodSetting]:
    """The settings that a method is measured at."""
    if method.endswith(TREE):
        return [MethodSetting(depth, shape) for shape, depth in SHAPES]
    how = next((changes for ending, changes in SAMPLED.items() if method.endswith(ending)), {})
    return [MethodSetting(length, **how) for length in LENGTHS]


@dataclass(slots=True)
class Runs:
    """What one setting did on one prompt."""

    rounds: list[Round] = field(default_factory=list)  # of all turns: their times
    counted: list[Round] = field(default_factory=list)  # without repeats of the same draws: their tokens
    ratios: list[float] = field(default_factory=list)  # plain seconds over speculative seconds, one a turn
    steps: list[float] = field(default_factory=list)  # seconds of a step of the target alone, one a turn

    @property
    def speedup(self) -> float:
        """The median turn's."""
        return median(self.ratios)


Prompts = Sequence[Sequence[Runs]]  # for each prompt every setting of one method


def main() -> None:
    given: dict[str, Any] = {"corpus": Path, "--methods": ([str], None), "--prompts": 6, "--tokens": 48, "--repeats": 3}
    options = asked(__doc__, given | {"--temperatures": ([float], [0.0, 1.0]), "--target-dtype": "float32"})
    if options.prompts < 2:
        raise SystemExit("--prompts must be at least 2: the setting of a prompt is chosen on the others.")
    torch.set_num_threads(1)
    target = load_model(TARGET, options.target_dtype)
    prompts = find_prompts(options.corpus, MODELS_FOLDER / TARGET, options.prompts)
    with quiet_machine(TARGET, options.target_dtype) as quiet:
        parts = [at_temperature(target, temperature, prompts, options) for temperature in options.temperatures]
        quiet.add_steps(part.target_step_ms / 1000 for part in parts)
    found = MeasuredMethods(
        schema=1,
        created=datetime.now(UTC).date().isoformat(),
        machine=describe_machine(),
        target=TARGET,
        target_dtype=options.target_dtype,
        prompts=options.prompts,
        tokens=options.tokens,
        repeats=options.repeats,
        temperatures=parts,
        quiet=Quiet(**quiet.said()),
    )
    report(asdict(found), options.out)


def at_temperature(
    target: LoadedModel, temperature: float, prompts: Mapping[str, list[list[int]]], options: Namespace
) -> TemperatureFigures:
    """Every method on every prompt."""
    methods = options.methods or (*METHODS, *(ALSO_SAMPLED if temperature else ()))
    drafters = {name: make_drafter(name.partition(" ")[0], target) for name in methods}
    ways = {name: ways_of(name) for name in methods}
    runs = {
        kind: [measure(target, drafters, ways, prompt, temperature, options) for prompt in texts]
        for kind, texts in prompts.items()
    }
    steps = [step for each in runs.values() for prompt in each for one in prompt[methods[0]] for step in one.steps]
    return TemperatureFigures(
        temperature,
        _rounded(1000 * median(steps)),
        [described(name, {kind: [prompt[name] for prompt in each] for kind, each in runs.items()}) for name in methods],
    )


def measure(
    target: LoadedModel,
    drafters: Mapping[str, Drafter],
    ways: Mapping[str, Sequence[MethodSetting]],
    prompt: str | Sequence[int],
    temperature: float,
    options: Namespace,
) -> dict[str, list[Runs]]:
    """Every setting of every method on one prompt, in turns after a short one to warm up."""
    runs = {name: [Runs() for _ in ways[name]] for name in drafters}
    for turn in range(options.repeats + 1):
        tokens = options.tokens if turn else WARM_UP_TOKENS
        base: dict[str, Any] = {"max_new_tokens": tokens, "temperature": temperature, "seed": turn}
        base["stop_at_eos"] = False
        plain = autoregressive_decode(target, prompt, DecodeSettings(**base)).autoregressive
        assert plain is not None
        for name, drafter in drafters.items():
            for way, found in zip(ways[name], runs[name], strict=True):
                settings = DecodeSettings(**base, **asdict(way))
                rounds = speculative_decode(target, drafter, prompt, settings, record=False).rounds
                if turn:
                    found.rounds += rounds
                    if temperature or turn == 1:  # greedy turns are all the same
                        found.counted += rounds
                    seconds = sum(known_seconds(round.seconds) for round in rounds)
                    found.ratios.append(sum(plain.seconds_per_token) / seconds)
                    found.steps.append(median(plain.seconds_per_token))
    return runs


def described(name: str, kinds: Mapping[str, Prompts]) -> MeasuredMethod:
    """One method on each kind of text and on all together, where each prompt has the setting chosen for its kind."""
    ways = ways_of(name)
    speedups = {kind: [[one.speedup for one in prompt] for prompt in its] for kind, its in kinds.items()}
    chosen = {kind: chosen_on_others(each) for kind, each in speedups.items()}
    every = [prompt for prompts in kinds.values() for prompt in prompts]
    all_chosen = [place for kind in kinds for place in chosen[kind]]
    found = {kind: on_kind(ways, prompts, chosen[kind]) for kind, prompts in kinds.items()}
    return MeasuredMethod(name, {ALL: on_kind(ways, every, all_chosen)} | found)


def on_kind(ways: Sequence[MethodSetting], prompts: Prompts, chosen: Sequence[int]) -> KindFigures:
    """These prompts at every setting, and at their chosen ones."""
    best = [prompt[number] for prompt, number in zip(prompts, chosen, strict=True)]
    speedups = [runs.speedup for runs in best]
    low, high = map(_rounded, interval_of_ratios(speedups))
    its_ways, each = [ways[number] for number in chosen], [_rounded(one) for one in speedups]
    return KindFigures(
        len(prompts),
        BestSetting(its_ways, costs(best), _rounded(geometric_mean(speedups)), low, high, each),
        [at_setting(way, [prompt[number] for prompt in prompts]) for number, way in enumerate(ways)],
    )


def at_setting(way: MethodSetting, runs: Sequence[Runs]) -> SettingFigures:
    """One setting over these prompts."""
    positions = count_by_position([round for one in runs for round in one.counted], way.draft_length)
    judged, accepted = [each.judged for each in positions], [each.accepted for each in positions]
    speedup = _rounded(geometric_mean(one.speedup for one in runs))
    return SettingFigures(way, costs(runs), judged, accepted, speedup)


def costs(runs: Sequence[Runs]) -> RoundCosts:
    """What these rounds gave and cost."""
    counts = count([round for one in runs for round in one.counted])
    drafting = [(round, median(one.steps)) for one in runs for round in one.rounds if round.drafted]
    drafted = [known_seconds(round.draft_seconds) / step for round, step in drafting]
    return RoundCosts(
        _rounded(counts.tokens_per_target_call or 0.0),
        _rounded(fmean(len(round.drafted) for round, _ in drafting)) if drafting else 0.0,
        _median(seconds / round.depth for seconds, (round, _) in zip(drafted, drafting, strict=True)),
        _median(drafted),
        _median(known_seconds(round.verify_seconds) / step for round, step in drafting),
        _median(known_seconds(round.overhead_seconds) / step for round, step in drafting),
    )


def _median(values: Iterable[float]) -> float | None:
    every = list(values)
    return _rounded(median(every)) if every else None


def _rounded(value: float) -> float:
    return round(value, DIGITS)


if __name__ == "__main__":
    main()
