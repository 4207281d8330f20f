"""The proof page: its controls and its sampling sections, the same distribution and the rules broken on purpose."""

from typing import Any

import streamlit as st

from specviz.core.request import prompt_problem
from specviz.data.lessons.glossary import explained
from specviz.data.permalink import left_out_of_link
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
from specviz.ui.shared.parts import heading, notices
from specviz.ui.shared.persistent_widgets import remember_widgets, restore_widgets, with_index, with_value
from specviz.ui.shared.run_controls import OWN_TEXT, RunControls

CONTROLS = RunControls("proof_")
MORE = (
    ("top_k", "tree"),
    ("top_p", "draft_sampling"),
    ("seed", "verification"),
    ("precision",),
)
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
            CONTROLS.draw("temperature", offered=(LEAST_TEMPERATURE, 2.0), help=TEMPERATURE_HELP)
            CONTROLS.draw("draft_length")
        _more()
    wanted = _read()
    remember(proof)
    own = None if wanted.preset else left_out_of_link(wanted.request.prompt)
    notices([*proof.came.notes, wanted.problem, own])
    return wanted


def _more() -> None:
    with st.expander("More settings"):
        elsewhere = ("draft_length", "temperature", "max_new_tokens", "draft_schedule")
        CONTROLS.more(MORE, elsewhere, st.columns(4, gap="medium"))


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


def lead() -> None:
    claim = (
        "The small draft model changes only how fast the text is written. The output is provably that of the target "
        "model alone. Check it here."
    )
    heading("**Same quality.**", claim, "proof-lead")


def show_proof(state: Proving, wanted: Wanted) -> None:
    state.refresh()
    if limit := limit_sentence():
        st.caption(limit)
    section("greedy", lambda: show_greedy(state, wanted))
    section("sampling", lambda: _sampling(state, wanted))
    section("switch", lambda: _switches(state, wanted))
    _provenance()


# ---- sampling


def _sampling(state: Proving, wanted: Wanted) -> None:
    st.header("Sampling: same distribution", anchor="sampling")
    st.markdown(
        "Above temperature 0 tokens are drawn at random, so two runs may differ and both be right. What must be the "
        "same is **how often each token is drawn**. So one token is written many times, both ways, and counted."
    )
    position_and_draws()
    remember(state)
    busy = state.slot.busy or wanted.problem is not None
    label = f"Draw {st.session_state.proof_draws:,} times"
    if st.button(label, key="proof_draw", type="primary", icon=":material/casino:", disabled=busy):
        _draw(state, wanted, "lossless")
    show_status(state, "sampling")
    if outcome := state.outcomes.get("lossless"):
        show_outcome(state, outcome, "proof_lossless")
    with st.expander("What exactly is drawn, compared and shared"):
        st.markdown(METHOD)


def _draw(state: Proving, wanted: Wanted, rule: RuleName) -> None:
    position = st.session_state.proof_position if rule_text(rule).position == "first" else rule_text(rule).position
    state.came.acted = True
    state.draw(wanted.request, rule, position, st.session_state.proof_draws)
    st.rerun()


# ---- broken on purpose


def _switches(state: Proving, wanted: Wanted) -> None:
    st.header("Break it on purpose", anchor="broken")
    st.markdown(
        "A test that cannot fail proves nothing. Each switch below changes one part of the method. Some are mistakes "
        "that real programs made; some are **lossy by design**: they give up the target’s distribution to be faster. "
        "The same tests should find them all. A run can use what is lossless, and nothing else."
    )
    left, right = st.columns([2, 4], gap="large")
    with left:
        names = [rule.name for rule in SWITCHES]
        chosen: RuleName = st.radio(
            "Switch",
            names,
            format_func=lambda name: _switch_label(rule_text(name)),
            captions=[_caption(state, rule) for rule in SWITCHES],
            **with_index("proof_rule", names),
        )
        remember(state)
    with right:
        _switch(state, wanted, rule_text(chosen))
    _acceptance(state)


def _switch_label(rule: RuleText) -> str:
    return f"{rule.title} · :{'blue' if rule.lossless else 'orange'}[{mark_of(rule)}]"


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
    row, source = state.forgotten_row, "recorded" if state.forgotten_row_source == "recorded" else "run here"
    if row is None:
        return "not compared yet"
    fails = row.judged is not None and row.judged.state == "fails"
    return f"fails at token {row.same + 1}, {source}" if fails else f"{row.same} of {row.tokens} the same, {source}"


