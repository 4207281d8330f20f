"""By method: all drafting methods on the same prompts, as they were measured for everyone; and what a GPU changes."""

from collections.abc import Sequence

import streamlit as st

from specviz.core.number_words import in_words
from specviz.data.lessons.glossary import explained
from specviz.data.measured_methods import (
    ALL,
    POSITIONS_AT,
    AtTemperature,
    MeasuredMethod,
    MeasuredMethods,
    stored_methods,
)
from specviz.data.published_methods import ON_A_GPU, PUBLISHED_METHODS
from specviz.ui.helps.by_method_figures import costs_figure, positions_figure, speedups_figure
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.tables import NOT_MEASURED, TIMES, data_table, numbers

COMPARED = ("wren-eagle", "wren-nano", "wren-medusa")  # by position
KIND_LABELS = {ALL: "all kinds", "story": "stories", "code": "code", "structured": "structured", "prose": "prose"}
TRIAL = (
    "This file is a short trial, to be replaced: so few prompts and tokens decide nothing. Acceptance and costs show "
    "the order of size only."
)
NOTHING = "No comparison of methods is stored here. `python -m benchmarks.methods CORPUS --out …` measures one."


def show_by_method() -> None:
    """Choose a kind of text and a temperature: figures and a table of all methods, Medusa beside EAGLE, GPUs."""
    measured = stored_methods()
    if measured is None:
        st.info(NOTHING)
        return
    st.caption(where(measured))
    if measured.trial:
        st.info(TRIAL, icon=":material/info:")
    part, kind = _choice(measured)
    st.markdown(f"**{plain(reading(part, kind))}**")
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption("What a draft gives and what it costs: measured. The numbers are those of the table.")
        alt = "Tokens per target call against the cost of a draft step, a point for each method."
        chart(costs_figure(part.methods, kind), key="methods_costs", alt=alt)
    with right:
        st.caption("Speedup over the target alone, with the 95 % interval over the prompts: measured.")
        alt = "Speedup of each method with its interval, the fastest at the top."
        chart(speedups_figure(part.methods, kind), key="methods_speedups", alt=alt)
    _table(part, kind)
    st.caption(explained(CAPTION, "methods"), unsafe_allow_html=True)
    _heads(part, kind)
    _gpu(part, kind)


CAPTION = (
    "Each prompt counts at the setting that did best on the other prompts of its kind, so no method is flattered by a "
    "setting that was chosen on the text it is reported for. All times are in steps of the target alone. A draft step "
    "is a guess; in a tree it is all guesses of one depth; Medusa’s heads guess all at once, so a step is a part of "
    "one pass. The check is the target pass over the draft. Every method here is lossless."
)


def where(measured: MeasuredMethods) -> str:
    """Where, when and how it was measured."""
    return (
        f":material/history: **Recorded** on {plain(measured.machine.machine)}, {plain(measured.created)}, one thread; "
        f"your machine will differ: {plain(measured.target)} in {plain(measured.target_dtype)}, {measured.prompts} "
        f"prompts of each kind of text, {measured.tokens} tokens, {measured.repeats} {_times(measured.repeats)}, in "
        f"turns with the target alone. Half of the prompts are beginnings of documents that the training of the drafts "
        f"did not use."
    )


def _times(repeats: int) -> str:
    return "time" if repeats == 1 else "times"


def _choice(measured: MeasuredMethods) -> tuple[AtTemperature, str]:
    """Which part of the file is shown."""
    parts = {f"{part.temperature:g}": part for part in measured.temperatures}
    with st.container(horizontal=True, vertical_alignment="bottom", key="methods_choice"):
        chosen = next(iter(parts))
        if len(parts) > 1:
            chosen = st.segmented_control(
                "Temperature", list(parts), default=chosen, key="methods_temperature", required=True
            )
        part = parts[str(chosen)]
        kind = st.segmented_control(
            "Text", part.kinds(), default=ALL, format_func=_kind_label, key="methods_kind", required=True
        )
    return part, str(kind)


def _kind_label(kind: str) -> str:
    return KIND_LABELS.get(kind, kind)


