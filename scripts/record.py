"""Record what the app shows before anything is measured: python -m scripts.record NAME ...

The names are those of `RECORDS` at the end; the files go to assets/traces, the story's figures to assets/measured. What
is timed is recorded on a machine that does nothing else; on another one nothing is stored. Runs are searched among the
app's prompts for what they must show (`scripts/wanted_runs.py`), so that they are found again after the models change.
"""

import argparse
import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import islice, product
from math import log
from pathlib import Path
from statistics import geometric_mean, median
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import torch

from benchmarks.quiet import in_turns, quiet_machine
from scripts.wanted_runs import METHOD_RUNS, RECORDED_RUNS, RecordedRun, per_call, presets
from specviz import DecodeSettings, ModelDrafter, PromptLookupDrafter, load_model, speculative_decode
from specviz.cli.main import main as specviz
from specviz.core.files import ASSETS, MEASURED
from specviz.core.metrics import count, repetition, speedup
from specviz.core.replay import dump_draft_guesses
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, RunRequest
from specviz.core.steps import result_of
from specviz.core.trace import Candidate, DraftedToken, EmittedToken, Trace, dump_trace
from specviz.data.lessons.recorded_runs import Figures, Overlap, SweptSpeedup
from specviz.data.lessons.story import tour_of
from specviz.data.measured.first_run import FIRST, FIRST_GUESSES
from specviz.data.prompts.workloads import DEFAULT_PRESET, STORY, WORKLOADS, Preset, find_preset
from specviz.decoding import make_drafter
from specviz.game.game import GameRequest, dump_turn
from specviz.measure.compare import run_both
from specviz.measure.proof.draws import Draws, draw_batches, greedy_row
from specviz.measure.proof.findings import finding
from specviz.measure.proof.rows import (
    BATCHES,
    PATH,
    RULES,
    GreedyRow,
    RecordedDraws,
    RecordedProof,
    dump_proof,
)
from specviz.measure.race import RacePrompt, dump_race
from specviz.measure.sweep.study import impossible
from specviz.models.cached_model import CachedModel
from specviz.models.catalogue import MODELS_FOLDER, weights_hash
from specviz.models.devices import describe_machine
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import shared_vocabulary
from specviz.service.handlers import job_steps
from specviz.service.protocol import JobCommand, JobItem, Play, Race
from specviz.service.workshop import Workshop

TRACES = ASSETS / "traces"
TARGET = "wren-base"
REPEATS = 5  # timings of each run; the median one is recorded
SAVED_CANDIDATES = 4  # per position: those that the stage draws, and one more
loaded = cache(load_model)

# ---- shared


