"""The family of drafting methods on one screen: a row for each, with its recorded run."""

from html import escape

import streamlit as st

from specviz.data.lessons.family import FAMILY, Member
from specviz.data.lessons.story import Words
from specviz.data.measured_methods import ALL, AtBest, MeasuredMethods, stored_methods
from specviz.ui.learn.page import paragraph
from specviz.ui.learn.state import Learning

TITLES: dict[Words, tuple[str, ...]] = {
    "technical": ("method", "what the draft knows", "what it costs", "measured", "who uses it", "lossless"),
    "plain": ("method", "what is known", "what it takes", "measured", "who uses it", "same text"),
}
INTRODUCTION: dict[Words, str] = {
    "technical": "A small draft model is the beginning. What people serve with today are heads on the target, prompt "
    "lookup and trees. The first five rows are ways to make guesses, the next three change how guesses are chosen, "
    "arranged or judged, and the last row gives up the target’s distribution for speed.",
    "plain": "An intern who knows the text is the beginning. Today many have the editor’s notes as well. The first "
    "five rows are ways to suggest words. The next three change how the words are chosen, arranged or judged. With the "
    "last one the text is no longer the editor’s own.",
}
NOT_MEASURED = "–"


def show_family(state: Learning) -> None:
    """All methods in a table, and where its figures are from."""
    st.markdown("## The family: who drafts, and how")
    paragraph(INTRODUCTION[state.words], "family", state.words)
    measured = stored_methods()
    st.html(family_table(measured, state.words))
    if measured:
        st.caption(_source(measured, state.words))


def family_table(measured: MeasuredMethods | None, words: Words) -> str:
    """The table as HTML, whose rows become cards on a phone; our own texts and figures, escaped."""
    head = "".join(f'<th role="columnheader" scope="col">{escape(title)}</th>' for title in TITLES[words])
    rows = "".join(_row(member, measured, words) for member in FAMILY)
    return (
        '<table class="family" role="table"><thead role="rowgroup">'
        f'<tr role="row">{head}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
    )


def _row(member: Member, measured: MeasuredMethods | None, words: Words) -> str:
    title, name = escape(member.title.in_(words)), member.name
    href, label = (f"./?run={name}", "see its run") if name else ("./proof", "see it fail")
    link = f'<a href="{href}" aria-label="{title}: {label}">{label}</a>'
    texts = [
        member.knows.in_(words),
        member.costs.in_(words),
        figures_of(best_of(member, measured), words),
        member.used.in_(words),
        member.lossless.in_(words),
    ]
    labelled = zip(TITLES[words][1:], texts, strict=True)
    cells = "".join(f'<td role="cell" data-label="{escape(label)}">{escape(text)}</td>' for label, text in labelled)
    kind = "" if name else ' class="lossy"'
    return f'<tr role="row"{kind}><th role="rowheader" scope="row">{title} {link}</th>{cells}</tr>'


def best_of(member: Member, measured: MeasuredMethods | None) -> AtBest | None:
    """The method at its best settings on all kinds of text, in the first part of the file that has it."""
    parts = measured.temperatures if measured and member.measured else []
    found = [method for part in parts if (method := part.find(member.measured))]
    return found[0].kinds[ALL].best if found else None


def figures_of(best: AtBest | None, words: Words) -> str:
    """Tokens per target call, the cost of a draft step, and the speedup."""
    if best is None:
        return NOT_MEASURED
    per_call, speedup = f"{best.costs.tokens_per_target_call:.2f}", f"{best.speedup:.2f}"
    if words == "plain":
        return f"{per_call} words a look, {speedup} times as fast"
    step = best.costs.draft_step
    cost = "" if step is None else f", c = {step:.2f}"
    return f"{per_call} a call{cost}; {speedup}×"


def _source(measured: MeasuredMethods, words: Words) -> str:
    """Where the figures are from."""
    if words == "plain":
        return "Recorded figures, over many texts. “When it helps” has all of them, under “By method”."
    trial = "A short trial, to be replaced. " if measured.trial else ""
    return (
        f"{trial}Measured: tokens per target call, the cost c of a draft step in target steps, and the speedup over "
        f"the target alone. Recorded over {measured.prompts} prompts of each of four kinds of text, each at the "
        f"setting that did best on the others; greedy, the ways to choose and judge drafts at temperature 1. All "
        f"figures with their intervals: When it helps, By method."
    )
