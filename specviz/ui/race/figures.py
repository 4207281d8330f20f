"""The race as a plot: each prompt's speedup with its interval, one race beside the other. Pure."""

from collections.abc import Mapping, Sequence

from specviz.core.verdict import Verdict
from specviz.measure.race import RaceLap, clearly_differ, kinds_of, overall_verdict
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import GREY, UPRIGHT, Figure, Part, axis, figure, interval, scatter

ALL = "all prompts"
ROW, AROUND = 46, 66  # px: of a row, and of what is around the rows
ROOM, WIDEST = 1.08, 2  # beside the highest end; times the highest speedup, where an interval is cut


def speedups_figure(races: Mapping[str, Sequence[RaceLap]]) -> Figure:
    """A row for each prompt of each race, those of one prompt below each other."""
    found = {name: _verdicts(laps) for name, laps in races.items()}
    prompts = list(dict.fromkeys(prompt for its in found.values() for prompt in its if prompt != ALL))
    rows = {
        f"{prompt}, {name}" if len(races) > 1 else prompt: its[prompt]
        for prompt in (*prompts, ALL)
        for name, its in found.items()
        if prompt in its
    }
    most = ROOM * min(max(map(_high, rows.values())), WIDEST * max(verdict.speedup for verdict in rows.values()))
    heights = range(len(rows), 0, -1)
    x = axis("speedup (1×: as fast as the target alone)", range=[0, most], ticksuffix="×")
    names = [figure_text(row) for row in rows]
    y = axis(tickvals=list(heights), ticktext=names, range=[0.4, len(rows) + 0.7], showgrid=False)
    return figure(
        [_point(name, verdict, at) for name, verdict, at in zip(names, rows.values(), heights, strict=True)],
        AROUND + ROW * len(rows),
        x=x,
        y=y,
        showlegend=False,
        shapes=[UPRIGHT],
        annotations=[
            label for verdict, at in zip(rows.values(), heights, strict=True) for label in _labels(verdict, at, most)
        ],
    )


def _high(verdict: Verdict) -> float:
    return max(verdict.interval or (verdict.speedup,))


def _verdicts(laps: Sequence[RaceLap]) -> dict[str, Verdict]:
    """Of each prompt, and of all unless that would be the mean of kinds that differ."""
    found = {lap.name: lap.verdict for lap in laps}
    whole = overall_verdict(laps)
    if len(laps) > 1 and whole and (whole.certain or not clearly_differ(kinds_of(laps))):
        found[ALL] = whole
    return found


def _point(row: str, verdict: Verdict, height: int) -> Part:
    speedup, look = verdict.speedup, verdict.judgement.look
    ends, said = {}, "one repeat, no interval"
    if verdict.interval:
        low, high = verdict.interval
        ends = {"error_x": interval([speedup], [low], [high], GREY)}
        said = f"95 % interval {low:.2f} to {high:.2f}×"
    marker = {"symbol": look.shape, "size": 13, "color": look.fill, "line": {"width": 2, "color": look.fill}}
    hover = f"{_said(verdict)}; {said}<extra></extra>"
    return scatter(row, [speedup], [height], hover, mode="markers", marker=marker, **ends)


def _said(verdict: Verdict) -> str:
    return f"{verdict.speedup:.2f}× {verdict.judgement.said}"


def _labels(verdict: Verdict, height: int, most: float) -> list[Part]:
    """Above its point, towards the middle of the figure: on a phone it has no room on the other side.

    Two prompts that differ give an interval of hundreds: drawn to its end, it would flatten every other.
    """
    side = "right" if verdict.speedup > most / 2 else "left"
    place = {"x": verdict.speedup, "y": height, "xanchor": side, "yanchor": "bottom", "yshift": 7}
    end = {"x": most, "y": height, "xanchor": "right", "yanchor": "middle"}
    further = {"text": "→", "font": {"size": 16}, "showarrow": False, **end}
    label = {"text": _said(verdict), "showarrow": False, **place}
    return [label, further] if _high(verdict) > most else [label]