def median_run(make: Callable[[], Trace]) -> Trace:
    """Of some runs the one with the median speedup."""
    runs = [make() for _ in range(REPEATS)]
    return sorted(runs, key=lambda run: speedup(run) or 0.0)[(len(runs) - 1) // 2]


def timed(target: str, runs: Mapping[str, Callable[[], Trace]]) -> dict[str, Trace]:
    """These runs on a quiet machine."""
    with quiet_machine(target) as quiet:
        found = {name: make() for name, make in runs.items()}
        plain = [run.autoregressive for run in found.values() if run.target.name == target]
        quiet.add_steps(step for each in plain if each for step in each.seconds_per_token)
    return found


def store(runs: Mapping[str, Trace]) -> None:
    for name, run in runs.items():
        (TRACES / f"{name}.json").write_text(dump_trace(slim(run)), encoding="utf-8")
        print(f"{name}: {run.prompt.text[:40]!r}, {speedup(run) or 0:.2f} times", file=sys.stderr)


def slim(trace: Trace) -> Trace:
    """The run with fewer candidates per position and six digits of each chance, for a small file."""

    def slim_token(token: DraftedToken) -> DraftedToken:
        return replace(token, candidates=[] if token.status == "discarded" else _few(token.candidates, token.id))

    def slim_emitted(emitted: EmittedToken) -> EmittedToken:
        top = sorted(emitted.residual_top, key=lambda c: -c.r)[:SAVED_CANDIDATES]
        rounded = [c._replace(r=round(c.r, 6)) for c in top]
        return replace(emitted, candidates=_few(emitted.candidates, emitted.id), residual_top=rounded)

    rounds = [
        replace(each, drafted=[*map(slim_token, each.drafted)], emitted=slim_emitted(each.emitted))
        for each in trace.rounds
    ]
    return replace(trace, rounds=rounds)


def _few(candidates: Sequence[Candidate], own: int | None) -> list[Candidate]:
    """The token itself, both models' most probable tokens, then the next ones."""
    if not candidates:
        return []
    ranked = sorted(candidates, key=lambda c: (c.id != own, -max(c.p, c.q or 0.0)))
    favourites = [max(candidates, key=lambda c: c.p), max(candidates, key=lambda c: c.q or 0.0)]
    wanted = list(dict.fromkeys([*ranked[:1], *favourites, *ranked]))[:SAVED_CANDIDATES]
    return [c._replace(p=round(c.p, 6), q=None if c.q is None else round(c.q, 6)) for c in wanted]


# ---- the runs of the story

DRAFTS = ("wren-nano", "wren-mini", "wren-small")
DRAFT_LENGTHS = (1, 2, 4, 8, 16)
TEMPERATURES = (0.0, 0.6, 1.0)
FIGURE_REPEATS = 2  # of each prompt of a figure, each with a seed of its own


def record_story() -> None:
    """Runs with certain properties: a round that accepts some tokens and rejects one, a run that loses, ..."""
    store(timed(TARGET, {f"story-{name}": partial(choose, name, wanted) for name, wanted in RECORDED_RUNS.items()}))
    record_figures()


def choose(name: str, wanted: RecordedRun) -> Trace:
    """The fitting run with the best score; the search stops after enough fitting ones."""
    made = (
        median_run(partial(run_both, loaded(target), ModelDrafter(loaded(draft)), preset.text, settings))
        for target, draft, preset, settings in wanted.tried
    )
    best = max(islice(filter(wanted.fits, made), wanted.enough), key=wanted.score, default=None)
    if best is None:
        sys.exit(f"No recorded run is {wanted.wanted}: widen the search for {name!r}.")
    return best


def record_figures() -> None:
    """The figures behind the story's texts: draft length, draft, temperature, and overlap of p and q."""
    base = DecodeSettings(max_new_tokens=64, draft_length=4, stop_at_eos=False)
    lengths = [("wren-nano", replace(base, draft_length=length)) for length in DRAFT_LENGTHS]
    drafts = [(draft, base) for draft in DRAFTS]
    temperatures = [("wren-nano", replace(base, temperature=value)) for value in TEMPERATURES]
    tried = {
        name: [
            per_call(speculative_decode(loaded(target), ModelDrafter(loaded(draft)), preset.text, settings))
            for target, draft, preset, settings in wanted.tried
        ]
        for name, wanted in RECORDED_RUNS.items()
    }
    with quiet_machine():
        rows = measured(dict.fromkeys([*lengths, *drafts, *temperatures]))
    figures = Figures(
        describe_machine().machine,
        [rows[each] for each in lengths],
        [rows[each] for each in drafts],
        [rows[each] for each in temperatures],
        overlap(),
        {name: len(calls) for name, calls in tried.items()},
        {name: sorted(round(each, 3) for each in calls) for name, calls in tried.items()},
    )
    (MEASURED / "story.json").write_text(json.dumps(asdict(figures), indent=2) + "\n", encoding="utf-8")


Swept = tuple[str, DecodeSettings]  # a draft, and how it is used


def measured(wanted: Collection[Swept]) -> dict[Swept, SweptSpeedup]:
    """All settings on all story prompts. Repeats are outermost, so that a slow minute slows every setting alike."""
    target, drafters = loaded(TARGET), {name: ModelDrafter(loaded(name)) for name in DRAFTS}
    runs: dict[Swept, dict[Preset, list[Trace]]] = {each: {} for each in wanted}
    for seed, preset, (draft, settings) in product(range(FIGURE_REPEATS), STORY.all_prompts, wanted):
        trace = in_turns(target, drafters[draft], preset.text, replace(settings, seed=seed))
        runs[draft, settings].setdefault(preset, []).append(trace)
    found = {}
    for (draft, settings), by_prompt in runs.items():
        counts = count([round for its in by_prompt.values() for run in its for round in run.rounds])
        found[draft, settings] = SweptSpeedup(
            target=TARGET,
            draft=draft,
            draft_length=settings.draft_length,
            temperature=settings.temperature,
            **{name: getattr(counts, name) for name in ("rounds", "emitted", "drafted", "accepted", "rejected")},
            speedups=[round(geometric_mean(speedup(run) or 0.0 for run in its), 4) for its in by_prompt.values()],
        )
    return found


@torch.inference_mode()
def overlap() -> Overlap:
    """Three chances of acceptance at temperature 1, as means over the story prompts' own tokens."""
    target, draft = loaded(TARGET), loaded("wren-nano")
    size = shared_vocabulary(target, draft)

    def expected(model: LoadedModel) -> torch.Tensor:
        each = (CachedModel(model, size).read(model.tokenizer(one.text)["input_ids"]) for one in presets("story"))
        return torch.cat([logits.softmax(-1) for logits in each])

    p, q = expected(target), expected(draft)
    means = ((p * q).sum(-1), torch.minimum(p, q).sum(-1), p.gather(1, q.argmax(-1, keepdim=True)))
    product_, minimum, most_likely = (round(float(each.mean()), 4) for each in means)
    return Overlap(len(p), product_, minimum, most_likely)


# ---- one run of each drafting method, all on one prompt; two of a chat model


def record_methods() -> None:
    """On the first prompt on which every run shows what it must. So the greedy ones write the same text."""
    target = loaded(TARGET)
    drafters = {name: make_drafter(run.draft, target, run.settings) for name, run in METHOD_RUNS.items()}
    for preset in presets("code", "story", "structured", "boilerplate", "copy", "prose"):
        makers: dict[str, Callable[[], Trace]] = {}
        for name, run in METHOD_RUNS.items():
            seeds = (replace(run.settings, seed=seed) for seed in range(1 if run.settings.greedy else 6))
            each = (partial(in_turns, target, drafters[name], preset.text, settings) for settings in seeds)
            if maker := next((make for make in each if run.fits(make())), None):
                makers[name] = partial(median_run, maker)
        if len(makers) == len(METHOD_RUNS):
            return store(timed(TARGET, makers))
    sys.exit("No prompt has a run of every method that shows what it must.")


def record_chat() -> None:
    """A chat that repeats its prompt and one that does not, by prompt lookup: of each kind the prompt with the middle
    count of tokens per target call, so that no lucky one is shown. It needs smollm2."""
    target, drafter = loaded(SMOLLM2), PromptLookupDrafter()
    settings = DecodeSettings(max_new_tokens=64, draft_length=4, prompt_format="chat")

    def middle(kind: str) -> Preset:
        calls = {each: per_call(speculative_decode(target, drafter, each.text, settings)) for each in presets(kind)}
        return sorted(calls, key=calls.__getitem__)[(len(calls) - 1) // 2]

    kinds = {"chat-edit": "correct", "chat-story": "stories"}
    makers = {name: partial(in_turns, target, drafter, middle(kind).text, settings) for name, kind in kinds.items()}
    store(timed(SMOLLM2, {name: partial(median_run, make) for name, make in makers.items()}))


# ---- the run of the first screen


def record_first() -> None:
    """Candidates are the stories with each small draft, greedy, at the default settings: the first round accepts, the
    tour finds what it shows, and the text is no loop. Of these the one whose tokens per target call are closest to the
    median of its pair over all ten stories: chosen by what it shows, and not for a high speedup."""
    target, candidates = loaded(TARGET), list[tuple[float, str, Preset]]()
    for draft in ("wren-nano", "wren-mini"):
        drafter = ModelDrafter(loaded(draft))
        runs = {preset: speculative_decode(target, drafter, preset.text) for preset in STORY.all_prompts}
        typical = median(map(per_call, runs.values()))
        for preset, run in runs.items():
            loops = (repetition(run.output.token_ids) or 0.0) >= 0.25
            if preset in STORY.prompts and run.rounds[0].accepted > 0 and tour_of(run) is not None and not loops:
                candidates.append((abs(log(per_call(run) / typical)), draft, preset))
    _, draft, preset = min(candidates, key=lambda candidate: candidate[0])
    drafter = ModelDrafter(loaded(draft))
    make = partial(run_both, target, drafter, preset.text, DecodeSettings())
    trace = timed(TARGET, {"first": partial(median_run, make)})["first"]
    guesses = result_of(drafter.guess_along(target, trace.prompt.token_ids, trace.output.token_ids))
    assert guesses is not None
    FIRST.write_text(dump_trace(trace) + "\n", encoding="utf-8")
    FIRST_GUESSES.write_text(dump_draft_guesses(guesses) + "\n", encoding="utf-8")


# ---- what the engine does for a visitor: a race, a turn of the game


def record_race() -> None:
    """On a few prompts of different kinds; speculation should lose on the last one."""
    names = ("story-1", "code-2", "structured-1", "random-1")
    prompts = [RacePrompt(name, preset.text) for name in names if (preset := find_preset(name))]
    request = RunRequest("", settings=DecodeSettings(stop_at_eos=False))
    with quiet_machine():
        laps = list(items(Race(1, request, prompts, REPEATS)))
    (TRACES / "race.json").write_text(dump_race(laps) + "\n", encoding="utf-8")


def record_play() -> None:
    """The example turn that "Be the draft" shows first; its first tokens are accepted."""
    prompt = "It was a hot day. Tim and his dog went to the beach. They built a big"
    guess = "sandbox by the sea"
    [turn] = items(Play(1, RunRequest(prompt), GameRequest("guess", guess=guess)))
    saved = {"schema": 1, "prompt": prompt, "guess": guess, "turn": dump_turn(turn)}
    (TRACES / "play.json").write_text(json.dumps(saved, ensure_ascii=False) + "\n", encoding="utf-8")


def items(command: JobCommand) -> Iterable[Any]:
    return (event.item for event in job_steps(Workshop(), command) if isinstance(event, JobItem))


# ---- what "Same quality" shows

PROOF = DecodeSettings(max_new_tokens=64, temperature=1.0)
DRAWS, MANY_DRAWS = 2_000, 10_000  # of a wrong rule, for which few are enough, and of a correct one


def record_proof() -> None:
    """The draws of every rule, a greedy comparison, a run whose cache forgets a row, and the first near-tie."""
    target, draft = loaded(DEFAULT_TARGET), loaded(DEFAULT_DRAFT)
    forgotten = compared(target, draft, DEFAULT_PRESET, forgets=True)
    if forgotten.judged is None or forgotten.judged.state != "fails":
        sys.exit("The forgotten row was not called wrong: record it with another prompt.")
    recorded = []
    for rule in RULES:  # at the position where a wrong one shows
        draws = Draws(target, draft, DEFAULT_PRESET.text, PROOF, rule.name, rule.position)
        each = (MANY_DRAWS if rule.lossless else DRAWS) // BATCHES
        batches = [b for b in draw_batches(draws, PROOF.seed, each, range(BATCHES)) if b]
        if (finding(batches).state == "passes") != rule.lossless:
            sys.exit(f"{rule.name} gave the wrong result: record it with more draws or another prompt.")
        recorded.append(RecordedDraws(rule.name, rule.position, batches))
    proof = RecordedProof(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=describe_machine().machine,
        weights={name: weights_hash(MODELS_FOLDER / name) for name in (DEFAULT_TARGET, DEFAULT_DRAFT)},
        request=RunRequest(DEFAULT_PRESET.text, settings=PROOF),
        draws=recorded,
        enumerated=Draws(target, draft, DEFAULT_PRESET.text, PROOF, "lossless", "first").enumerate_rules(PROOF.seed),
        greedy=[compared(target, draft, workload.prompts[0]) for workload in WORKLOADS],
        near_tie=find_near_tie(target, draft),
        forgotten_row=forgotten,
    )
    PATH.write_bytes(dump_proof(proof))


def compared(
    target: LoadedModel, draft: LoadedModel, preset: Preset, settings: DecodeSettings = PROOF, *, forgets: bool = False
) -> GreedyRow:
    """A prompt's greedy comparison; the target in float32 judges it."""
    exact = loaded(DEFAULT_TARGET)
    rows = greedy_row(target, draft, preset.text, settings, exact, preset.name, forgets=forgets)
    return next(row for row in rows if row)


def find_near_tie(target: LoadedModel, draft: LoadedModel) -> GreedyRow:
    """The first prompt and draft length at which rounding makes the target in bfloat16 choose another token."""
    half = load_model(target.name, "bfloat16")
    for length, workload in product((4, 2, 8), WORKLOADS):
        for preset in workload.prompts:
            row = compared(half, draft, preset, replace(PROOF, draft_length=length))
            if row.near_tie:
                return row
    sys.exit("No near-tie was found in bfloat16: search with more prompts or draft lengths.")


# ---- the sweep that "When it helps" shows

SWEEP = ["sweep", "--target", TARGET, "--prompts", "10", "--max-new-tokens", "64"]
SWEPT_DRAFTS = [argument for draft in ("wren-nano", "wren-mini", "prompt-lookup") for argument in ("--draft", draft)]
GREEDY = ["--draft-lengths", "1,2,4,6,8", "--schedules", "fixed,heuristic,confidence", "--constrained"]
SAMPLED = ["--draft-lengths", "1,2,4,8", "--temperatures", "1"]


def record_sweep() -> None:
    """All workloads, greedy and at temperature 1; on a busy machine, or with a pair that is faster than possible,
    nothing is stored."""
    with TemporaryDirectory() as folder, quiet_machine(TARGET) as quiet:
        file = Path(folder, "sweep.csv")
        asked = [*SWEEP, *SWEPT_DRAFTS, "--csv", str(file)]
        if specviz([*asked, *GREEDY]) or specviz([*asked, *SAMPLED]):
            return
        rows, measured = pd.read_csv(file), file.read_bytes()
        quiet.add_steps(rows.autoregressive_seconds / rows.plain_tokens)
    if impossible(rows).any():
        sys.exit("Not stored: some pairs are faster than possible. Measure again when the machine does nothing else.")
    (TRACES / "sweep.csv").write_bytes(measured)


RECORDS = {
    each.__name__.removeprefix("record_"): each
    for each in (record_first, record_story, record_figures, record_methods, record_chat, record_race, record_play)
} | {"proof": record_proof, "sweep": record_sweep}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=RECORDS)
    torch.set_num_threads(1)  # as in the engine
    for name in parser.parse_args().names:
        RECORDS[name]()


if __name__ == "__main__":
    main()
