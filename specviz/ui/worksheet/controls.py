"""The worksheet's controls: counts, α, γ and costs in, a Model out; saved in the address and between pages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.measure.worksheet.model import (
    BATCHES,
    MOST_COST,
    MOST_OVERHEAD,
    MOST_TOKENS,
    MOST_VERIFICATION,
    Model,
    alpha_of_counts,
)
from specviz.measure.worksheet.starts import Start
from specviz.ui.session import session
from specviz.ui.shared.address import address, write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import set_widgets, with_index, with_value
from specviz.ui.worksheet.link import WorksheetLink, start_from_link

NAMES = ["start", "alpha", "gamma", "cost", "verification", "overhead", "batch", "operations", "drafted", "accepted"]
NAMES += ["paste", "speedup", "without", "with"]
UNSET = ("worksheet_speedup", "worksheet_without", "worksheet_with")  # empty until a visitor fills them in
FINE: dict[str, Any] = {"step": 0.001, "format": "%.3f"}
KEYS = [f"worksheet_{name}" for name in NAMES]


def controls(found: Sequence[Start], runs: int) -> Model:
    """Draw the controls and read them. `runs` is how many runs are finished: a new one is taken up."""
    found = _restore(found, runs)
    if _changed():
        session().worksheet.notes = []  # what the link could not have is said until something else is asked for
    notices(session().worksheet.notes)
    st.selectbox(
        "Start from",
        [start.label for start in found],
        on_change=lambda: fill(chosen_start(found)),
        help="Fills in everything below. Every number can be changed afterwards.",
        **with_index("worksheet_start", [start.label for start in found]),
    )
    start = chosen_start(found)
    st.caption(plain(start.source))
    _counts()
    _acceptance(start)
    _costs()
    _remember(runs)
    _write_address()
    return read_model()


def read_model() -> Model:
    """What the controls say."""
    state = st.session_state
    return Model(
        alpha=state.worksheet_alpha,
        draft_length=state.worksheet_gamma,
        cost_ratio=state.worksheet_cost,
        verification=state.worksheet_verification,
        overhead=state.worksheet_overhead,
        batch=state.worksheet_batch,
        operations_ratio=state.worksheet_operations,
    )


def chosen_start(found: Sequence[Start]) -> Start:
    """The one the menu names."""
    return next((start for start in _every(found) if start.label == st.session_state.worksheet_start), found[0])


def _every(found: Sequence[Start]) -> list[Start]:
    """These and what the visitor brought: pasted counters, a link's values."""
    every, worksheet = list(found), session().worksheet
    for more in (worksheet.produced, worksheet.linked):
        if more and more.label not in [start.label for start in every]:
            every.append(more)
    return every


def fill(start: Start) -> None:
    """Set every control to what this start says, within the sliders' ranges."""
    set_widgets({"worksheet_start": start.label, **_filled(start)})


def _filled(start: Start) -> dict[str, float]:
    model = start.model
    if start.costs_only:
        gamma = st.session_state.worksheet_gamma
        checked = start.verification_at(gamma) or replace(model, batch=1).steps(gamma + 1)
        return {
            "worksheet_cost": _within(model.cost_ratio, 0.0, MOST_COST),
            "worksheet_verification": _within(checked, 1.0, MOST_VERIFICATION),
            "worksheet_overhead": _within(model.overhead, 0.0, MOST_OVERHEAD),
        }
    acceptance = {
        "worksheet_alpha": _within(model.alpha, 0.0, 1.0, digits=5),  # the speedup beside it has none rounded
        "worksheet_gamma": min(max(model.draft_length, 1), MAX_DRAFT_LENGTH),
        "worksheet_drafted": start.drafted,
        "worksheet_accepted": start.accepted,
    }
    if start.acceptance_only:
        checked = replace(read_model(), batch=1).steps(model.draft_length + 1)
        return {**acceptance, "worksheet_verification": _within(checked, 1.0, MOST_VERIFICATION)}
    return {
        **acceptance,
        "worksheet_verification": _within(model.verification, 1.0, MOST_VERIFICATION),
        "worksheet_batch": min(BATCHES, key=lambda size: abs(size - model.batch)),
        "worksheet_cost": _within(model.cost_ratio, 0.0, MOST_COST),
        "worksheet_overhead": _within(model.overhead, 0.0, MOST_OVERHEAD),
        "worksheet_operations": _within(model.operations_ratio, 0.0, 1.0),
    }


def put_on_map(start: Start) -> None:
    """Start from pasted counters: the whole page then shows them."""
    session().worksheet.produced = start
    fill(start)


def is_shown(start: Start) -> bool:
    """Whether the controls hold what this start fills in, as near as the sliders' steps allow."""
    return all(abs(st.session_state[key] - value) < 0.005 for key, value in _filled(start).items())


def _counts() -> None:
    drafted, accepted = _side_by_side("worksheet_drafted_accepted")
    drafted.number_input(
        "Drafted", 0, MOST_TOKENS, on_change=_alpha_from_counts, help=DRAFTED_HELP, **with_value("worksheet_drafted")
    )
    accepted.number_input(
        "Accepted", 0, MOST_TOKENS, on_change=_alpha_from_counts, help=ACCEPTED_HELP, **with_value("worksheet_accepted")
    )


def _acceptance(start: Start) -> None:
    alpha, gamma = _side_by_side("worksheet_alpha_gamma")
    alpha.slider("α, per judgement", 0.0, 1.0, **FINE, help=ALPHA_HELP, **with_value("worksheet_alpha"))
    gamma.slider(
        "γ, draft length",
        1,
        MAX_DRAFT_LENGTH,
        on_change=lambda: _verification_from(start),
        help=GAMMA_HELP,
        **with_value("worksheet_gamma"),
    )


