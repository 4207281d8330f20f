"""The family of drafting methods on one screen: a row for each, with its recorded run."""

from html import escape

import streamlit as st

from specviz.core.drafters import READ_ON
from specviz.core.numbers import localize
from specviz.core.texts import write_day
from specviz.data.lessons.family import Member, family
from specviz.data.measured.measured_methods import ALL, BestSetting, MeasuredMethods, stored_methods
from specviz.data.texts import page_texts
from specviz.ui.learn.learn_page import LearnState
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import NOT_MEASURED, role_table

SAYS = page_texts("learn")
FIGURES = range(3, 6)  # the columns that hold one


def show_family(_: LearnState) -> None:
    measured = stored_methods()
    st.markdown(f"## {SAYS['family_title']}")
    st.html(family_table(measured))
    if measured:
        st.caption(SAYS["family"].format(prompts=measured.prompts, machine=plain(measured.machine.machine)))
    st.caption(SAYS["family_read"].format(day=write_day(READ_ON)))
    st.markdown(f"## {SAYS['served_title']}")
    titles = [title for column, title in enumerate(family().columns) if column not in FIGURES]
    st.html(role_table("served", titles, [_row(member) for member in family().methods if is_elsewhere(member)]))


def family_table(measured: MeasuredMethods | None) -> str:
    rows = [_row(member, measured) for member in family().methods if not is_elsewhere(member)]
    return role_table("family", family().columns, rows)


def is_elsewhere(member: Member) -> bool:
    """Whether other programs have it, and this one has neither a run of it nor a test that it fails."""
    return not member.name and not member.lossy


def _row(member: Member, measured: MeasuredMethods | None = None) -> str:
    title = escape(member.title)
    if member.name:
        href, label = f"./?run={member.name}", SAYS["see_run"]
    else:
        href, label = ("./same_quality", SAYS["see_fail"]) if member.lossy else (member.url, SAYS["read_paper"])
    link = f'<a href="{escape(href)}" aria-label="{title}: {label}">{label}</a>'
    figures = [] if is_elsewhere(member) else zip(FIGURES, figures_of(*best_of(member, measured)), strict=True)
    texts = {1: member.knows, 2: member.costs, **dict(figures)}
    texts |= {FIGURES.stop: member.used, FIGURES.stop + 1: member.lossless}
    cells = ""
    for column, text in texts.items():
        shape, label = ' class="number"' if column in FIGURES else "", family().columns[column]
        cells += f'<td role="cell"{shape} data-label="{escape(label)}">{escape(text)}</td>'
    kind = ' class="lossy"' if member.lossy else ""
    return f'<tr role="row"{kind}><th role="rowheader" scope="row">{title} {link}</th>{cells}</tr>'


def best_of(member: Member, measured: MeasuredMethods | None) -> tuple[BestSetting | None, BestSetting | None]:
    """The method at its best settings on all kinds of text, in the first part of the file that has it.

    If that part is not the greedy one, then also its drafter as it is usually used, in the same part: figures of two
    temperatures cannot be compared.
    """
    for part in measured.temperatures if measured and member.measured else []:
        if method := part.find(member.measured):
            usual = part.find(method.drafter) if part.temperature else None
            return method.kinds[ALL].best, usual.kinds[ALL].best if usual else None
    return None, None


def figures_of(best: BestSetting | None, beside: BestSetting | None = None) -> tuple[str, ...]:
    """Tokens per target call, the cost of a draft step, and the speedup; in brackets those of the usual way."""
    if best is None:
        return NOT_MEASURED, NOT_MEASURED, NOT_MEASURED
    figures = best.costs.tokens_per_target_call, best.costs.draft_step, best.speedup
    written = tuple(NOT_MEASURED if figure is None else localize(figure, ".2f") for figure in figures)
    others = figures_of(beside) if beside else ()
    return tuple(f"{own} ({other})" for own, other in zip(written, others, strict=True)) if others else written
