"""Record the race that the Race page shows first: python -m scripts.record_race [FILE]

Races the bundled pair on a few prompts of different kinds, as the engine does for a visitor, and writes
assets/traces/race.json. Run it on a machine that does nothing else.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.quiet import quiet_machine
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.prompts.workloads import find_preset
from specviz.measure.race import RacePrompt, dump_race, overall_verdict
from specviz.service.handlers import job_steps
from specviz.service.protocol import JobItem, JobProgress, Race
from specviz.service.workshop import Workshop

FILE = Path(__file__).resolve().parents[1] / "assets" / "traces" / "race.json"
PRESETS = ("story-1", "code-2", "structured-1", "random-1")  # speculation should lose on the last one
REPEATS = 5


def main() -> None:
    """Race and save what was measured."""
    torch.set_num_threads(1)  # as in the engine
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    prompts = [RacePrompt(name, preset.text) for name in PRESETS if (preset := find_preset(name))]
    request = RunRequest("", settings=DecodeSettings(stop_at_eos=False))
    with quiet_machine():
        laps = list(raced(Race(1, request, prompts, REPEATS)))
    file.write_text(dump_race(laps) + "\n", encoding="utf-8")
    verdict = overall_verdict(laps)
    print([lap.verdict.headline for lap in laps], verdict and verdict.headline, file=sys.stderr)


def raced(race: Race) -> Iterator[Any]:
    """Its laps; what is measured now goes to standard error."""
    for event in job_steps(Workshop(), race):
        if isinstance(event, JobProgress):
            print(f"{event.prompt}: {event.phase} {event.repeat or ''}", file=sys.stderr)
        elif isinstance(event, JobItem):
            yield event.item


if __name__ == "__main__":
    main()
