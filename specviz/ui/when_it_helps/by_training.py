"""How a head's acceptance grew with its training, on a chat model: counted, not timed."""

import streamlit as st

from specviz.core.numbers import localize, percent
from specviz.data.measured.chat_head import ALL, SHOWN_AT, ChatHead, TrainingPoint, stored_chat_head
from specviz.data.texts import page_texts
from specviz.ui.shared import figures as plot

SAYS = page_texts("when_it_helps")


def show_by_training() -> None:
    found = stored_chat_head()
    if found is None:
        return
    st.markdown(SAYS["training_title"])
    left, right = st.columns(2, gap="medium")
    with left:
        plot.chart(accepted_figure(found), "training_accepted")
        st.markdown(growth(found))
    with right:
        plot.chart(kinds_figure(found), "training_kinds")
        st.markdown(ways(found))


def growth(found: ChatHead) -> str:
    first, last = found.heads[0], found.heads[-1]
    tenth = min(found.heads, key=lambda point: abs(10 * point.tokens_seen - last.tokens_seen))
    return SAYS["training"].format(
        target=found.target,
        first=localize(_first_guess(first), ".2f"),
        tokens=localize(last.tokens_seen, ","),
        last=localize(_first_guess(last), ".2f"),
        tenth=localize(tenth.tokens_seen, ","),
        tenfold=localize(_first_guess(last) - _first_guess(tenth), ".2f"),
        words=percent(last.answers_in_words),
    )


def ways(found: ChatHead) -> str:
    last = found.heads[-1]
    every = {"lookup": found.lookup, "head": last.head, "both": last.both}
    shown = {name: localize(way[SHOWN_AT][ALL].tokens_a_call, ".2f") for name, way in every.items()}
    return SAYS["training_ways"].format(length=SHOWN_AT, **shown)


def _first_guess(point: TrainingPoint) -> float:
    return point.head["1"][ALL].per_judgement


def accepted_figure(found: ChatHead) -> plot.Figure:
    parts = []
    for number, (name, length) in enumerate(((SAYS["first_guess"], "1"), (SAYS["any_guess"], SHOWN_AT))):
        shares = [point.head[length][ALL].per_judgement for point in found.heads]
        said = SAYS["hover_training"]
        parts.append(plot.scatter(name, [p.tokens_seen for p in found.heads], shares, said, **plot.look(number, 9)))
    x = plot.axis(SAYS["axis_training"], rangemode="tozero")
    return plot.figure(
        parts, 300, x=x, y=plot.axis(SAYS["axis_accepted"], tickformat=".0%", rangemode="tozero"), showlegend=True
    )


def kinds_figure(found: ChatHead) -> plot.Figure:
    last = found.heads[-1]
    ways = {SAYS["by_lookup"]: found.lookup, SAYS["by_head"]: last.head, SAYS["by_both"]: last.both}
    parts = []
    for number, (name, way) in enumerate(ways.items()):
        tokens = [way[SHOWN_AT][kind].tokens_a_call for kind in found.kinds]
        look = plot.look(number, 11) | {"mode": "markers"}
        parts.append(plot.scatter(name, tokens, found.kinds, SAYS["hover_kind"], **look))
    x = plot.axis(SAYS["axis_tokens"], rangemode="tozero")
    y = plot.axis(categoryorder="array", categoryarray=found.kinds[::-1])
    return plot.figure(parts, 300, x=x, y=y, showlegend=True)
