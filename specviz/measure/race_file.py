"""A race as a JSON file, and back."""

import json
from collections.abc import Sequence
from typing import Any

from specviz.core.errors import InputError
from specviz.core.verdict import Verdict
from specviz.measure.race import RaceLap, dump_lap, lap_figures, load_lap, overall_verdict
from specviz.measure.race_kinds import kinds_of

RACE_SCHEMA = 1


def dump_race(laps: Sequence[RaceLap]) -> str:
    """The race as a JSON file.

    {"schema": 1, "overall": null | {"speedup", "interval", "verdict", "certain", "reason"},
     "kinds": [{"kind", "prompts": [name, ...], "speedup", "interval", "verdict", "certain"}, ...],
     "laps": [{"figures": {as in `race_table.race_frame`}, "name", "speculative": trace, "plain": trace,
               "speculative_seconds": [...], "plain_seconds": [...], "speculative_prefill": [...],
               "plain_prefill": [...], "plain_tokens": [...], "quality": {...},
               "draws": [{"seed", "counts", "plain_tokens"}, ...], "seeds": [...]}, ...]}

    Traces are as in the trace file. Lists of seconds have one number for each repeat, in the order of the repeats.
    Above temperature 0 each repeat has a seed of its own: `draws` has one entry for each, and the traces are of one
    repeat. Greedy repeats all write the same: `draws` is empty. A kind is a workload; "own" for other prompts.
    """
    verdict = overall_verdict(laps)
    content = {
        "schema": RACE_SCHEMA,
        "overall": verdict and {**_judged(verdict), "reason": verdict.reason},
        "kinds": [{"kind": kind.name, "prompts": kind.prompts, **_judged(kind.verdict)} for kind in kinds_of(laps)],
        "laps": [{"figures": lap_figures(lap), **dump_lap(lap), "seeds": lap.seeds} for lap in laps],
    }
    return json.dumps(content, ensure_ascii=False)


def _judged(verdict: Verdict) -> dict[str, Any]:
    return {
        "speedup": verdict.speedup,
        "interval": verdict.interval,
        "verdict": verdict.label,
        "certain": verdict.certain,
    }


def parse_race(text: str) -> list[RaceLap]:
    """The laps of a file that `dump_race` wrote; figures are computed again, not read.

    Raises:
        InputError: it is not a race of this version.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("The race is not JSON.") from None
    if not isinstance(content, dict) or content.get("schema") != RACE_SCHEMA:
        raise InputError(f"The race is not of schema {RACE_SCHEMA}.")
    laps = content.get("laps")
    if not isinstance(laps, list) or not laps:
        raise InputError("The race holds no laps.")
    return [load_lap(lap) for lap in laps]
