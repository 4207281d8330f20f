"""Your rule: three choices of pieces, what follows from them, and the draws of a rule that a student wrote."""

from dataclasses import asdict
from typing import Any, cast, get_args

import streamlit as st

from specviz.data.lessons.lab_words import lab_words
from specviz.data.texts import page_texts
from specviz.figures.parts import BLUE, HATCHED, ORANGE, Figure, axis, bars, figure
from specviz.measure.proof.findings import OwnRuleFinding, finding, judge_pieces
from specviz.measure.proof.rows import AcceptName, BonusName, Position, ReplaceName, piece_titles, rule_text, rule_texts
from specviz.ui.same_quality.outcomes import HEIGHT, badge, describe_request, show_outcome, token_label
from specviz.ui.same_quality.proof import FORM, Found, SameQualityState
from specviz.ui.shared.below_streamlit import DeltaGenerator
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import chart, choice, file_uploader

SAYS = page_texts("same_quality")
POSITIONS = page_texts("proof_positions")
GROUPS = {"accept": get_args(AcceptName), "replace": get_args(ReplaceName), "bonus": get_args(BonusName)}


def choose_pieces() -> DeltaGenerator:
    """The choices, and the room beside them for what follows."""
    rules = {rule.name: rule.title for rule in rule_texts() if rule.pieces}
    shown = next((rule.name for rule in rule_texts() if rule.pieces == FORM.read().pieces), None)
    key = f"same_quality_named-{shown}"

    def begin() -> None:
        named = st.session_state[key]
        if named and (pieces := rule_text(named).pieces):
            FORM.set(**asdict(pieces))

    more: dict[str, Any] = {"default": shown, "format_func": rules.__getitem__, "on_change": begin, "key": key}
    st.pills(SAYS["start_from"], list(rules), **more)
    left, right = st.columns([2, 4], gap="large")
    with right:
        columns, found = st.columns(2, gap="medium"), st.container()
    for column, (group, names) in zip([left, *columns], GROUPS.items(), strict=True):
        with column:
            FORM.draw(group, names, format_func=piece_titles()[group].__getitem__)
    return found


def show_enumerated(known: Found, room: DeltaGenerator) -> None:
    *_, rules = known.items
    found = judge_pieces(FORM.asked.pieces, rules)
    mark = ":material/check_circle: :blue" if found.lossless else ":material/cancel: :orange"
    word = SAYS["own_lossless" if found.lossless else "own_lossy"]
    with room:
        st.markdown(f"{badge(known.source)} {mark}[**{word}**] {plain(found.sentence)}")
        for mistake in found.mistakes:
            st.markdown(f":material/arrow_forward: {plain(mistake)}")
    places, tokens = st.columns(2, gap="medium")
    with places:
        chart(_places_figure(found, rules.guesses), "same_quality_own_places", alt=SAYS["own_places_alt"])
    with tokens:
        chart(_tokens_figure(found), "same_quality_own_tokens", alt=SAYS["own_tokens_alt"])
    st.caption(SAYS["own_places"].format(request=describe_request(known.request)))


def _places_figure(found: OwnRuleFinding, guesses: list[str]) -> Figure:
    labels = [*(f"{place}. {token_label(text)}" for place, text in enumerate(guesses, 1)), SAYS["bonus"]]
    above = max(0.1, 1.05 * max(found.distances))  # so that rounding does not fill the figure
    shown = bars("", [*range(len(labels))], found.distances, "%{y:.3f}<extra></extra>", marker={"color": ORANGE})
    x = axis(SAYS["axis_place"], tickvals=[*range(len(labels))], ticktext=labels)
    return figure([shown], HEIGHT, x=x, y=axis(SAYS["axis_from_target"], range=[0, above]))


def _tokens_figure(found: OwnRuleFinding) -> Figure:
    labels, places = [token_label(token.text) for token in found.tokens], [*range(len(found.tokens))]
    said = "%{y:.1%}<extra></extra>"
    shown = [
        bars(SAYS["own_probabilities"], places, [token.target for token in found.tokens], said, marker=HATCHED),
        bars(SAYS["your_rule_writes"], places, [token.written for token in found.tokens], said, marker={"color": BLUE}),
    ]
    x = axis(SAYS["axis_tokens"], tickvals=places, ticktext=labels)
    y = axis(SAYS["axis_probability"], tickformat=".0%", rangemode="tozero")
    return figure(shown, HEIGHT, x=x, y=y, bargap=0.25, bargroupgap=0.05)


def show_student(state: SameQualityState) -> None:
    """The draws of a rule that a student wrote, from the file of `specviz lab run`."""
    student = state.student
    with st.expander(SAYS["student"], expanded=bool(student.outcomes)):
        st.markdown(SAYS["student_about"])
        file_uploader(SAYS["student_open"], "same_quality_file", student.open, student.problems, type="json")
        if not student.outcomes:
            return
        if says := lab_words()["judge"].kinds.get(student.kind):
            st.markdown(f":material/arrow_forward: {plain(says)}")
        failed = (position for position, its in student.outcomes.items() if finding(its.items).state == "fails")
        names: dict[str, str] = {position: POSITIONS[position] for position in student.outcomes}
        position = choice(SAYS["which_token"], names, "same_quality_student", next(failed, ""))
        show_outcome(state, student.outcomes[cast(Position, position)], "same_quality_student_outcome")
