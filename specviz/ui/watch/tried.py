"""What you tried: this session's runs as points and as a table; one of them shown again, or compared with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from specviz.core.csv_cells import csv_of
from specviz.core.judge import Judgement
from specviz.core.metrics import count, estimated_at, span
from specviz.core.names import machine_in_words, prompt_words, short_name
from specviz.core.numbers import percent_sign, times
from specviz.core.verdict import Verdict, doubts, verdict_of_run
from specviz.data.links.permalink import link_of
from specviz.data.measured.quiet_costs import known_costs
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.player.data import draft_name
from specviz.service.run_store import ID
from specviz.ui.shared.address import view_in_link
from specviz.ui.shared.below_streamlit import visitor_left
from specviz.ui.shared.components import keep
from specviz.ui.shared.engine import engine
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import button, chart, download, html_table, numbers
from specviz.ui.watch.watch_state import FIRST, LIST_BYTES, MAX_RUNS, ShownRun, WatchState, first_run, stored_run

SAYS = page_texts("watch")
HEIGHT = 252
PROMPT_CHARACTERS = 40
ID_CHARACTERS = 17  # of a run's id and the space behind it
SHARES = (-4.0, 105.0)  # %: the axis of acceptance; a mark at 0 is drawn whole
LEAST_TOP, WILD = 1.5, 3.0  # of the speed axis: its end at least; times not trusted do not stretch it beyond


@dataclass(frozen=True, slots=True)
class TriedRun:
    number: int  # 0: the recorded first run
    shown: ShownRun
    verdict: Verdict | None
    estimated: Judgement | None = None  # the speedup at costs of a quiet moment
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
        return f"./?{urlencode(link_of(self.shown.asked, run=self.shown.stored_id or None))}"


def tries(watching: WatchState) -> list[TriedRun]:
    """The recorded first run, then the runs of the session, oldest first."""
    past = watching.past
    runs = [(0, first_run()), *enumerate(past.finished, past.count - len(past.finished) + 1)]
    doubted = [costs for _, run in runs if (costs := watching.costs_of(run)) and doubts(run.trace, costs)]

    def tried(number: int, run: ShownRun) -> TriedRun:
        costs = watching.costs_of(run)
        known = known_costs(run.trace, None if costs in doubted else costs)
        estimated = estimated_at(run.trace.rounds, known.costs) if known else None
        return TriedRun(number, run, verdict_of_run(run.trace, costs), estimated, known.place if known else None)

    return [tried(*each) for each in runs]


def tried_figure(runs: Sequence[TriedRun]) -> plot.Figure:
    """Acceptance against measured speedup; a colour and a symbol for each draft."""
    groups, ends = [], [LEAST_TOP]
    for number, draft in enumerate(dict.fromkeys(run.draft for run in runs)):
        own = [(run, run.verdict) for run in runs if run.draft == draft and run.verdict]
        color, symbol = plot.COLORS[number % len(plot.COLORS)], plot.SYMBOLS[number % len(plot.SYMBOLS)]
        tops = [(run, end) for run, its in own for end in (its.speedup, (its.interval or (0.0, 0.0))[1])]
        ends += [end for run, end in tops if not run.busy or end <= WILD]
        groups.append(
            plot.scatter(
                plot.figure_text(draft),
                [100 * (count(run.shown.trace.rounds).acceptance_rate or 0.0) for run, _ in own],
                [verdict.speedup for _, verdict in own],
                SAYS["tried_hover"],
                customdata=[(run.number, verdict.shown) for run, verdict in own],
                mode="markers",
                marker=plot.marker([f"{symbol}-open" if run.busy else symbol for run, _ in own], 11, color),
                error_y=plot.intervals([verdict for _, verdict in own], color),
            )
        )
    x = plot.axis(SAYS["tried_accepted"], range=[*SHARES], ticksuffix=percent_sign())
    y = plot.axis(SAYS["tried_speedup"], range=[0, 1.1 * max(ends)], ticksuffix="×")
    # Its name is in the legend: a label beside the line lies on bars.
    line = plot.scatter(SAYS["tried_even"], SHARES, [1, 1], mode="lines", line=plot.DOTTED, hoverinfo="skip")
    return plot.figure([line, *groups], HEIGHT, x=x, y=y, showlegend=True)


def tried_row(run: TriedRun) -> dict[str, Any]:
    """What a saved list holds of a run."""
    trace, verdict, estimated = run.shown.trace, run.verdict, run.estimated
    counts, none = count(trace.rounds), (None, None)
    low, high = (verdict and verdict.interval) or none
    least, most = (estimated and estimated.interval) or none
    return {
        "run": str(run.number) if run.number else "0, recorded",
        "draft": run.draft,
        "draft length": trace.settings.draft_length,
        "tokens a round": counts.tokens_per_target_call,
        "accepted %": None if counts.acceptance_rate is None else 100 * counts.acceptance_rate,
        "speedup": verdict and verdict.speedup,
        "95 % from": low,
        "95 % to": high,
        "time trusted": verdict and ("yes" if verdict.trusted else "no"),
        "prompt": prompt_words(trace, PROMPT_CHARACTERS),
        "temperature": trace.settings.temperature,
        "target": short_name(trace.target.name),
        "at calibrated costs": estimated and estimated.speedup,
        "at calibrated costs from": least,
        "at calibrated costs to": most,
        "calibrated on": run.costs_of,
    }


def shown_row(run: TriedRun) -> dict[str, Any]:
    """What the list on screen shows of a run; first what a phone has room for."""
    row, verdict, estimated = tried_row(run), run.verdict, run.estimated
    return {
        "run": str(run.number),
        "pair": f"{run.draft} → {row['target']}",
        "draft length": row["draft length"],
        "accepted %": row["accepted %"],
        "speedup": verdict and times(verdict.speedup, doubt="?" * run.busy),
        "95 %": verdict and verdict.interval and span(verdict.interval),
        "estimated": estimated and estimated.shown,
        **{name: row[name] for name in ("tokens a round", "temperature", "prompt")},
    }


def tried_csv(runs: Sequence[TriedRun], address: str) -> str:
    from pandas import DataFrame  # slow, and only who saves the list needs it

    rows = [tried_row(run) | {"link": address + run.link.removeprefix("./")} for run in runs]
    return csv_of(DataFrame(rows).round(4))


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
        found = [*engine().store.each(newest_first, LIST_BYTES)][::-1]
        past.bring_back([stored_run(run) for run in found if run])
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
        rows = [*map(shown_row, runs)]
        formats = numbers("%.2f", "tokens a round") | numbers("%.0f", "accepted %") | numbers("%g", "temperature")
        table = html_table(rows, formats)
        label = escape(SAYS["runs_of_visit"])
        st.html(f'<div class="tried" role="region" aria-label="{label}" tabindex="0">{table}</div>')
        left, right = st.columns(2, gap="medium")
        with left:
            chart(tried_figure(runs), "tried_points")
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
    stored = engine().store.get(run.shown.stored_id) if run.shown.asked and run.shown.stored_id else None
    if stored is None:
        return run.shown
    found = stored_run(stored)
    return replace(found, run_id=run.shown.run_id, asked=run.shown.asked, linked=run.shown.linked)
