"""The family of drafting methods on one screen: a row for each, with its recorded run."""

from html import escape

import streamlit as st

from specviz.data.lessons.family import Member, family
from specviz.data.measured_methods import ALL, AtBest, MeasuredMethods, stored_methods
from specviz.data.texts import Words
from specviz.ui.learn.learn_page import paragraph
from specviz.ui.learn.learn_state import Learning

NOT_MEASURED = "–"
FIGURES = range(2, 5)  # the cells of a row that hold one


def show_family(state: Learning) -> None:
    """All methods in a table, and where its figures are from."""
    st.markdown("## The family: who drafts, and how")
    paragraph(family().introduction.in_(state.words), "family", state.words)
    measured = stored_methods()
    st.html(family_table(measured, state.words))
    if measured:
        st.caption(_source(measured, state.words))


def family_table(measured: MeasuredMethods | None, words: Words) -> str:
    """The table as HTML, whose rows become cards on a phone; our own texts and figures, escaped."""
    head = "".join(f'<th role="columnheader" scope="col">{escape(title)}</th>' for title in _titles(words))
    rows = "".join(_row(member, measured, words) for member in family().methods)
    return (
        '<table class="family" role="table"><thead role="rowgroup">'
        f'<tr role="row">{head}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
    )


def _titles(words: Words) -> list[str]:
    return [title.in_(words) for title in family().columns]


def _row(member: Member, measured: MeasuredMethods | None, words: Words) -> str:
    title, name = escape(member.title.in_(words)), member.name
    href, label = (f"./?run={name}", "see its run") if name else ("./proof", "see it fail")
    link = f'<a href="{href}" aria-label="{title}: {label}">{label}</a>'
    texts = [
        member.knows.in_(words),
        member.costs.in_(words),
        *figures_of(best_of(member, measured)),
        member.used.in_(words),
        member.lossless.in_(words),
    ]
    labelled = zip(_titles(words)[1:], texts, strict=True)
    cells = "".join(_cell(label, text, figure=place in FIGURES) for place, (label, text) in enumerate(labelled))
    kind = "" if name else ' class="lossy"'
    return f'<tr role="row"{kind}><th role="rowheader" scope="row">{title} {link}</th>{cells}</tr>'


def _cell(label: str, text: str, *, figure: bool) -> str:
    shape = ' class="number"' if figure else ""
    return f'<td role="cell"{shape} data-label="{escape(label)}">{escape(text)}</td>'


def best_of(member: Member, measured: MeasuredMethods | None) -> AtBest | None:
    """The method at its best settings on all kinds of text, in the first part of the file that has it."""
    parts = measured.temperatures if measured and member.measured else []
    found = [method for part in parts if (method := part.find(member.measured))]
    return found[0].kinds[ALL].best if found else None


def figures_of(best: AtBest | None) -> tuple[str, str, str]:
    """Tokens per target call, the cost of a draft step, and the speedup."""
    if best is None:
        return NOT_MEASURED, NOT_MEASURED, NOT_MEASURED
    step = best.costs.draft_step
    cost = NOT_MEASURED if step is None else f"{step:.2f}"
    return f"{best.costs.tokens_per_target_call:.2f}", cost, f"{best.speedup:.2f}"


def _source(measured: MeasuredMethods, words: Words) -> str:
    if words == "plain":
        return "Recorded figures, over many texts; 1 is as fast as the editor alone. “When it helps” has all of them."
    trial = "A short trial, to be replaced. " if measured.trial else ""
    return (
        f"{trial}Measured: the cost c is in target steps, the speedup is over the target alone. Recorded over "
        f"{measured.prompts} prompts of each of four kinds of text, each at the setting that did best on the others; "
        f"greedy, the ways to choose and judge drafts at temperature 1. All figures with their intervals: When it "
        f"helps, By method."
    )
