"""Record the runs and figures that the Learn page shows: python -m scripts.record_story [FOLDER]

The story needs runs with certain properties (a round that accepts some tokens and rejects one, a run that loses, ...).
This script searches for them among the presets, so that it finds them again after the bundled models change. It writes
traces/story-*.json and story/figures.json to FOLDER (assets). Run it on a machine that does nothing else.

Each candidate is timed several times, and its median run is the one that is judged and saved. Among those that fit, the
best is chosen by counts (see `RECORDED_RUNS`), never by its speed: the fastest of many single timings would flatter.
The best and the worst run of the story are extremes on purpose, and the page must say so.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice, product
from pathlib import Path
from statistics import median

import torch

from specviz import DecodeSettings, ModelDrafter, load_model
from specviz.core.metrics import count, speedup
from specviz.core.trace import Candidate, DraftedToken, EmittedToken, Round, Trace, dump_trace
from specviz.data.lessons.recorded_runs import RECORDED_RUNS, Figures, Measured, Overlap
from specviz.data.workloads import Preset, find_workload
from specviz.measure.compare import run_both
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.machine import describe_machine
from specviz.models.pairing import shared_vocabulary

ROOT = Path(__file__).resolve().parents[1]
SAVED_CANDIDATES = 4  # per position: those that the stage draws, and one more
TOKENS = 40
REPEATS = 5  # timings of each run; the median one counts
DRAFT_LENGTHS = (1, 2, 4, 8, 16)
DRAFTS = ("wren-nano", "wren-mini", "wren-small")
TEMPERATURES = (0.0, 0.6, 1.0)

Recorder = Callable[[str, str, Preset, DecodeSettings], Trace]


def main() -> None:
    """Search, record, write."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets"
    record = recorder()
    for name, candidates in searches().items():
        best = choose(name, (record(*candidate) for candidate in candidates))
        path = folder / "traces" / f"story-{name}.json"
        path.write_text(dump_trace(slim(best)), encoding="utf-8")
        print(f"{path.name}: {best.prompt.text[:40]!r}, {speedup(best) or 0:.2f} times", file=sys.stderr)
    (folder / "story").mkdir(exist_ok=True)
    text = json.dumps(asdict(measure(record)), indent=1)
    (folder / "story" / "figures.json").write_text(text + "\n", encoding="utf-8")


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


def measure(record: Recorder) -> Figures:
    """The sweeps behind the answers: draft length, draft, temperature, and how much p and q overlap."""
    base = DecodeSettings(max_new_tokens=64, draft_length=4, stop_at_eos=False)
    lengths = [_row(record, "wren-nano", replace(base, draft_length=length)) for length in DRAFT_LENGTHS]
    drafts = [_row(record, draft, base) for draft in DRAFTS]
    temperatures = [_row(record, "wren-nano", replace(base, temperature=value)) for value in TEMPERATURES]
    return Figures(describe_machine().machine, lengths, drafts, temperatures, overlap())


def _row(record: Recorder, draft: str, settings: DecodeSettings) -> Measured:
    """All story prompts together; the speedup is the median over prompts, of each prompt's median run."""
    runs = [record("wren-base", draft, preset, settings) for preset in presets("story")]
    counts = count([round for run in runs for round in run.rounds])
    return Measured(
        target="wren-base",
        draft=draft,
        draft_length=settings.draft_length,
        temperature=settings.temperature,
        rounds=counts.rounds,
        emitted=counts.emitted,
        drafted=counts.drafted,
        accepted=counts.accepted,
        rejected=counts.rejected,
        speedup=round(median(speedup(run) or 0.0 for run in runs), 4),
    )


@torch.inference_mode()
def overlap() -> Overlap:
    """Mean over the story prompts' own tokens of Σp·q and Σmin(p, q) at temperature 1."""
    target, draft = load_model("wren-base"), load_model("wren-nano")
    size = shared_vocabulary(target, draft)
    p, q = (torch.cat([_rows(model, size, preset) for preset in presets("story")]) for model in (target, draft))
    products, minima = (p * q).sum(-1), torch.minimum(p, q).sum(-1)
    return Overlap(len(p), round(float(products.mean()), 4), round(float(minima.mean()), 4))


def _rows(model: LoadedModel, size: int, preset: Preset) -> torch.Tensor:
    ids = model.tokenizer(preset.text)["input_ids"]
    return CachedModel(model, size).read(ids).softmax(-1)


if __name__ == "__main__":
    main()
