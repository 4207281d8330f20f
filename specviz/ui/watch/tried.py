"""What you tried: this session's runs as points and as a table; one of them shown again, or compared with."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

from specviz.core.csv_cells import safe_cell
from specviz.core.metrics import Estimate, count, estimated_at
from specviz.core.names import machine_in_words, prompt_words, short_name
from specviz.core.numbers import times
from specviz.core.verdict import Verdict, doubts, verdict_of_run
from specviz.data.links.permalink import link_of
from specviz.data.measured.quiet_costs import known_costs
from specviz.data.texts import page_texts
from specviz.player.data import draft_name
from specviz.service.run_store import ID
from specviz.ui.shared import figures as plot
from specviz.ui.shared.address import view_in_link
from specviz.ui.shared.below_streamlit import visitor_left
from specviz.ui.shared.components import keep
from specviz.ui.shared.engine import engine
from specviz.ui.shared.escaping import figure_text, plain
from specviz.ui.shared.parts import button, download, html_table, numbers
from specviz.ui.watch.controls import preset_of
from specviz.ui.watch.watch_state import FIRST, LIST_BYTES, MAX_RUNS, ShownRun, WatchState, first_run, stored_run

SAYS = page_texts("watch")
HEIGHT = 252
PROMPT_CHARACTERS = 40
ID_CHARACTERS = 17  # of a run's id and the space behind it
SHARES = (-4.0, 105.0)  # %: the axis of acceptance; a mark at 0 is drawn whole
LEAST_TOP, ARROW = 1.5, 0.96  # of the speed axis: its end at least, and the place of what is above it
WILD = 3.0  # times not trusted do not stretch the axis beyond it
PLOT, MARK, LETTER, LINE = (330, 130), 8, 7, 13  # pixels: a plot, half a mark, and a letter of a number beside it
# where a number can stand, best first: steps to the right and up
PLACES = {"middle right": (1, 0), "middle left": (-1, 0), "top center": (0, 1), "bottom center": (0, -1)}
PLACES |= {"top right": (1, 1), "bottom right": (1, -1), "top left": (-1, 1), "bottom left": (-1, -1)}


@dataclass(frozen=True, slots=True)
class TriedRun:
    number: int  # 0: the recorded first run
    shown: ShownRun
    verdict: Verdict | None
    estimated: Estimate | None = None  # the speedup at costs of a quiet moment
    costs_of: str | None = None  # where these were measured

    @property
    def busy(self) -> bool:
        return self.verdict is not None and not self.verdict.trusted

    @property
    def draft(self) -> str:
        return draft_name(self.shown.trace)

    @property
    def name(self) -> str:
        settings = self.shown.trace.settings
        start = str(self.number) if self.number else SAYS["run_0"]
        prompt = prompt_words(self.shown.trace, PROMPT_CHARACTERS)
        return f"{start}: {self.draft}, {settings.draft_length}{settings.manner} · {prompt}"

    @property
    def link(self) -> str:
        if self.shown.asked is None:
            return f"./?{urlencode({'run': FIRST})}"
        request, preset = self.shown.asked
        return f"./?{urlencode(link_of(request, preset=preset, run=self.shown.stored_id or None))}"


def tries(watching: WatchState) -> list[TriedRun]:
    """The recorded first run, then the runs of the session, oldest first."""
    past, first = watching.past, first_run()
    runs = [*([(0, first)] if first else []), *enumerate(past.finished, past.count - len(past.finished) + 1)]
    doubted = [costs for _, run in runs if (costs := watching.costs_of(run)) and doubts(run.trace, costs)]

    def tried(number: int, run: ShownRun) -> TriedRun:
        costs = watching.costs_of(run)
        known = known_costs(run.trace, None if costs in doubted else costs)
        estimated = estimated_at(run.trace.rounds, known.costs) if known else None
        return TriedRun(number, run, verdict_of_run(run.trace, costs), estimated, known.place if known else None)

    return [tried(*each) for each in runs]


class PlotBox(NamedTuple):
    """A part of the plot: its middle and half its sides, in pixels from the lower left corner."""

    x: float
    y: float
    width: float
    height: float

    def beside(self, move: tuple[int, int], text: str) -> "PlotBox":
        width, height = LETTER * len(text) / 2, LINE / 2
        return PlotBox(
            self.x + move[0] * (self.width + width), self.y + move[1] * (self.height + height), width, height
        )

    def meets(self, other: "PlotBox") -> bool:
        return abs(self.x - other.x) < self.width + other.width and abs(self.y - other.y) < self.height + other.height

    @property
    def inside(self) -> bool:
        return self.width <= self.x <= PLOT[0] - self.width and self.height <= self.y <= PLOT[1] - self.height


def tried_figure(runs: Sequence[TriedRun]) -> plot.Figure:
    """Acceptance against measured speedup; a colour and a symbol for each draft."""
    drafts = list(dict.fromkeys(run.draft for run in runs))
    ends = [(run.busy, end) for run in runs if run.verdict for end in (run.verdict.speedup, *_ends(run.verdict))]
    top = 1.1 * max([LEAST_TOP, *(end for busy, end in ends if not busy or end <= WILD)])
    labels = _labels(runs, top)
    groups = [_points(draft, number, runs, top, labels) for number, draft in enumerate(drafts)]
    x = plot.axis(SAYS["tried_accepted"], range=[*SHARES], ticksuffix=" %")
    y = plot.axis(SAYS["tried_speedup"], range=[0, top], ticksuffix="×")
    # Its name is in the legend: a label beside the line lies on bars.
    line = plot.scatter(SAYS["tried_even"], SHARES, [1, 1], mode="lines", line=plot.DOTTED, hoverinfo="skip")
    return plot.figure([line, *groups], HEIGHT, x=x, y=y, showlegend=True)


def _ends(verdict: Verdict) -> tuple[float, float]:
    return verdict.interval or (verdict.speedup, verdict.speedup)


def _accepted(run: TriedRun) -> float:
    return 100 * (count(run.shown.trace.rounds).acceptance_rate or 0.0)


def _timed(verdict: Verdict) -> str:
    low, high = _ends(verdict)
    says = SAYS[f"timed{'_between' * bool(verdict.interval)}{'' if verdict.trusted else '_busy'}"]
    return says.format(speedup=verdict.speedup, low=low, high=high)


def _labels(runs: Sequence[TriedRun], top: float) -> dict[int, tuple[str, str]]:
    """The number of each run and where it stands beside its mark: on no other and on no mark, and on few bars.

    Where there is no room for one, its table row and its hover have it. In pixels, as large as the plot is at least.
    """
    shown = {run.number: (run, run.verdict) for run in runs if run.verdict}
    marks, bars, found = {}, [], {}
    numbers: list[PlotBox] = []
    for number, (run, verdict) in shown.items():
        x = PLOT[0] * (_accepted(run) - SHARES[0]) / (SHARES[1] - SHARES[0])
        y, low, high = (PLOT[1] * min(at, ARROW * top) / top for at in (verdict.speedup, *_ends(verdict)))
        marks[number] = PlotBox(x, y, MARK, MARK)
        bars.append(PlotBox(x, (low + high) / 2, 1, (high - low) / 2))
    for number, mark in marks.items():
        text = f"{number} ↑" if _ends(shown[number][1])[1] > top else str(number)
        boxes = {place: mark.beside(move, text) for place, move in PLACES.items()}
        taken = [*marks.values(), *numbers]
        free = [place for place, box in boxes.items() if box.inside and not any(map(box.meets, taken))]
        best = min(free, key=lambda place: sum(map(boxes[place].meets, bars)), default=None)
        found[number] = (text if best else "", best or "middle right")
        numbers += [boxes[best]] if best else []
    return found


def _points(
    draft: str, number: int, runs: Sequence[TriedRun], top: float, labels: dict[int, tuple[str, str]]
) -> plot.FigurePart:
    """The points of a draft. What is above the axis ends with it: only what is not trusted can be."""
    own = [(run, run.verdict) for run in runs if run.draft == draft and run.verdict]
    color, symbol = plot.COLORS[number % len(plot.COLORS)], plot.SYMBOLS[number % len(plot.SYMBOLS)]
    drawn = [[min(at, ARROW * top) for at in (verdict.speedup, *_ends(verdict))] for _, verdict in own]
    speeds, lows, highs = ([each[i] for each in drawn] for i in range(3))
    marks = [f"{symbol}-open" if run.busy else symbol for run, _ in own]
    return plot.scatter(
        figure_text(draft),
        [_accepted(run) for run, _ in own],
        speeds,
        SAYS["tried_hover"],
        text=[labels[run.number][0] for run, _ in own],
        customdata=[(run.number, _timed(verdict)) for run, verdict in own],
        mode="markers+text",
        textposition=[labels[run.number][1] for run, _ in own],
        marker=plot.marker(marks, 11, color),
        error_y=plot.interval(speeds, lows, highs, color),
    )


COLUMNS: tuple[tuple[str, Callable[[TriedRun], object]], ...] = (
    ("run", lambda run: str(run.number) if run.number else "0, recorded"),
    ("draft", lambda run: run.draft),
    ("draft length", lambda run: run.shown.trace.settings.draft_length),
    ("tokens a round", lambda run: count(run.shown.trace.rounds).tokens_per_target_call),
    ("accepted %", lambda run: (rate := count(run.shown.trace.rounds).acceptance_rate) and 100 * rate),
    ("speedup", lambda run: run.verdict.speedup if run.verdict else None),
    ("95 % from", lambda run: run.verdict.interval[0] if run.verdict and run.verdict.interval else None),
    ("95 % to", lambda run: run.verdict.interval[1] if run.verdict and run.verdict.interval else None),
    ("time trusted", lambda run: ("yes" if run.verdict.trusted else "no") if run.verdict else None),
    ("prompt", lambda run: prompt_words(run.shown.trace, PROMPT_CHARACTERS)),
    ("temperature", lambda run: run.shown.trace.settings.temperature),
    ("target", lambda run: short_name(run.shown.trace.target.name)),
    ("at calibrated costs", lambda run: run.estimated and run.estimated.speedup),
    ("at calibrated costs from", lambda run: _end_of(run, 0)),
    ("at calibrated costs to", lambda run: _end_of(run, 1)),
    ("calibrated on", lambda run: run.costs_of),
)


def _end_of(run: TriedRun, end: int) -> float | None:
    return run.estimated.interval[end] if run.estimated and run.estimated.interval else None


# first what a phone has room for
ON_SCREEN: tuple[tuple[str, Callable[[TriedRun], object]], ...] = (
    ("run", lambda run: str(run.number)),
    ("pair", lambda run: f"{run.draft} → {short_name(run.shown.trace.target.name)}"),
    *(column for column in COLUMNS if column[0] in ("draft length", "accepted %")),
    ("speedup", lambda run: f"{times(run.verdict.speedup)}{'?' * run.busy}" if run.verdict else None),
    ("95 %", lambda run: run.verdict and run.verdict.interval and SAYS["interval"].format(*run.verdict.interval)),
    ("estimated", lambda run: run.estimated and f"{run.estimated.said}×"),
    *(column for column in COLUMNS if column[0] in ("tokens a round", "temperature", "prompt")),
)


def tried_csv(runs: Sequence[TriedRun], address: str) -> str:
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow([*(name for name, _ in COLUMNS), "link"])
    for run in runs:
        cells = [value(run) for _, value in COLUMNS]
        rounded = [round(cell, 4) if isinstance(cell, float) else cell for cell in cells]
        written = [safe_cell(cell) if isinstance(cell, str) else cell for cell in rounded]
        writer.writerow([*written, address + run.link.removeprefix("./")])
    return text.getvalue()


def keep_list(watching: WatchState) -> None:
    """Have the browser tab hold the ids of the runs, for a reload. What it has of before one is asked for first."""
    past = watching.past
    keep("tried", " ".join(past.ids) or None if past.asked_for else None, lambda text: restore_list(watching, text))
    past.asked_for = True


def restore_list(watching: WatchState, text: str) -> None:
    """Bring back what a tab held, once. Anyone can send it: it only names runs, and what is shown is the server's."""
    past = watching.past
    if past.gone is None:
        names = dict.fromkeys(ID.findall(text[: MAX_RUNS * ID_CHARACTERS]))
        newest_first = (name for name in reversed(names) if not visitor_left())
        found = [*engine().stored_runs(newest_first, LIST_BYTES)][::-1]
        past.bring_back([stored_run(run, preset_of(run.request)) for run in found if run])
        past.gone = found.count(None)


