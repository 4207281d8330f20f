"""A race as a data frame, and as the CSV that the Race page offers."""

from collections.abc import Sequence

import pandas as pd

from specviz.core.csv_cells import safe_cell
from specviz.measure.paired import Draw
from specviz.measure.race import RaceLap, lap_figures


def race_frame(laps: Sequence[RaceLap]) -> pd.DataFrame:
    """One row for each prompt and repeat.

    Columns: those of `lap_figures` (the prompt's medians and counts, the same in each of its rows; latencies are
    seconds with prefill, rates exclude it; `speedup` is `Paired.speedup` with its 95 % interval, which is missing for
    one repeat; tokens and counts are those of one repeat, or above temperature 0 the sum of all, which have different
    seeds), then `repeat` from 1, `plain_prefill_seconds`, `plain_seconds`, `speculative_prefill_seconds`,
    `speculative_seconds` and `ratio` of that repeat. `seed` and, last, `repeat_speculative_tokens`,
    `repeat_plain_tokens` and `repeat_target_calls` are of the repeat. Prompts are named; their texts are left out.
    """
    return pd.DataFrame([{**lap_figures(lap), **repeat} for lap in laps for repeat in _repeats(lap)])


def race_csv(laps: Sequence[RaceLap]) -> str:
    """`race_frame` as CSV; empty without laps."""
    if not laps:
        return ""
    frame = race_frame(laps)
    texts = frame.select_dtypes(["object", "str"]).columns
    safe = frame.assign(**{column: frame[column].map(_safe) for column in texts})
    return safe.to_csv(index=False, lineterminator="\n")


def _safe(value: object) -> object:
    return safe_cell(value) if isinstance(value, str) else value


def _repeats(lap: RaceLap) -> list[dict[str, float]]:
    draws = lap.draws or [Draw(lap.seeds[0], lap.counts, lap.plain_written)] * len(lap.ratios)
    return [
        {
            "seed": draws[index].seed,
            "repeat": index + 1,
            "plain_prefill_seconds": lap.plain_prefill[index],
            "plain_seconds": lap.plain_seconds[index],
            "speculative_prefill_seconds": lap.speculative_prefill[index],
            "speculative_seconds": lap.speculative_seconds[index],
            "ratio": ratio,
            "repeat_speculative_tokens": draws[index].counts.emitted,
            "repeat_plain_tokens": draws[index].plain_tokens,
            "repeat_target_calls": draws[index].counts.rounds,
        }
        for index, ratio in enumerate(lap.ratios)
    ]
