"""What you tried: this session's runs as points and as a table; one of them shown again, or compared with."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from urllib.parse import urlencode

import streamlit as st

from specviz.core.csv_cells import safe_cell
from specviz.core.metrics import count
from specviz.core.names import first_words, short_name
from specviz.core.verdict import Verdict, verdict_of_run
from specviz.data.permalink import link_of
from specviz.player.compared import draft_name
from specviz.ui.shared.address import view_in_link
from specviz.ui.shared.engine import engine
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import Figure, Part, axis, chart, figure, interval, level, scatter
from specviz.ui.shared.parts import data_table, download, numbers
from specviz.ui.watch.watch_state import FIRST, Shown, Watching, first_run, measured_run

HEIGHT = 320
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe-Ito
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "x")
PROMPT_CHARACTERS = 40
ABOUT = (
    "Each run of this session; 0 is the recorded one of the first screen. The bars are 95 % intervals of a run's own "
    "timing. A hollow mark was timed while the machine was busy: do not trust its speed."
)


@dataclass(frozen=True, slots=True)
class Try:
    """One run of the session, with its number."""

    number: int  # 0: the recorded first run
    shown: Shown
    verdict: Verdict | None

    @property
    def draft(self) -> str:
        return draft_name(self.shown.trace)

    @property
    def name(self) -> str:
        settings = self.shown.trace.settings
        start = "0, recorded" if self.number == 0 else str(self.number)
        prompt = first_words(self.shown.trace.prompt.text, PROMPT_CHARACTERS)
        return f"{start}: {self.draft}, {settings.draft_length}{settings.manner} · {prompt}"

    @property
    def link(self) -> str:
        if self.shown.asked is None:
            return f"./?{urlencode({'run': FIRST})}"
        request, preset = self.shown.asked
        return f"./?{urlencode(link_of(request, preset=preset, run=self.shown.stored_id or None))}"


def tries(watching: Watching) -> list[Try]:
    """The recorded first run, then the runs of the session, oldest first."""
    past = watching.past
    start = past.count - len(past.finished) + 1
    first = first_run()
    runs = [(0, first)] if first else []
    runs += list(enumerate(past.finished, start))
    return [Try(number, run, verdict_of_run(run.trace, watching.costs_of(run))) for number, run in runs]


def tried_figure(runs: Sequence[Try]) -> Figure:
    """Acceptance against measured speedup; a colour and a symbol for each draft."""
    drafts = list(dict.fromkeys(run.draft for run in runs))
    groups = [_points(draft, number, runs) for number, draft in enumerate(drafts)]
    x = axis("accepted / drafted", range=[0, 105], ticksuffix=" %")
    y = axis("measured speedup", rangemode="tozero", ticksuffix="×")
    return figure(groups, HEIGHT, x=x, y=y, showlegend=True, **level(1, "break-even 1×"))


def _points(draft: str, number: int, runs: Sequence[Try]) -> Part:
    own = [(run, run.verdict) for run in runs if run.draft == draft and run.verdict]
    color, symbol = COLORS[number % len(COLORS)], SYMBOLS[number % len(SYMBOLS)]
    speeds = [verdict.speedup for _, verdict in own]
    ends = [verdict.interval or (verdict.speedup, verdict.speedup) for _, verdict in own]
    marks = [symbol if verdict.trusted else f"{symbol}-open" for _, verdict in own]
    return scatter(
        figure_text(draft),
        [100 * (count(run.shown.trace.rounds).acceptance_rate or 0.0) for run, _ in own],
        speeds,
        "run %{text}: %{x:.0f} % accepted, %{y:.2f}×<extra></extra>",
        text=[str(run.number) for run, _ in own],
        mode="markers+text",
        textposition="middle right",
        marker={"symbol": marks, "size": 11, "color": color, "line": {"width": 2, "color": color}},
        error_y=interval(speeds, [low for low, _ in ends], [high for _, high in ends], color),
    )


COLUMNS: tuple[tuple[str, Callable[[Try], object]], ...] = (
    ("run", lambda run: str(run.number) if run.number else "0, recorded"),
    ("draft", lambda run: run.draft),
    ("draft length", lambda run: run.shown.trace.settings.draft_length),
    ("tokens a call", lambda run: count(run.shown.trace.rounds).tokens_per_target_call),
    ("accepted %", lambda run: _percent(count(run.shown.trace.rounds).acceptance_rate)),
    ("speedup", lambda run: run.verdict.speedup if run.verdict else None),
    ("95 % from", lambda run: run.verdict.interval[0] if run.verdict and run.verdict.interval else None),
    ("95 % to", lambda run: run.verdict.interval[1] if run.verdict and run.verdict.interval else None),
    ("time trusted", lambda run: ("yes" if run.verdict.trusted else "no") if run.verdict else None),
    ("prompt", lambda run: first_words(run.shown.trace.prompt.text, PROMPT_CHARACTERS)),
    ("temperature", lambda run: run.shown.trace.settings.temperature),
    ("target", lambda run: short_name(run.shown.trace.target.name)),
)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def tried_csv(runs: Sequence[Try], address: str) -> str:
    """The table as CSV, each run with its link."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow([*(name for name, _ in COLUMNS), "link"])
    for run in runs:
        writer.writerow([*map(_cell, _cells(run)), address + run.link.removeprefix("./")])
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return safe_cell(value)
    return round(value, 4) if isinstance(value, float) else value


