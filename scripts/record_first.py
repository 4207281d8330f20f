"""Choose and record the run of the first screen: python -m scripts.record_first

The rule. Candidates are the stories of the prompt menu with each small draft model, greedy, at the app's default
settings. The first round must show accepted tokens, the tour must find in the run what it shows, and the text must not
go round in a loop, which any draft guesses easily. Of these, the run is recorded whose tokens per target call are
closest to what is typical of its pair: the median over all ten stories. A round of one pair costs the same everywhere,
so its speedup is typical too, but the count is exact and a time is not. So the run is chosen by what it shows, and not
for a high speedup.

Writes assets/traces/first.json, the run with the median speedup of five, and first.draft-guesses.json: what its draft
would guess along it, with which visitors can change the draft length before any model is loaded. Run it on a machine
that does nothing else.
"""

import sys
from collections.abc import Iterator
from math import log
from statistics import median

import torch

from benchmarks.quiet import quiet_machine
from scripts.record_story import median_run, plain_steps
from specviz import DecodeSettings, ModelDrafter, load_model, speculative_decode
from specviz.core.metrics import count, repetition
from specviz.core.replay import dump_draft_guesses
from specviz.core.steps import result_of
from specviz.core.trace import Trace, dump_trace
from specviz.data.lessons.story import tour_of
from specviz.data.measured.first_run import FIRST, FIRST_GUESSES
from specviz.data.prompts.workloads import STORY, Preset
from specviz.measure.compare import run_both

TARGET, DRAFTS = "wren-base", ("wren-nano", "wren-mini")
LOOP = 0.25  # a text that repeats more of its 4-grams than this is a loop
REPEATS = 5


def main() -> None:
    """Choose, record."""
    torch.set_num_threads(1)
    _, draft, preset = min(candidates(), key=lambda candidate: candidate[0])
    target, drafter = load_model(TARGET), ModelDrafter(load_model(draft))
    with quiet_machine() as quiet:
        trace = median_run([run_both(target, drafter, preset.text, DecodeSettings()) for _ in range(REPEATS)])
        quiet.add_steps(plain_steps(trace))
    guesses = result_of(drafter.guess_along(target, trace.prompt.token_ids, trace.output.token_ids))
    assert guesses is not None
    FIRST.write_text(dump_trace(trace) + "\n", encoding="utf-8")
    FIRST_GUESSES.write_text(dump_draft_guesses(guesses) + "\n", encoding="utf-8")
    print(f"recorded: {draft} on {preset.name}", file=sys.stderr)


def candidates() -> Iterator[tuple[float, str, Preset]]:
    """For each run that fits: how far it is from typical, as a ratio's logarithm; its draft; its prompt."""
    target = load_model(TARGET)
    for draft in DRAFTS:
        drafter = ModelDrafter(load_model(draft))
        runs = {preset: speculative_decode(target, drafter, preset.text) for preset in STORY.all_prompts}
        typical = median(calls(run) for run in runs.values())
        print(f"{draft}: typical are {typical:.2f} tokens per target call", file=sys.stderr)
        for preset, run in runs.items():
            fits = preset in STORY.prompts and shows_enough(run)
            print(f"  {preset.name}: {calls(run):.2f}{', fits' if fits else ''}", file=sys.stderr)
            if fits:
                yield abs(log(calls(run) / typical)), draft, preset


def shows_enough(run: Trace) -> bool:
    """Whether the first round has accepted tokens, the run has what the tour shows, and the text is no loop."""
    repeats = repetition(run.output.token_ids) or 0.0
    return run.rounds[0].accepted > 0 and tour_of(run) is not None and repeats < LOOP


def calls(run: Trace) -> float:
    """Tokens per target call."""
    return count(run.rounds).emitted / len(run.rounds)


if __name__ == "__main__":
    main()