def _switch(state: Proving, wanted: Wanted, rule: RuleText) -> None:
    mark = f":{'blue' if rule.lossless else 'orange'}-badge[{mark_of(rule).upper()}]"
    about = explained(f"{rule.does} {rule.why}", "proof-switch")
    st.markdown(f"{mark} **{rule.title}.** {about}", unsafe_allow_html=True)
    if rule.position == "after":
        st.caption("So the test looks at the first token after a rejection, whatever is chosen above.")
    busy = state.slot.busy or wanted.problem is not None
    if rule is FORGETFUL:
        _forgotten_row(state, wanted, busy)
        return
    label = f"Draw {st.session_state.proof_draws:,} times this way"
    if st.button(label, key="proof_break", icon=":material/casino:", disabled=busy):
        _draw(state, wanted, rule.name)
    show_status(state, "switch")
    if outcome := state.outcomes.get(rule.name):
        show_outcome(state, outcome, "proof_switch", narrow=True)


def _forgotten_row(state: Proving, wanted: Wanted, busy: bool) -> None:
    if st.button("Compare my prompt this way", key="proof_forget", icon=":material/compare_arrows:", disabled=busy):
        state.forget_row(wanted.request)
        st.rerun()
    show_status(state, "switch")
    if state.forgotten_row:
        show_difference(state.forgotten_row, state.forgotten_row_source, "proof_forgotten_figure")


def _acceptance(state: Proving) -> None:
    real, match = state.outcomes.get("lossless"), state.outcomes.get("match")
    if real is None or match is None or not real.batches or not match.batches:
        return
    st.markdown(
        "**Why not accept only exact matches?** It is also lossless, but slower. The probability that the first "
        "drafted token is accepted, computed from both models’ probabilities (p: target, q: draft), and counted:"
    )
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


def _provenance() -> None:
    if found := recorded_proof():
        changed = [f"{name} here has other weights than in the recording." for name in found.changed_weights]
        st.caption(plain(" ".join([f"Recorded on {found.machine}, {found.created[:10]}.", *changed])))


METHOD = f"""
- **What is drawn.** Each draw runs the app’s own speculative loop from the prompt until it has written the token asked
  for. For the 2nd or 3rd token, earlier tokens are drawn too, so draws follow different texts.
- **What it is compared with.** The target’s exact probabilities after *the same text*, added up over all draws. This
  is not a second sample, so it adds no chance. If the first token is right, the second is right after every
  first one, and so on, then the whole text is right. The target alone is also asked once after each of those texts, by
  the plain loop: that is the control, the diamonds.
- **After a rejection.** Runs whose first round had no rejection do not count; the first token of the next round does.
- **What is shared.** A model’s scores after a text depend on the text alone, so each forward pass is made once and
  then looked up. Drafting, the draws, the rule and the cache cropping are done again each time, by the loop that Watch
  runs. The test suite checks that both ways write the same ids.
- **Inside the bins.** Counts cannot see which of the tokens in “any other” were drawn. So there is a second test. Line
  up all tokens, the most probable first, each as wide as its probability. The *place* of a drawn token is a random
  point of its own piece. If the tokens are drawn from exactly these probabilities, the places are spread evenly from
  0 to 1, after every text and for tokens of any probability. They are counted in {PLACES} equal parts (the randomised
  probability integral transform, Rosenblatt 1952). This test also sees errors after different texts that cancel out
  in the counts.
- **Looking often.** Both tests are made {BATCHES} times; each may raise a false alarm with probability {LIMIT:g}, so
  all together they stay below {FALSE_ALARM:.0%} (Bonferroni). Where texts differ, counts vary a little less than the
  first test assumes, so false alarms are even rarer.
- **What stays invisible.** A difference too small for this number of draws: the verdict says which distance would have
  been detected. Wrong tokens whose places stay within one of the {PLACES} parts. Errors that cancel out in the counts
  and in the places. Draws that depend on the draws before them but have the right frequencies. Other prompts,
  positions, settings and models than the ones tested.
"""