def _cells(run: Try) -> Iterator[object]:
    return (value(run) for _, value in COLUMNS)


def show_tried(watching: Watching, address: str, bring_back: Callable[[Shown], None]) -> None:
    """The list; `bring_back` shows a run again, and `address` is where links lead."""
    runs = tries(watching)
    with st.container(key="tried"):
        st.caption(ABOUT)
        left, right = st.columns([2, 3], gap="medium")
        with left:
            alt = "Points: accepted share of drafted tokens against measured speedup, one for each run of this session."
            chart(tried_figure(runs), key="tried_points", alt=alt)
        with right:
            formats = (
                numbers("%.2f", "tokens a call", "95 % from", "95 % to")
                | numbers("%.2f×", "speedup")
                | numbers("%.0f", "accepted %")
            )
            rows = {name: [value(run) for run in runs] for name, value in COLUMNS}
            data_table(rows, "tried_table", "The runs of this session.", formats, height=min(250, 38 + 35 * len(runs)))
            _choose(watching, runs, bring_back)
        download("Save the list as CSV", lambda: tried_csv(runs, address), "specviz-tried.csv", key="tried_csv")


def _choose(watching: Watching, runs: Sequence[Try], bring_back: Callable[[Shown], None]) -> None:
    chosen = st.selectbox("A run", runs, index=len(runs) - 1, format_func=lambda run: run.name, key="tried_run")
    if chosen is None:
        return
    show, pin, link = st.columns(3)
    show.button("Show it again", key="tried_show", on_click=lambda: bring_back(whole(chosen)), width="stretch")
    if watching.pinned and watching.pinned.run_id == chosen.shown.run_id:
        pin.button("Stop comparing", key="tried_unpin", on_click=_pin, args=(watching, None), width="stretch")
    else:
        pin.button("Compare with it", key="tried_pin", on_click=_pin, args=(watching, chosen), width="stretch")
    link.link_button("Open its link", f"{chosen.link}&{urlencode(view_in_link())}", width="stretch")


def _pin(watching: Watching, chosen: Try | None) -> None:
    watching.pinned, watching.listed = whole(chosen) if chosen else None, False


def whole(run: Try) -> Shown:
    """The run with all that explains it, where the server still has it; else what its figures need."""
    stored = engine().stored_run(run.shown.stored_id) if run.shown.asked and run.shown.stored_id else None
    if stored is None:
        return run.shown
    found = measured_run(stored.result, run.shown.run_id, "stored", run.shown.asked)
    return replace(found, linked=run.shown.linked)
