"""The proof page: its controls and its sampling sections, the same distribution and the rules broken on purpose."""

from typing import Any

import streamlit as st

from specviz.core.request import prompt_problem
from specviz.data.lessons.glossary import explained
from specviz.data.permalink import left_out_of_link
from specviz.data.texts import page_texts
from specviz.measure.proof.findings import FALSE_ALARM, LIMIT
from specviz.measure.proof.recorded import recorded_proof
from specviz.measure.proof.rows import BATCHES, PLACES
from specviz.measure.proof.rule_names import FORGETFUL, POSITIONS, RULES, RuleName, RuleText, rule_text
from specviz.ui.proof.greedy import show_difference, show_greedy
from specviz.ui.proof.outcomes import section, show_outcome, show_status
from specviz.ui.proof.proof_state import DRAWS, Outcome, Proving, Wanted, wanted_from_link
from specviz.ui.shared.address import address, hidden_in_link, models_in, write_address
from specviz.ui.shared.engine import limit_sentence
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import notices
from specviz.ui.shared.persistent_widgets import remember_widgets, restore_widgets, with_index, with_value
from specviz.ui.shared.run_controls import OWN_TEXT, RunControls

SAYS = page_texts("proof")

CONTROLS = RunControls("proof_")
MORE = (("top_k", "tree"), ("top_p", "draft_sampling"), ("seed", "verification"), ("precision",))
LEAST_TEMPERATURE = 0.1
WITHOUT_WIDGET = ("proof_tokens", "proof_schedule")  # a proof has its own way with these


def controls(proof: Proving) -> Wanted:
    _restore(proof)
    with st.container(key="proof_controls"):
        prompt, models, numbers = st.columns([3, 2, 2], gap="medium")
        with prompt:
            CONTROLS.prompt()
        with models:
            CONTROLS.target()
            CONTROLS.draft()
        with numbers:
            CONTROLS.draw("temperature", offered=(LEAST_TEMPERATURE, 2.0), help=SAYS["temperature_help"])
            CONTROLS.draw("draft_length")
        with st.expander("More settings"):
            elsewhere = ("draft_length", "temperature", "max_new_tokens", "draft_schedule")
            CONTROLS.more(MORE, elsewhere, st.columns(4, gap="medium"))
    wanted = _read()
    remember(proof)
    own = None if wanted.preset else left_out_of_link(wanted.request.prompt)
    notices([*proof.came.notes, wanted.problem, own])
    return wanted


def _restore(proof: Proving) -> None:
    if wanted := proof.came.take(address(), lambda given: wanted_from_link(given, models_in(given))):
        proof.values = _values(wanted)
    restore_widgets(proof.values)


def _values(wanted: Wanted) -> dict[str, Any]:
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


def remember(proof: Proving) -> None:
    """Store what the widgets say, also those that are drawn after the controls; the address says it too."""
    before = dict(proof.values)
    remember_widgets(proof.values)
    proof.came.acted = proof.came.acted or proof.values != before
    if proof.came.acted:
        wanted = _read()
        write_address(wanted.link(wanted.rule) | hidden_in_link())


def _read() -> Wanted:
    state = st.session_state
    request = CONTROLS.request(state.proof_prompt)
    preset = None if state.proof_preset == OWN_TEXT else state.proof_preset
    problem = prompt_problem(state.proof_prompt)
    return Wanted(request, preset, state.proof_position, state.proof_draws, state.proof_rule, problem)


SWITCHES = [rule for rule in (*RULES, FORGETFUL) if rule.name != "lossless"]


def show_proof(state: Proving, wanted: Wanted) -> None:
    state.refresh()
    if limit := limit_sentence():
        st.caption(limit)
    section("greedy", lambda: show_greedy(state, wanted))
    section("sampling", lambda: _sampling(state, wanted))
    section("switch", lambda: _switches(state, wanted))
    if found := recorded_proof():
        changed = [f"{name} here has other weights than in the recording." for name in found.changed_weights]
        st.caption(plain(" ".join([f"Recorded on {found.machine}, {found.created[:10]}.", *changed])))


def _sampling(state: Proving, wanted: Wanted) -> None:
    st.header("Sampling: same distribution", anchor="sampling")
    st.markdown(SAYS["sampling"])
    # which token to look at, and how often; `controls` reads them: they keep their values between runs
    position, draws = st.columns([3, 2], gap="medium")
    chosen = with_index("proof_position", POSITIONS)
    position.radio("Which token", list(POSITIONS), format_func=POSITIONS.__getitem__, horizontal=True, **chosen)
    more = with_value("proof_draws") | {"help": SAYS["draws_help"], "format_func": lambda n: f"{n:,}"}
    draws.select_slider("How often", DRAWS, on_change=st.rerun, **more)  # the other section's button says it too
    remember(state)
    busy = state.slot.busy or wanted.problem is not None
    label = f"Draw {st.session_state.proof_draws:,} times"
    if st.button(label, key="proof_draw", type="primary", icon=":material/casino:", disabled=busy):
        _draw(state, wanted, "lossless")
    show_status(state, "sampling")
    if outcome := state.outcomes.get("lossless"):
        show_outcome(state, outcome, "proof_lossless")
    with st.expander("What exactly is drawn, compared and shared"):
        st.markdown(SAYS["method"].format(places=PLACES, batches=BATCHES, limit=LIMIT, false_alarm=FALSE_ALARM))


