"""The worksheet: its calculator, and its tabs: predicted against measured, machines, production, exercises."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.judge import EVEN, LOOKS, UNTOLD, judge
from specviz.core.languages import cache_by_language, current_language
from specviz.core.metrics import Costs
from specviz.core.names import pair_name
from specviz.core.numbers import localize, percent, times
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import Trace
from specviz.data.measured.batches import recorded_batches
from specviz.data.measured.first_run import first_trace
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED
from specviz.data.texts import join_choices, page_texts
from specviz.measure.worksheet import model as terms
from specviz.measure.worksheet import serving
from specviz.measure.worksheet import starts as begin
from specviz.measure.worksheet.exercises import exercises, sheet, to_html
from specviz.measure.worksheet.model import measured_passes
from specviz.measure.worksheet.runs import MeasuredRun, collect_laps, collect_rows, collect_runs, gap_of
from specviz.measure.worksheet.serving import Production
from specviz.ui.race.race_page import RaceState, recorded_race
from specviz.ui.session import Session
from specviz.ui.shared import parts
from specviz.ui.shared.escaping import plain
from specviz.ui.watch.watch_state import WatchState
from specviz.ui.when_it_helps.sweeps import HERE, WhenItHelpsState, recorded_studies, studied
from specviz.ui.worksheet import controls as sliders
from specviz.ui.worksheet.figures import gap_figure, positions_figure, speedup_map

SAYS = page_texts("worksheet")


@dataclass(frozen=True, slots=True)
class KnownFigures:
    finished: list[Trace]  # the Watch page's runs
    count: int  # of them, also those that the server has no longer, and of files
    costs: dict[tuple[str, str], Costs]
    measured: list[MeasuredRun]  # everything with a speedup; of a page without own measurements, the recorded ones
    starts: list[begin.WorksheetStart]
    last: Trace  # the visitor's newest run, or the recorded one before there is any
    last_source: str


@cache_by_language
def recorded_runs() -> tuple[list[MeasuredRun], list[MeasuredRun]]:
    """Of the recorded race and sweep: the same for every visitor."""
    return collect_laps(recorded_race(), True), collect_rows(recorded_studies()[:1], True)


def known_runs(visitor: Session) -> KnownFigures:
    watching = visitor.of(WatchState)
    past, costs = watching.past, {pair: found.costs for pair, found in watching.costs.found.items()}
    finished, recorded, raced = [shown.trace for shown in past.finished], first_trace(), visitor.of(RaceState).laps
    swept = studied(visitor.of(WhenItHelpsState), HERE)
    recorded_laps, recorded_rows = recorded_runs()
    measured = [
        *(collect_runs(finished, False) or collect_runs([recorded], True)),
        *(collect_laps(raced, False) or recorded_laps),
        *(collect_rows(swept, False) or recorded_rows),
    ]
    measured.sort(key=lambda each: each.recorded)
    found = begin.starts(finished, recorded, costs, {lap.name: lap.both for lap in raced}, past.opened)
    if past.opened and past.opened_as == past.count and (file := begin.start_of_file(past.opened)):
        found.sort(key=lambda start: start.label != file.label)  # it was opened after the last run
    batches = recorded_batches()
    passes = measured_passes(batches)
    for at, each in enumerate(found):  # of the target whose passes over several texts were measured
        if each.target == passes.target:
            found[at] = replace(each, model=replace(each.model, passes=passes))
    every = [*found, *begin.batch_starts(batches)]
    source = SAYS["last_recorded"].format(machine=recorded.recorded_on.machine)
    source, last = (SAYS["last_yours"], finished[-1]) if finished else (source, recorded)
    return KnownFigures(finished, past.count + past.files, costs, measured, every, last, source)


def show_gaps(known: KnownFigures) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        if split := [(run, run.gap) for run in known.measured if run.gap]:
            names = [SAYS["gap_of"].format(run=run) for run, _ in split]
            look: parts.Options = {"format_func": names.__getitem__, "key": "worksheet_gap_of"}
            at = st.selectbox(SAYS["run_to_explain"], range(len(split)), **look)
            gap = split[at][1]
            st.markdown(gap.sentence)
            parts.chart(gap_figure(gap), "worksheet_gap")
            st.caption(SAYS["gap"])
        else:
            parts.notices([SAYS["no_run"]], "info")
    with right:
        rows = [
            {
                "γ": each.terms.draft_length,
                "α": each.terms.alpha,
                "formula": each.terms.ideal,
                "with v, o": each.terms.speedup,
                "by position": each.gap.by_position if each.gap else None,
                "measured": each.measured,
                "from": each.source,
                "of": each.label,
            }
            for each in known.measured
        ]
        columns = parts.numbers(parts.TIMES, "formula", "with v, o", "by position", "measured")
        columns |= parts.numbers("%d", "γ") | parts.numbers("%.2f", "α")
        parts.data_table(rows, "worksheet_gaps", columns=columns)


def show_exercises(known: KnownFigures) -> None:
    trace = known.last
    if not (found := exercises(trace)):
        return parts.notices([SAYS["no_run"]], "info")
    about = {"count": len(found), "pair": plain(pair_name(trace)), "source": plain(known.last_source)}
    st.markdown(SAYS["exercises"].format(**about))
    with st.container(horizontal=True, key="worksheet_downloads"):
        for name, key in (("sheet", False), ("answer-key", True)):
            made = sheet(trace, SAYS["exercises_title"], known.last_source, key=key)
            parts.download(SAYS[f"save_{name}"], made, f"specviz-{name}.html", f"worksheet_{name}", "print")
    _list([each.question for each in found])
    with st.expander(SAYS["save_answer-key"]):
        _list([each.answer for each in found])


def _list(texts: list[str]) -> None:
    st.html(f"<ol>{''.join(f'<li>{to_html(text)}</li>' for text in texts)}</ol>")


def calculator(worksheet: sliders.Worksheet, known: KnownFigures) -> None:
    outcome = st.container(key="worksheet_outcome")
    inputs, picture = st.columns([5, 8], gap="large")
    with inputs:
        model = sliders.controls(worksheet, known.starts, known.count)
    start = sliders.chosen_start(worksheet, known.starts)
    alone = sliders.counters_alone(worksheet, start)
    with outcome:
        _verdict(model, alone)
        changed = sliders.changes(start)
        said = SAYS["loaded_changed" if changed else "loaded"]
        said = said.format(start=plain(start.in_words), changes=join_choices(changed, "and"))
        st.caption(f"{_not_on_map(alone) if alone else ''} {said}".strip())
        if model.batch > 1 and not alone:
            st.info(_batch(model, start), icon=":material/groups:")
    with picture:
        loaded = start.model if changed and not start.costs_only else None  # where it is not that of the sliders
        parts.chart(speedup_map(model, known.measured, loaded), "worksheet_map")
    with st.expander(SAYS["all_terms"]):
        inputs, outcome = st.columns([5, 8], gap="large")
        asked = sliders.FORM.asked
        with inputs:
            sliders.more_controls()
            if model.batch == 1 and (said := _batch(model, start)):
                st.caption(said)
            st.caption(plain(terms.batch_shape(model)))
        with outcome:
            said = terms.counts_sentence(asked.drafted, asked.accepted, asked.counted_at)
            parts.show_words(said, "worksheet-counts")
            st.markdown(terms.symbols(model))


def _verdict(model: terms.WorksheetModel, alone: Production | None) -> None:
    """Counters alone, without the cost of a round, have a range and no verdict. The text below takes it from there."""
    said, sentence = serving.verdict(alone) if alone else ("", "")
    if alone and alone.speedup is not None:
        look = judge(alone.speed, None).look
        below = SAYS["steps"].format(steps=alone.tokens)
        shown = [("speedup", times(alone.speed), ""), ("pays_below", below, "below_help")]
        if not _not_on_map(alone):
            shown.append(("best_length", f"{model.best} ({times(model.best_speedup)})", ""))
    elif alone and alone.never_pays:
        look = LOOKS[EVEN]
        shown = [("at_most", times(alone.ceiling), "most_help"), ("speedup", alone.speeds, "range_help")]
    elif alone:
        look = LOOKS[UNTOLD]
        shown = [
            ("speedup", alone.speeds, "range_help"),
            ("pays_below", SAYS["steps"].format(steps=alone.tokens), "below_help"),
            ("best_length", alone.lengths, "range_help"),
        ]
    else:
        judged = judge(model.terms.speedup, None, modelled=True)
        look, said = judged.look, SAYS["verdict"].format(headline=judged.headline)
        sentence = terms.verdict_sentence(model)
        even = model.terms.break_even
        shown = [
            ("speedup", times(model.terms.speedup), ""),
            ("pays_above", SAYS["no_rate"] if even is None else percent(even), "needed_help"),
            ("best_length", f"{model.best} ({times(model.best_speedup)})", ""),
        ]
    st.markdown(f":material/{look.icon}: :{look.color}[**{said}**]")
    parts.show_words(sentence, "worksheet-verdict")
    with st.container(horizontal=True, gap="medium", key="worksheet_figures"):
        for label, value, explanation in shown:
            st.metric(SAYS[f"figure_{label}"], value, help=SAYS.get(explanation), width="content")


def _batch(model: terms.WorksheetModel, start: begin.WorksheetStart) -> str:
    return terms.batch_sentence(model, measured=start.named_costs.contain_load)


def show_machines(known: KnownFigures) -> None:
    rows = [dict(zip(MACHINE_COLUMNS, cells, strict=True)) for cells in (*_here(known), *_published())]
    parts.data_table(rows, "worksheet_machines", columns=FORMATS)
    if not known.costs:
        st.caption(SAYS["no_machine"])
    st.caption(SAYS["machines"])


FORMATS = {
    **parts.numbers("%d", "γ"),
    **parts.numbers("%.2f", "c", "v(γ+1)", "o"),
    **parts.texts("α"),  # some are in brackets
    **parts.numbers(parts.TIMES, "modelled", "measured"),
    "source": st.column_config.LinkColumn(display_text=r"https://(?:github\.com/)?(.*?)(?:/blob/.*)?$"),
}
TableCells = tuple[str | float | None, ...]
MACHINE_COLUMNS = ("pair", "task", "γ", "c", "α", "modelled", "measured", "v(γ+1)", "o", "machine", "source")


def _here(known: KnownFigures) -> Iterator[TableCells]:
    for pair, costs in known.costs.items():
        start, trace = begin.calibrated(pair, costs, known.finished)
        model, gap = start.model, gap_of(trace) if trace else None
        task = SAYS["task_calibrated"].format(interval=begin.describe_interval(costs, model.draft_length))
        alpha, modelled = (localize(model.alpha, ".2f"), model.terms.speedup) if trace else (parts.NOT_MEASURED, None)
        speeds = modelled, gap.measured if gap else None, model.verification, model.overhead
        where = trace.recorded_on.machine if trace else SAYS["this_machine"]
        yield begin.describe_pair(pair), task, model.draft_length, model.cost_ratio, alpha, *speeds, where, ""


def _published() -> Iterator[TableCells]:
    for run in PUBLISHED:
        alpha = localize(run.alpha, ".2f") if run.alpha is not None else f"({localize(run.explaining_alpha, '.2f')})"
        shown = run.pair, f"{run.task}, {run.temperature}", run.draft_length, run.cost_ratio, alpha
        yield *shown, run.modelled_speedup, run.speedup, None, None, run.machine, run.url
    for found in GPU_ROUNDS:
        pair, task = f"{found.method} → {found.target}", SAYS["task_rounds"].format(rounds=found)
        yield pair, task, None, None, parts.NOT_MEASURED, None, found.speedup, None, None, SAYS["one_gpu"], found.url
    for costs in GPU_COSTS:
        length = begin.OPENING_DRAFT_LENGTH if costs.verification else None
        check = begin.start_of_gpu(costs).verification_at(begin.OPENING_DRAFT_LENGTH)
        speeds = parts.NOT_MEASURED, None, None, check, None
        yield costs.pair, SAYS["task_costs"], length, costs.cost_ratio, *speeds, costs.machine, costs.url


def show_production(worksheet: sliders.Worksheet, starts: Sequence[begin.WorksheetStart]) -> None:
    box, verdict = st.columns(2, gap="large")

    def changed() -> None:
        """The page starts from what was pasted, so that its upper part speaks of the same counters."""
        found, text = None, sliders.FORM.read().paste
        with suppress(InputError):
            found = _pasted(worksheet, starts)
        if found and not _not_on_map(found):
            costs = sliders.costs_named(sliders.chosen_start(worksheet, starts))
            sliders.add_to_map(worksheet, serving.production_start(found, costs), found)
            worksheet.counted_text = text
        elif found or worksheet.counted_text != text:
            sliders.remove_from_map(worksheet, starts)  # what was read of another text
            worksheet.counted, worksheet.counted_text = found, text

    with box:
        sliders.FORM.draw("paste", height=200, max_chars=parts.MOST_TYPED, on_change=changed, placeholder=SAYS["paste"])
        st.caption(SAYS["read"])
        # None even if the state holds a number: a field with a default of its own could not be emptied
        field: parts.Options = {"key": "worksheet_speedup", "help": SAYS["speedup_field_help"], "on_change": changed}
        st.number_input(SAYS["speedup_field"], 0.0, 1e9, None, placeholder=SAYS["field_empty"], **field)
    with verdict:
        try:
            shown = _pasted(worksheet, starts)
        except InputError as error:
            return parts.notices([str(error)], "error")
        if shown is None:
            return parts.notices([SAYS["paste_first"]], "info")
        _show(worksheet, shown, sliders.costs_named(sliders.chosen_start(worksheet, starts)))


def _not_on_map(found: serving.Production) -> str:
    """Why the map cannot show these counters; empty where it can: rounds that all draft, up to the end of its axis."""
    if found.share < 1:
        return SAYS["not_for_map"]
    return SAYS["too_long_for_map"].format(most=MAX_DRAFT_LENGTH) if found.draft_length > MAX_DRAFT_LENGTH else ""


def _pasted(worksheet: sliders.Worksheet, starts: Sequence[begin.WorksheetStart]) -> serving.Production | None:
    """What the fields hold; None for no text, an InputError where it cannot be used."""
    asked = sliders.FORM.read()
    if not asked.paste.strip():
        return None
    counters = worksheet.read(asked.paste, current_language())
    if isinstance(counters, str):
        raise InputError(counters)
    costs = sliders.model_now(worksheet, sliders.chosen_start(worksheet, starts))
    return serving.production(counters, costs, asked.speedup)


def _show(worksheet: sliders.Worksheet, found: serving.Production, costs: begin.CostsOrigin) -> None:
    st.markdown(serving.headline(found, replace(costs, name=plain(costs.name))))
    st.markdown(serving.advice(found))
    if found.speedup is None:
        st.caption(SAYS["chosen"] if costs.are_told else SAYS["not_yours"].format(plain(costs.name)))
    notes = [found.counters.reading, found.counters.convention, *found.counters.notes]
    st.caption(" ".join(plain(note) for note in notes if note))
    if found.counters.survival:
        parts.chart(positions_figure(found.counters.position_rates, found.counters.survival), "worksheet_positions")
    start = serving.production_start(found, costs)
    if why_not := _not_on_map(found):
        st.caption(why_not)
    elif sliders.is_shown(start):
        st.caption(SAYS["on_map"])
    else:
        parts.button(SAYS["put_on_map"], "worksheet_use", sliders.add_to_map, worksheet, start, found)