def _costs() -> None:
    cost, verification = _side_by_side("worksheet_cost_verification")
    cost.slider("c, a draft step", 0.0, MOST_COST, **FINE, help=COST_HELP, **with_value("worksheet_cost"))
    verification.slider(
        "v(γ+1), checking",
        1.0,
        MOST_VERIFICATION,
        **FINE,
        help=VERIFICATION_HELP,
        **with_value("worksheet_verification"),
    )
    overhead, batch = _side_by_side("worksheet_overhead_batch")
    overhead.slider(
        "o, overhead",
        0.0,
        MOST_OVERHEAD,
        **FINE,
        help=OVERHEAD_HELP,
        **with_value("worksheet_overhead"),
    )
    batch.select_slider("Batch size", BATCHES, help=BATCH_HELP, **with_value("worksheet_batch"))
    st.slider(
        "ĉ, draft’s operations",
        0.0,
        1.0,
        **FINE,
        help=OPERATIONS_HELP,
        **with_value("worksheet_operations"),
    )


def _side_by_side(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two places beside each other, on a phone too, where columns would go one below the other."""
    with st.container(horizontal=True, gap="medium", key=key):
        return st.container(width="stretch"), st.container(width="stretch")


def _alpha_from_counts() -> None:
    state = st.session_state
    if 0 <= state.worksheet_accepted <= state.worksheet_drafted and state.worksheet_drafted:
        state.worksheet_alpha = _within(
            alpha_of_counts(state.worksheet_drafted, state.worksheet_accepted, state.worksheet_gamma), 0.0, 1.0
        )


def _verification_from(start: Start) -> None:
    """Another draft length checks another number of tokens: take its v from the table where one was measured."""
    measured = start.verification_at(st.session_state.worksheet_gamma)
    if measured is not None:
        set_widgets({"worksheet_verification": _within(measured, 1.0, MOST_VERIFICATION)})


def _within(value: float, low: float, high: float, digits: int = 3) -> float:
    return round(min(max(value, low), high), digits)


def _restore(found: Sequence[Start], runs: int) -> list[Start]:
    """Take a link's values once; bring back what was there before another page, or take up the newest run.

    Widgets forget when another page is shown. Returns everything to start from, what the link says among it.
    """
    state, worksheet = st.session_state, session().worksheet
    first = not worksheet.link_read
    if first:
        _fill_first(found, {})
        worksheet.linked, worksheet.notes = _linked(found)
        worksheet.link_read = True
    every = _every(found)
    labels = [start.label for start in every]
    if "worksheet_paste" in state and not first:
        if state.worksheet_start not in labels:
            fill(found[0])
        return every
    stored = worksheet.values
    if stored and worksheet.runs == runs and stored["worksheet_start"] in labels:
        set_widgets(stored)
    else:
        _fill_first([worksheet.linked] if first and worksheet.linked else found, stored)
        state.worksheet_paste = stored.get("worksheet_paste", "")
        for key in UNSET:
            state[key] = stored.get(key)
    return every


def _fill_first(found: Sequence[Start], stored: dict[str, Any]) -> None:
    """Set the controls to the first start; what it does not say is as it was, or as the first one has it that does."""
    if found[0].acceptance_only and stored:
        set_widgets(stored)
    elif found[0].acceptance_only:
        fill(next(start for start in found if not start.acceptance_only and not start.costs_only))
    fill(found[0])


def _linked(found: Sequence[Start]) -> tuple[Start | None, list[str]]:
    """What the address asks for: as one of the starts where it is just what that fills in."""
    state = st.session_state
    default = replace(found[0], model=read_model(), drafted=state.worksheet_drafted, accepted=state.worksheet_accepted)
    linked, problems = start_from_link(address(), default)
    alike = (start for start in found if linked and _filled(start) == _filled(linked))
    return next(alike, linked), problems


def _write_address() -> None:
    """Every value, so that the address can be handed on."""
    state = st.session_state
    write_address(WorksheetLink.of(read_model(), state.worksheet_drafted, state.worksheet_accepted).parameters())


def _remember(runs: int) -> None:
    worksheet = session().worksheet
    worksheet.values, worksheet.runs = {key: st.session_state[key] for key in KEYS}, runs


def _changed() -> bool:
    """Whether the controls say something else than when they were last drawn."""
    return any(st.session_state[key] != value for key, value in session().worksheet.values.items())


DRAFTED_HELP = "How many tokens the draft proposed. A changed count sets α to the value that gives this rate at this γ."
ACCEPTED_HELP = "How many of them the target accepted. accepted / drafted is the acceptance rate."
ALPHA_HELP = (
    "α: accepted / (accepted + rejected). Discarded tokens were never judged, so it is at least accepted / drafted."
)
GAMMA_HELP = "γ: how many tokens the draft proposes before the target checks them."
COST_HELP = "c: the time of one draft step over the time of one target step for a single token."
VERIFICATION_HELP = (
    "v(k): the target’s time for k tokens at once over its time for one. 1: checking is free; k: as slow as one by "
    "one. For other draft lengths, a straight line through v(1) = 1 and this value is used."
)
OVERHEAD_HELP = "o: the time of a round that is neither drafting nor checking, in target steps."
BATCH_HELP = "How many sequences are decoded together. Modelled: the assumption is written below."
OPERATIONS_HELP = (
    "ĉ: operations per token of the draft over those of the target: a ratio of work, not of time like c. For a run it "
    "is the ratio of parameters. It only changes the extra compute."
)