def _draw(state: Proving, wanted: Wanted, rule: RuleName) -> None:
    position = st.session_state.proof_position if rule_text(rule).position == "first" else rule_text(rule).position
    state.came.acted = True
    state.draw(wanted.request, rule, position, st.session_state.proof_draws)
    st.rerun()


def _switches(state: Proving, wanted: Wanted) -> None:
    st.header("Break it on purpose", anchor="broken")
    st.markdown(SAYS["switches"])
    left, right = st.columns([2, 4], gap="large")
    with left:
        names, captions = [rule.name for rule in SWITCHES], [_caption(state, rule) for rule in SWITCHES]
        labels = {rule.name: f"{rule.title} · :{color_of(rule)}[{mark_of(rule)}]" for rule in SWITCHES}
        more = with_index("proof_rule", names) | {"captions": captions, "format_func": labels.__getitem__}
        chosen: RuleName = st.radio("Switch", names, **more)
        remember(state)
    with right:
        _switch(state, wanted, rule_text(chosen))
    _acceptance(state)


def color_of(rule: RuleText) -> str:
    return "blue" if rule.lossless else "orange"


def mark_of(rule: RuleText) -> str:
    if rule.lossless:
        return "✓ lossless, slower" if rule.name == "match" else "✓ lossless"
    return "✗ lossy by design" if rule.by_design else "✗ WRONG"


def _caption(state: Proving, rule: RuleText) -> str:
    if rule is FORGETFUL:
        return _caption_of_row(state)
    outcome = state.outcomes.get(rule.name)
    if outcome is None or not outcome.batches:
        return "not drawn yet"
    found = outcome.finding
    source = "recorded" if outcome.source == "recorded" else "drawn here"
    if found.state == "fails":
        return f"fails after {found.failed_at:,} draws, {source}"
    if found.state == "passes":
        return f"passes {outcome.looks[-1].draws:,} draws, {source}"
    return f"{outcome.looks[-1].draws:,} draws so far, {source}"


def _caption_of_row(state: Proving) -> str:
    row, source = state.forgotten_row, "recorded" if state.source("switch") == "recorded" else "run here"
    if row is None:
        return "not compared yet"
    fails = row.judged is not None and row.judged.state == "fails"
    return f"fails at token {row.same + 1}, {source}" if fails else f"{row.same} of {row.tokens} the same, {source}"


def _switch(state: Proving, wanted: Wanted, rule: RuleText) -> None:
    mark = f":{color_of(rule)}-badge[{mark_of(rule).upper()}]"
    about = explained(f"{rule.does} {rule.why}", "proof-switch")
    st.markdown(f"{mark} **{rule.title}.** {about}", unsafe_allow_html=True)
    if rule.position == "after":
        st.caption("So the test looks at the first token after a rejection, whatever is chosen above.")
    busy = state.slot.busy or wanted.problem is not None
    if rule is FORGETFUL:
        icon = ":material/compare_arrows:"
        if st.button("Compare my prompt this way", key="proof_forget", icon=icon, disabled=busy):
            state.compare("switch", wanted.request)
            st.rerun()
    else:
        label = f"Draw {st.session_state.proof_draws:,} times this way"
        if st.button(label, key="proof_break", icon=":material/casino:", disabled=busy):
            _draw(state, wanted, rule.name)
    show_status(state, "switch")
    if rule is FORGETFUL and state.forgotten_row:
        show_difference(state.forgotten_row, state.source("switch"), "proof_forgotten_figure")
    elif outcome := state.outcomes.get(rule.name):
        show_outcome(state, outcome, "proof_switch", narrow=True)


def _acceptance(state: Proving) -> None:
    real, match = state.outcomes.get("lossless"), state.outcomes.get("match")
    if real is None or match is None or not real.batches or not match.batches:
        return
    st.markdown(SAYS["acceptance"])
    rows = [
        _acceptance_row("The real rule: Σ min(p, q)", real, real.batches[0].sum_of_minima),
        _acceptance_row("Exact matches: Σ p·q", match, match.batches[0].sum_of_products),
    ]
    if (certain := real.batches[0].most_probable) is not None:
        name = "The draft’s most probable token (vLLM, llama.cpp): p(argmax q)"
        rows.append(_acceptance_row(name, real, certain) | {"counted": "not drawn"})
    st.table(rows, hide_index=True)


def _acceptance_row(name: str, outcome: Outcome, exact: float | None) -> dict[str, str]:
    return {
        "rule": name,
        "computed": "nothing drafted" if exact is None else f"{exact:.1%}",
        "counted": "nothing drafted" if outcome.accepted_share is None else f"{outcome.accepted_share:.1%}",
        "from": "recorded" if outcome.source == "recorded" else "drawn here",
    }
