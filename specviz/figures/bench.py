"""The figures of "Your server". Pure functions: what a bench found in, a figure out; never colour alone."""

from collections.abc import Sequence
from dataclasses import replace

from specviz.core.judge import LOOKS, VerdictWord
from specviz.core.names import first_words
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.figures.parts import figure_text
from specviz.measure.endpoints.acceptance import AcceptanceFound
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.pairs import Gain
from specviz.measure.endpoints.report import percentiles
from specviz.measure.endpoints.result import BenchPrompt
from specviz.measure.endpoints.sentences import NAMES

SAYS = page_texts("when_it_helps")
HEIGHT = 330
ROW, MOST_NAMES = 22, 40  # px; more names do not fit beside a figure
MOST_NAME = 28  # characters
LEAST = 0.01  # ms: a logarithm has no 0


def load_figure(found: BenchFindings) -> plot.Figure:
    """Speedup against load: a line, on it the mark of what each interval supports."""
    loads = found.measured
    numbers = [f"{load.load:g}" for load in loads]
    gains = [load.speedup for load in loads if load.speedup]
    line = plot.scatter(
        "", numbers, [gain.value for gain in gains], mode="lines", line={"color": plot.GREY, "width": 2},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    x = _load_axis(found, numbers)
    marks, level = _marks(numbers, gains, across=False), plot.level(1, "1×", beside=True)
    return plot.figure([line, *marks], HEIGHT, x=x, y=_speedups(gains), showlegend=True, **level)


def _load_axis(found: BenchFindings, numbers: Sequence[str]) -> plot.FigurePart:
    title = SAYS["axis_rate" if found.result.settings.rates else "axis_load"]
    return plot.axis(title, type="category", categoryorder="array", categoryarray=numbers)


def _speedups(gains: Sequence[Gain]) -> plot.FigurePart:
    """The axis of speedups: an interval that is far wider than all values is cut, so that these are told apart."""
    values = [gain.value for gain in gains]
    ends = max(gain.interval[1] if gain.interval else gain.value for gain in gains)
    return plot.axis(SAYS["axis_speedup"], ticksuffix="×", range=[0, max(1.15, 1.1 * min(ends, 2 * max(values)))])


def _marks(places: Sequence[str], gains: Sequence[Gain], *, across: bool) -> list[plot.FigurePart]:
    """The points of each word that the judge says; `across`: the speedup is on the x axis."""
    words: dict[tuple[VerdictWord, str], list[tuple[str, Gain]]] = {
        (word, gain.judged.said): [] for word in LOOKS for gain in gains if gain.judged.word == word
    }
    for place, gain in zip(places, gains, strict=True):
        words[gain.judged.word, gain.judged.said].append((place, gain))
    drawn = list[plot.FigurePart]()
    for (word, said), its in words.items():
        look, where, judged = LOOKS[word], [place for place, _ in its], its[0][1].judged
        values = [gain.value for _, gain in its]
        above, below = (
            [abs(gain.interval[end] - gain.value) if gain.interval else None for _, gain in its] for end in (1, 0)
        )
        ends = {**plot.interval([], [], [], look.fill), "array": above, "arrayminus": below}
        hollow = judged.basis != "interval" and not look.shape.endswith("-open")  # what only looks so
        x, y, bar, axis = (values, where, "error_x", "y") if across else (where, values, "error_y", "x")
        drawn.append(
            plot.scatter(
                said,
                x,
                y,
                f"%{{{axis}}}: %{{customdata}}<extra></extra>",
                mode="markers",
                marker=plot.marker(f"{look.shape}-open" if hollow else look.shape, 12, look.fill),
                customdata=[gain.said for _, gain in its],
                **{bar: ends},
            )
        )
    return drawn


def prompts_figure(load: LoadFindings, prompts: Sequence[BenchPrompt]) -> plot.Figure:
    """Each prompt's speedup with the interval over its repeats, the fastest at the top."""
    ordered = sorted(load.prompts, key=lambda each: each.ratio)
    short = [first_words(prompts[each.number].name, MOST_NAME) for each in ordered]
    labels = [  # with its number where two would have the same
        figure_text(name if short.count(name) == 1 else f"{each.number + 1}. {name}")
        for each, name in zip(ordered, short, strict=True)
    ]
    gains = [replace(each.gain, trusted=not load.doubts) for each in ordered]
    marks = _marks(labels, gains, across=True)
    fits = len(ordered) <= MOST_NAMES
    y = plot.axis(type="category", categoryorder="array", categoryarray=labels, showticklabels=fits)
    height = max(HEIGHT, 110 + ROW * len(ordered)) if fits else HEIGHT
    return plot.figure(marks, height, x=_speedups(gains), y=y, showlegend=True, shapes=[plot.UPRIGHT])


def throughput_figure(found: BenchFindings) -> plot.Figure:
    """Tokens a second of all users together, against load; a line for each server."""
    lines, loads = [], found.loads
    for number, side in enumerate(loads[0].sides):
        known = [(f"{load.load:g}", rate) for load in loads if (rate := load.sides[side].throughput)]
        hover = f"{SAYS['hover_rate_of_all']}<extra>{NAMES[side]}</extra>"
        x, y = [x for x, _ in known], [y for _, y in known]
        lines.append(plot.scatter(NAMES[side], x, y, hover, **plot.look(number, 9)))
    x_axis = _load_axis(found, [f"{load.load:g}" for load in loads])
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
    """By position where the rounds are counted so, else by kind of text; None where nothing was drafted."""
    known = [(name, its.rate) for name, its in found.by_workload.items() if its.rate is not None]
    kinds = [(figure_text(name[:MOST_NAME]), rate) for name, rate in known]
    shown = [(str(place), rate) for place, rate in enumerate(found.whole.survival, start=1)] or kinds
    if not shown:
        return None
    title, share = ("axis_place", "axis_rounds") if found.whole.survival else ("axis_kind", "axis_of_guesses")
    y = plot.axis(SAYS[share], range=[0, 1.03], tickformat=".0%")
    x, rates, hover = [place for place, _ in shown], [rate for _, rate in shown], "%{x}: %{y:.0%}<extra></extra>"
    bars = plot.bars("", x, rates, hover, marker={"color": plot.BLUE})
    return plot.figure([bars], HEIGHT, x=plot.axis(SAYS[title], type="category"), y=y, showlegend=False)
