"""Record the runs and figures that the Learn page shows: python -m scripts.record_story [FOLDER] [--figures]

The story needs runs with certain properties (a round that accepts some tokens and rejects one, a run that loses, ...).
This script searches for them among the presets, so that it finds them again after the bundled models change. It writes
traces/story-*.json and measured/story.json to FOLDER (assets); with --figures only the second. Run it on a machine that
does nothing else. With --counts it only counts the tokens per target call of the tried runs again, on any machine.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import torch

from benchmarks.quiet import quiet_machine
from scripts.wanted_runs import RECORDED_RUNS
from specviz import DecodeSettings, ModelDrafter, load_model, speculative_decode
from specviz.core.metrics import count, speedup
from specviz.core.trace import Candidate, DraftedToken, EmittedToken, Round, Trace, dump_trace
from specviz.data.lessons.recorded_runs import Figures, Overlap, SweptSpeedup
from specviz.data.prompts.workloads import STORY, Preset, find_workload
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, alternate
from specviz.measure.compare import run_both
from specviz.models.cached_model import CachedModel
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import shared_vocabulary

ROOT = Path(__file__).resolve().parents[1]
SAVED_CANDIDATES = 4  # per position: those that the stage draws, and one more
TARGET = "wren-base"
TOKENS = 40
REPEATS = 5  # timings of each run; the median one counts
FIGURE_REPEATS = 2  # of each prompt of a figure, each with a seed of its own
DRAFT_LENGTHS = (1, 2, 4, 8, 16)
DRAFTS = ("wren-nano", "wren-mini", "wren-small")
TEMPERATURES = (0.0, 0.6, 1.0)

Recorder = Callable[[str, str, Preset, DecodeSettings], Trace]


def main() -> None:
    """Search, record, write."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "assets")
    parser.add_argument("--figures", action="store_true", help="measure the figures only")
    parser.add_argument("--counts", action="store_true", help="count again what is not timed, in the figures of FOLDER")
    options = parser.parse_args()
    if options.counts:
        path = options.folder / "measured" / "story.json"
        write_figures(
            json.loads(path.read_text(encoding="utf-8")) | {"tried_per_call": tried_per_call()}, options.folder
        )
        return
    with quiet_machine() as quiet:
        runs = {} if options.figures else chosen_runs()
        quiet.add_steps(step for run in runs.values() if run.target.name == TARGET for step in plain_steps(run))
        figures = measure()
    for name, run in runs.items():
        (options.folder / "traces" / f"story-{name}.json").write_text(dump_trace(slim(run)), encoding="utf-8")
    write_figures(asdict(figures), options.folder)


