"""What is to be proved, on which prompt and pair: widgets in, a request out."""

from typing import Any

import streamlit as st

from specviz.core.prompts import prompt_problem
from specviz.data.permalink import left_out_of_link
from specviz.measure.proof.rule_names import POSITIONS
from specviz.ui.proof.link import DRAWS, Wanted, wanted_from_link
from specviz.ui.session import session
from specviz.ui.shared.address import address, models_in, write_address
from specviz.ui.shared.hiding import hidden_in_link
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import remember_widgets, restore_widgets, with_index, with_value
from specviz.ui.shared.run_controls import OWN_TEXT, RunControls

CONTROLS = RunControls("proof_")
LEAST_TEMPERATURE = 0.1
WITHOUT_WIDGET = ("proof_tokens", "proof_schedule")  # a proof has its own way with these


def controls() -> Wanted:
    """Draw the controls and read them."""
    _restore()
    with st.container(key="proof_controls"):
        prompt, models, numbers = st.columns([3, 2, 2], gap="medium")
        with prompt:
            CONTROLS.prompt()
        with models:
            CONTROLS.target()
            CONTROLS.draft()
        with numbers:
            CONTROLS.temperature(LEAST_TEMPERATURE, TEMPERATURE_HELP)
            CONTROLS.draft_length()
        _more()
    wanted = _read()
    remember()
    own = None if wanted.preset else left_out_of_link(wanted.request.prompt)
    notices([*session().proof.notes, wanted.problem, own])
    return wanted


def _more() -> None:
    with st.expander("More settings"):
        columns = st.columns(4, gap="medium")
        widgets = (
            (CONTROLS.top_k, CONTROLS.tree),
            (CONTROLS.top_p, CONTROLS.draft_sampling),
            (CONTROLS.seed, CONTROLS.verification),
            (CONTROLS.precision,),
        )
        for column, below in zip(columns, widgets, strict=True):
            with column:
                for widget in below:
                    widget()


def position_and_draws() -> None:
    """Which token to look at, and how often. `controls` reads them: they keep their values between runs."""
    position, draws = st.columns([3, 2], gap="medium")
    chosen = with_index("proof_position", POSITIONS)
    position.radio("Which token", list(POSITIONS), format_func=POSITIONS.__getitem__, horizontal=True, **chosen)
    draws.select_slider(
        "How often",
        DRAWS,
        format_func=lambda n: f"{n:,}",
        help=DRAWS_HELP,
        on_change=st.rerun,  # the other section's button says it too
        **with_value("proof_draws"),
    )


TEMPERATURE_HELP = (
    "Tokens are drawn at random, in proportion to the model’s probabilities raised to the power 1/temperature. At 0 "
    "nothing is drawn: that case is the token-for-token comparison."
)
DRAWS_HELP = "Draws each way. Twice as many draws find differences that are smaller by a factor of 1.4."


# ---- state: stored between pages, taken from a link once


def _restore() -> None:
    proof = session().proof
    if not proof.values:
        link = address()
        wanted, proof.notes = wanted_from_link(link, models_in(link))
        proof.values, proof.acted = _values(wanted), bool(link)
    restore_widgets(proof.values)


def _values(wanted: Wanted) -> dict[str, Any]:
    """What the widgets must hold to ask for this."""
    temperature = wanted.request.settings.temperature
    values = CONTROLS.values_of(wanted.request) | {
        "proof_preset": wanted.preset or OWN_TEXT,
        "proof_prompt": wanted.request.prompt,
        "proof_temperature": max(LEAST_TEMPERATURE, round(temperature, 1)) if temperature else 1.0,
        "proof_position": wanted.position,
        "proof_draws": wanted.draws,
        "proof_rule": wanted.rule,
    }
    return {key: value for key, value in values.items() if key not in WITHOUT_WIDGET}


def remember() -> None:
    """Store what the widgets say, also those that are drawn after the controls; the address says it too."""
    proof = session().proof
    before = dict(proof.values)
    remember_widgets(proof.values)
    proof.acted = proof.acted or proof.values != before
    if proof.acted:
        wanted = _read()
        write_address(wanted.link(wanted.rule) | hidden_in_link())


def _read() -> Wanted:
    state = st.session_state
    request = CONTROLS.request(state.proof_prompt)
    preset = None if state.proof_preset == OWN_TEXT else state.proof_preset
    problem = prompt_problem(state.proof_prompt)
    return Wanted(request, preset, state.proof_position, state.proof_draws, state.proof_rule, problem)
