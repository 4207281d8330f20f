"""The figures of "Your server". Pure functions: what a bench found in, a figure out; never colour alone."""

from collections.abc import Sequence
from dataclasses import replace

from specviz.core.names import first_words
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.figures.speedups import SpeedupRow, speedup_figure
from specviz.measure.endpoints.acceptance import AcceptanceFound
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.pairs import Gain
from specviz.measure.endpoints.report import percentiles
from specviz.measure.endpoints.result import BenchPrompt
from specviz.measure.endpoints.sentences import NAMES

SAYS = page_texts("when_it_helps")
HEIGHT = 330
MOST_NAME, MOST_NAMES = 28, 20  # characters; more names do not fit beside a figure
LEAST = 0.01  # ms: a logarithm has no 0


def load_figure(found: BenchFindings) -> plot.Figure:
    rows = [_row(f"{load.load:g}", speedup) for load, speedup in found.measured]
    return speedup_figure(rows, of=_load_title(found))


def _load_title(found: BenchFindings) -> str:
    return SAYS["axis_rate" if found.result.settings.rates else "axis_load"]


def _row(name: str, gain: Gain) -> SpeedupRow:
    judged = replace(gain.judged, interval=gain.interval)
    return SpeedupRow(name, judged, "" if judged.basis == "interval" else f" {judged.said}")


def prompts_figure(load: LoadFindings, prompts: Sequence[BenchPrompt]) -> plot.Figure:
    """Each prompt's speedup with the interval over its repeats, the fastest at the top."""
    names = _short_names([prompt.name for prompt in prompts])
    ordered = sorted(load.prompts, key=lambda each: -each.ratio)
    rows = [_row(names[each.number], replace(each.gain, trusted=not load.doubts)) for each in ordered]
    return speedup_figure(rows, named=len(rows) <= MOST_NAMES)


def _short_names(names: Sequence[str]) -> list[str]:
    """Each cut to what fits, with its number where two would be the same."""
    short = [first_words(name, MOST_NAME) for name in names]
    return [name if short.count(name) == 1 else f"{number}. {name}" for number, name in enumerate(short, start=1)]


def throughput_figure(found: BenchFindings) -> plot.Figure:
    """Tokens a second of all users together, against load; a line for each server."""
    lines, loads = [], found.loads
    for number, side in enumerate(loads[0].sides):
        known = [(f"{load.load:g}", rate) for load in loads if (rate := load.sides[side].throughput)]
        hover = f"{SAYS['hover_rate_of_all']}<extra>{NAMES[side]}</extra>"
        x, y = [x for x, _ in known], [y for _, y in known]
        lines.append(plot.scatter(NAMES[side], x, y, hover, **plot.look(number, 9)))
    numbers = [f"{load.load:g}" for load in loads]
    x_axis = plot.axis(_load_title(found), type="category", categoryorder="array", categoryarray=numbers)
    y_axis = plot.axis(SAYS["axis_rate_of_all"], rangemode="tozero")
    return plot.figure(lines, HEIGHT, x=x_axis, y=y_axis, showlegend=True)


def times_figure(load: LoadFindings) -> plot.Figure:
    """Of each kind of time and each server: what half, 90 % and 99 % of the times are not above."""
    lines, kinds = [], list[str]()
    for number, side in enumerate(load.sides):
        its = percentiles([answer for answer in load.answers[side] if not answer.problem])
        kinds = list(its)
        seconds = [each for shares in its.values() for each in (*shares.values(), None)]  # no line to the next kind
        shown = [None if each is None else max(each * 1000, LEAST) for each in seconds]
        places = [place + (number - 0.5) * 0.3 for place in range(len(kinds)) for _ in range(4)]
        shares = [each for shares in its.values() for each in (*shares, "")]
        hover = f"%{{customdata}}: %{{x:.3~g}} ms<extra>{NAMES[side]}</extra>"
        lines.append(plot.scatter(NAMES[side], shown, places, hover, customdata=shares, **plot.look(number, 9)))
    names = [SAYS[f"time_{kind}"] for kind in kinds]
    y_axis = plot.axis(tickvals=list(range(len(kinds))), ticktext=names, autorange="reversed", automargin=True)
    return plot.figure(lines, HEIGHT, x=plot.axis(SAYS["axis_times"], type="log"), y=y_axis, showlegend=True)


def acceptance_figure(found: AcceptanceFound) -> plot.Figure | None:
    """By position; None where nothing was drafted, or the rounds are not counted so."""
    survival = found.whole.survival
    if not survival:
        return None
    places = [str(place) for place in range(1, 1 + len(survival))]
    x = plot.axis(SAYS["axis_place"], type="category")
    return plot.rates_figure(places, {"": survival}, HEIGHT, x=x, y=SAYS["axis_rounds"])