def reading(part: AtTemperature, kind: str) -> str:
    """Which methods pay, which lose, and which cannot be told, by their intervals."""
    ranked = sorted(part.methods, key=lambda method: -method.kinds[kind].best.speedup)
    by_outcome = {
        outcome: [method.title for method in ranked if method.kinds[kind].best.outcome == outcome]
        for outcome in ("pays", "loses", "unclear")
    }
    first = ranked[0]
    best = first.kinds[kind].best
    said = [f"Highest: {first.title}, {best.speedup:.2f}× [{best.low:.2f} to {best.high:.2f}]."]
    pays, loses, unclear = by_outcome["pays"], by_outcome["loses"], by_outcome["unclear"]
    said.append(f"{_some(pays)} faster than the target alone on these prompts." if pays else "No method pays here.")
    if loses:
        said.append(f"Slower: {', '.join(loses)}.")
    if unclear:
        said.append(f"Not told apart from 1×: {', '.join(unclear)}.")
    return " ".join(said)


def _some(names: Sequence[str]) -> str:
    """How many methods, as the beginning of a sentence."""
    return f"{in_words(len(names)).capitalize()} {'method is' if len(names) == 1 else 'methods are'}"


def _table(part: AtTemperature, kind: str) -> None:
    rows = [_row(number, method, kind) for number, method in enumerate(part.methods, start=1)]
    formats = (
        numbers("%.2f", "tokens per call", "guesses a round", "c, a draft step", "the draft", "the check", "the rest")
        | numbers(TIMES, "speedup", "low", "high")
        | numbers("%d", "no.")
    )
    alt = "Every method with its settings, tokens per target call, costs in target steps and speedup."
    data_table(rows, hide_index=True, key="methods_table", column_config=formats, placeholder=NOT_MEASURED, alt=alt)


def _row(number: int, method: MeasuredMethod, kind: str) -> dict[str, object]:
    best = method.kinds[kind].best
    costs = best.costs
    return {
        "no.": number,
        "method": method.title,
        "speedup": best.speedup,
        "low": best.low,
        "high": best.high,
        "tokens per call": costs.tokens_per_target_call,
        "guesses a round": costs.guesses,
        "c, a draft step": costs.draft_step,
        "the draft": costs.draft,
        "the check": costs.verify,
        "the rest": costs.overhead,
        "settings": best.labels,
    }


def _heads(part: AtTemperature, kind: str) -> None:
    """Two heads beside a draft model of their size: acceptance by position, and what the whole draft costs."""
    found = [method for name in COMPARED if (method := part.find(name))]
    if len(found) < 2:
        return
    st.markdown("## Medusa beside EAGLE")
    left, right = st.columns(2, gap="medium")
    with left:
        alt = "Acceptance by position in a draft of four guesses, a line for each method."
        chart(positions_figure(found, kind), key="methods_positions", alt=alt)
    with right:
        st.markdown(plain(heads_sentence(found, kind)))
        st.caption(explained(HEADS_CAPTION, "heads"), unsafe_allow_html=True)


HEADS_CAPTION = (
    "Both heads read the target’s last hidden state. The EAGLE head makes its guesses one after the other, and each "
    "one knows the guesses before it. Medusa’s heads make all guesses at once, and none knows another: that is cheap, "
    "but a guess may not fit the one before it. Lines: 95 % intervals by Wilson; judgements of one text are counted as "
    "independent."
)


def heads_sentence(methods: Sequence[MeasuredMethod], kind: str) -> str:
    """What a draft of four costs with each method, and how its acceptance falls from the first guess to the last."""
    said = []
    for method in methods:
        at = method.kinds[kind].at(POSITIONS_AT)
        if at is None or at.costs.draft is None:
            continue
        rates = [rate for rate in at.by_position if rate is not None]
        falls = f"; acceptance {rates[0]:.0%} at the first guess, {rates[-1]:.0%} at the last" if rates else ""
        said.append(f"{method.title}: {at.costs.draft:.2f} target steps{falls}.")
    return f"A draft of {in_words(POSITIONS_AT)} guesses costs: {' '.join(said)}"


def _gpu(part: AtTemperature, kind: str) -> None:
    """What others published of the methods that do not pay here."""
    losing = [method for method in part.methods if method.kinds[kind].best.outcome != "pays"]
    families = [family for family in dict.fromkeys(method.family for method in losing) if family in PUBLISHED_METHODS]
    if not families:
        return
    st.markdown("## What would change on a GPU")
    st.caption(
        "For the methods that do not pay here: figures published by others, on other models and machines. Nothing in "
        "this part was measured by specviz."
    )
    for family in families:
        names = ", ".join(method.title for method in losing if method.family == family)
        reports = " ".join(
            f"{plain(each.says)} ([{plain(each.source)}]({each.url}))" for each in PUBLISHED_METHODS[family]
        )
        st.markdown(f"- **{plain(names)}.** {plain(ON_A_GPU[family])} *Published:* {reports}")