def show_tried(watching: WatchState, address: str, bring_back: Callable[[ShownRun], None]) -> None:
    """The list; `bring_back` shows a run again, and `address` is where links lead."""
    runs, gone = tries(watching), watching.past.gone
    of_before = SAYS["gone_since"].format(count=gone)
    with st.container(key="tried"):
        busy = any(run.busy for run in runs)
        zero = [machine_in_words(run.shown.trace.recorded_on.machine) for run in runs if run.number == 0]
        recorded = [SAYS["zero"].format(machine=machine) for machine in zero]
        st.caption(plain(" ".join([SAYS["tried"], *recorded, *[SAYS["busy"]] * busy, *[of_before] * bool(gone)])))
        rows = [{name: value(run) for name, value in ON_SCREEN} for run in runs]
        formats = numbers("%.2f", "tokens a round") | numbers("%.0f", "accepted %") | numbers("%g", "temperature")
        table = html_table(rows, formats)
        label = escape(SAYS["runs_of_visit"])
        st.html(f'<div class="tried" role="region" aria-label="{label}" tabindex="0">{table}</div>')
        left, right = st.columns(2, gap="medium")
        with left:
            plot.chart(tried_figure(runs), "tried_points")
        with right:
            _choose(watching, runs, bring_back)
            download(SAYS["save_list"], lambda: tried_csv(runs, address), "specviz-tried.csv", key="tried_csv")