def write_figures(figures: Mapping[str, Any], folder: Path) -> None:
    """Of the story, as JSON."""
    (folder / "measured").mkdir(exist_ok=True)
    (folder / "measured" / "story.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def tried_per_call() -> dict[str, list[float]]:
    """Tokens per target call of each run that is tried for a recorded one, in order."""
    loaded = cache(load_model)

    def counted(target: str, draft: str, preset: Preset, settings: DecodeSettings) -> float:
        run = speculative_decode(loaded(target), ModelDrafter(loaded(draft)), preset.text, settings)
        return round(count(run.rounds).tokens_per_target_call or 0.0, 3)

    return {name: sorted(counted(*each) for each in found) for name, found in searches().items()}


def chosen_runs() -> dict[str, Trace]:
    """The runs that the story shows, by name."""
    record, runs = recorder(), dict[str, Trace]()
    for name, candidates in searches().items():
        runs[name] = best = choose(name, (record(*candidate) for candidate in candidates))
        print(f"{name}: {best.prompt.text[:40]!r}, {speedup(best) or 0:.2f} times", file=sys.stderr)
    return runs


def plain_steps(run: Trace) -> list[float | None]:
    """The seconds of the steps of the target alone."""
    return list(run.autoregressive.seconds_per_token) if run.autoregressive else []


def recorder() -> Recorder:
    """Runs both decoders with models loaded once."""
    models: dict[str, LoadedModel] = {}

    def loaded(name: str) -> LoadedModel:
        return models.setdefault(name, models.get(name) or load_model(name))

    def record(target: str, draft: str, preset: Preset, settings: DecodeSettings) -> Trace:
        drafter = ModelDrafter(loaded(draft))
        return median_run([run_both(loaded(target), drafter, preset.text, settings) for _ in range(REPEATS)])

    return record


def median_run(runs: Sequence[Trace]) -> Trace:
    """The run with the median speedup; the slower of the middle two where their number is even."""
    return sorted(runs, key=lambda run: speedup(run) or 0.0)[(len(runs) - 1) // 2]


def searches() -> dict[str, list[tuple[str, str, Preset, DecodeSettings]]]:
    """What to try for each trace, the most promising first."""
    greedy = DecodeSettings(max_new_tokens=TOKENS, draft_length=4)
    long, sampled = replace(greedy, draft_length=8, max_new_tokens=24), replace(greedy, temperature=1.0)
    seeds = [replace(sampled, seed=seed) for seed in range(4)]
    nano = ("wren-base", "wren-nano")
    return {
        "round": [(*nano, preset, greedy) for preset in presets("story", "code", "structured")],
        "pays": [(*nano, preset, greedy) for preset in presets("structured", "code", "boilerplate", "copy")],
        "no-gain": [(*nano, preset, long) for preset in presets("random", "prose")],
        "costly": [("wren-mini", "wren-small", preset, greedy) for preset in presets("story", "copy")],
        "sampled": [(*nano, preset, one) for preset, one in product(presets("story"), seeds)],
    }


def presets(*workloads: str) -> Iterator[Preset]:
    """The prompts of these workloads, in order."""
    for name in workloads:
        workload = find_workload(name)
        assert workload is not None
        yield from workload.prompts


def choose(name: str, traces: Iterator[Trace]) -> Trace:
    """The fitting trace with the best score; the search stops after enough fitting ones."""
    wanted = RECORDED_RUNS[name]
    fitting = (trace for trace in traces if wanted.fits(trace))
    best = max(islice(fitting, wanted.enough), key=wanted.score, default=None)
    if best is None:
        sys.exit(f"No recorded run is {wanted.wanted}: widen the search for {name!r} in scripts/record_story.py.")
    return best


def slim(trace: Trace) -> Trace:
    """The run with fewer candidates per position, for a small file."""
    return replace(trace, rounds=[_slim_round(round) for round in trace.rounds])


def _slim_round(round: Round) -> Round:
    emitted = replace(
        round.emitted,
        candidates=_few(round.emitted.candidates, round.emitted.id),
        residual_top=sorted(round.emitted.residual_top, key=lambda c: -c.r)[:SAVED_CANDIDATES],
    )
    return replace(round, drafted=[_slim_token(token) for token in round.drafted], emitted=_rounded(emitted))


def _slim_token(token: DraftedToken) -> DraftedToken:
    few = [] if token.status == "discarded" else _few(token.candidates, token.id)
    return replace(token, candidates=few)


def _rounded(emitted: EmittedToken) -> EmittedToken:
    return replace(emitted, residual_top=[c._replace(r=round(c.r, 6)) for c in emitted.residual_top])


def _few(candidates: Sequence[Candidate], own: int | None) -> list[Candidate]:
    """The token itself, both models' most probable tokens, then the next ones; six digits are enough to draw."""
    if not candidates:
        return []
    ranked = sorted(candidates, key=lambda c: (c.id != own, -max(c.p, c.q or 0.0)))
    favourites = [max(candidates, key=lambda c: c.p), max(candidates, key=lambda c: c.q or 0.0)]
    wanted = list(dict.fromkeys([*ranked[:1], *favourites, *ranked]))[:SAVED_CANDIDATES]
    return [c._replace(p=round(c.p, 6), q=None if c.q is None else round(c.q, 6)) for c in wanted]


def measure() -> Figures:
    """The figures behind the texts: draft length, draft, temperature, and overlap of p and q."""
    base = DecodeSettings(max_new_tokens=64, draft_length=4, stop_at_eos=False)
    lengths = [("wren-nano", replace(base, draft_length=length)) for length in DRAFT_LENGTHS]
    drafts = [(draft, base) for draft in DRAFTS]
    temperatures = [("wren-nano", replace(base, temperature=value)) for value in TEMPERATURES]
    wanted = [*lengths, *drafts, *temperatures]
    measured = dict(zip(dict.fromkeys(wanted), _rows_of(list(dict.fromkeys(wanted))), strict=True))
    rows = iter([measured[one] for one in wanted])
    return Figures(
        describe_machine().machine,
        list(islice(rows, len(lengths))),
        list(islice(rows, len(drafts))),
        list(rows),
        overlap(),
        {name: len(found) for name, found in searches().items()},
        tried_per_call(),
    )


def _rows_of(settings: Sequence[tuple[str, DecodeSettings]]) -> list[SweptSpeedup]:
    """All settings on all story prompts. Repeats are outermost, so that a slow minute slows every setting alike."""
    target, drafters = load_model("wren-base"), {name: ModelDrafter(load_model(name)) for name in DRAFTS}
    runs: dict[tuple[int, str], list[Trace]] = {}
    for seed, preset, (place, (draft, one)) in product(range(FIGURE_REPEATS), STORY.all_prompts, enumerate(settings)):
        trace = in_turns(target, drafters[draft], preset, replace(one, seed=seed))
        runs.setdefault((place, preset.name), []).append(trace)
        print(f"repeat {seed + 1}, {preset.name}, {draft}: {speedup(trace) or 0:.2f}", file=sys.stderr)
    return [
        _row(draft, one, [runs[place, preset.name] for preset in STORY.all_prompts])
        for place, (draft, one) in enumerate(settings)
    ]


def in_turns(target: LoadedModel, drafter: Drafter, preset: Preset, settings: DecodeSettings) -> Trace:
    """Both decoders in turns, so that a busy moment slows both."""
    speculative = SpeculativeRun(target, drafter, preset.text, settings)
    plain = AutoregressiveRun(target, speculative.setup.prompt.token_ids, settings)
    for _ in alternate(speculative, plain):
        pass
    return replace(speculative.trace(), autoregressive=plain.trace().autoregressive)


def _row(draft: str, settings: DecodeSettings, by_prompt: Sequence[Sequence[Trace]]) -> SweptSpeedup:
    """The counts of all runs together, and the speedup of each prompt."""
    counts = count([round for runs in by_prompt for run in runs for round in run.rounds])
    return SweptSpeedup(
        target="wren-base",
        draft=draft,
        draft_length=settings.draft_length,
        temperature=settings.temperature,
        rounds=counts.rounds,
        emitted=counts.emitted,
        drafted=counts.drafted,
        accepted=counts.accepted,
        rejected=counts.rejected,
        speedups=[round(geometric_mean(speedup(run) or 0.0 for run in runs), 4) for runs in by_prompt],
    )


@torch.inference_mode()
def overlap() -> Overlap:
    """Three chances of acceptance at temperature 1, as means over the story prompts' own tokens."""
    target, draft = load_model("wren-base"), load_model("wren-nano")
    size = shared_vocabulary(target, draft)
    p, q = (
        torch.cat([_probabilities(model, size, preset) for preset in presets("story")]) for model in (target, draft)
    )
    means = [
        (p * q).sum(-1).mean(),
        torch.minimum(p, q).sum(-1).mean(),
        p.gather(1, q.argmax(-1, keepdim=True)).mean(),
    ]
    products, minimum, most_likely = (round(float(mean), 4) for mean in means)
    return Overlap(len(p), products, minimum, most_likely)


def _probabilities(model: LoadedModel, size: int, preset: Preset) -> torch.Tensor:
    ids = model.tokenizer(preset.text)["input_ids"]
    return CachedModel(model, size).read(ids).softmax(-1)


if __name__ == "__main__":
    main()