def _choose(watching: WatchState, runs: Sequence[TriedRun], bring_back: Callable[[ShownRun], None]) -> None:
    chosen = st.selectbox(SAYS["a_run"], runs, index=len(runs) - 1, format_func=lambda run: run.name, key="tried_run")
    if chosen is None:
        return
    with st.container(horizontal=True):
        button(SAYS["show_again"], "tried_show", lambda: bring_back(whole(chosen)), width="stretch")
        if watching.pinned and watching.pinned.run_id == chosen.shown.run_id:
            button(SAYS["stop_comparing"], "tried_unpin", _pin, watching, None, width="stretch")
        else:
            button(SAYS["compare"], "tried_pin", _pin, watching, chosen, width="stretch")
        st.link_button(SAYS["open_link"], f"{chosen.link}&{urlencode(view_in_link())}", width="stretch")


def _pin(watching: WatchState, chosen: TriedRun | None) -> None:
    watching.pinned, watching.listed = whole(chosen) if chosen else None, False


def whole(run: TriedRun) -> ShownRun:
    """The run with all that explains it, where the server still has it; else what its figures need."""
    stored = engine().stored_run(run.shown.stored_id) if run.shown.asked and run.shown.stored_id else None
    if stored is None:
        return run.shown
    found = stored_run(stored, None)
    return replace(found, run_id=run.shown.run_id, asked=run.shown.asked, linked=run.shown.linked)
