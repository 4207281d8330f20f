"""The proof page and its sampling sections: the same distribution, and the rules broken on purpose."""

import streamlit as st

from specviz.data.lessons.glossary import explained
from specviz.measure.proof.recorded import recorded_proof
from specviz.measure.proof.rows import BATCHES
from specviz.measure.proof.rule_names import RULES, RuleName, RuleText, rule_text
from specviz.measure.proof.statistics import FALSE_ALARM
from specviz.ui.proof.controls import position_and_draws, remember
from specviz.ui.proof.greedy import show_greedy
from specviz.ui.proof.link import Wanted
from specviz.ui.proof.outcome import show_outcome
from specviz.ui.proof.state import Outcome, Proving
from specviz.ui.proof.status import section, show_status
from specviz.ui.session import session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.persistent_widgets import with_index

SWITCHES = [rule for rule in RULES if rule.name != "lossless"]


def lead() -> None:
    """One sentence about what is proved."""
    claim = explained(
        "The small draft model changes only how fast the text is written. The output is provably that of the target "
        "model alone. Check it here.",
        "proof-lead",
    )
    st.markdown(f"##### :primary[spec]viz&emsp;**Same quality.** {claim}", unsafe_allow_html=True)


def show_proof(wanted: Wanted) -> None:
    """All three sections. What is under way is drawn again where it has grown, and the page once at its end."""
    state = session().proof
    state.refresh()
    section("greedy", lambda: show_greedy(state, wanted))
    section("sampling", lambda: _sampling(state, wanted))
    section("switch", lambda: _switches(state, wanted))
    _provenance()


# ---- sampling


def _sampling(state: Proving, wanted: Wanted) -> None:
    st.subheader("Sampling: same distribution", anchor="sampling")
    st.markdown(
        "Above temperature 0 tokens are drawn at random, so two runs may differ and both be right. What must be the "
        "same is **how often each token is drawn**. So one token is written many times, both ways, and counted."
    )
    position_and_draws()
    remember()
    busy = state.slot.busy or wanted.problem is not None
    label = f"Draw {st.session_state.proof_draws:,} times"
    if st.button(label, key="proof_draw", type="primary", icon=":material/casino:", disabled=busy):
        _draw(wanted, "lossless")
    show_status(state, "sampling")
    if outcome := state.outcomes.get("lossless"):
        show_outcome(state, outcome, "proof_lossless")
    with st.expander("What exactly is drawn, compared and shared"):
        st.markdown(METHOD)


def _draw(wanted: Wanted, rule: RuleName) -> None:
    position = st.session_state.proof_position if rule_text(rule).position == "first" else rule_text(rule).position
    link = wanted.link(rule if rule != "lossless" else None) | {
        "position": st.session_state.proof_position,
        "draws": str(st.session_state.proof_draws),
    }
    st.query_params.from_dict(link)
    session().proof.draw(wanted.request, rule, position, st.session_state.proof_draws)
    st.rerun()


# ---- broken on purpose


def _switches(state: Proving, wanted: Wanted) -> None:
    st.subheader("Break it on purpose", anchor="broken")
    st.markdown(
        "A test that cannot fail proves nothing. Each switch below breaks one part of the method, as real programs "
        "have done by mistake. The same test should find it. A real run never uses these switches."
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        names = [rule.name for rule in SWITCHES]
        chosen: RuleName = st.radio(
            "Switch",
            names,
            format_func=lambda name: _switch_label(rule_text(name)),
            captions=[_caption(state, rule) for rule in SWITCHES],
            **with_index("proof_rule", names),
        )
        remember()
    with right:
        _switch(state, wanted, rule_text(chosen))
    _acceptance(state)


def _switch_label(rule: RuleText) -> str:
    return f"{rule.title} · :blue[✓ lossless, slower]" if rule.lossless else f"{rule.title} · :orange[✗ WRONG]"


def _caption(state: Proving, rule: RuleText) -> str:
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


def _switch(state: Proving, wanted: Wanted, rule: RuleText) -> None:
    mark = ":blue-badge[✓ LOSSLESS, SLOWER]" if rule.lossless else ":orange-badge[✗ WRONG]"
    about = explained(f"{rule.does} {rule.why}", "proof-switch")
    st.markdown(f"{mark} **{rule.title}.** {about}", unsafe_allow_html=True)
    if rule.position == "after":
        st.caption("So the test looks at the first token after a rejection, whatever is chosen above.")
    busy = state.slot.busy or wanted.problem is not None
    label = f"Draw {st.session_state.proof_draws:,} times this way"
    if st.button(label, key="proof_break", icon=":material/casino:", disabled=busy):
        _draw(wanted, rule.name)
    show_status(state, "switch")
    if outcome := state.outcomes.get(rule.name):
        show_outcome(state, outcome, "proof_switch", narrow=True)


def _acceptance(state: Proving) -> None:
    """How often the first guess is accepted: the real rule beside exact matching."""
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
- **Looking often.** The test is made {BATCHES} times; each look may raise a false alarm with probability
  {FALSE_ALARM / BATCHES:g}, so all together they stay below {FALSE_ALARM:.0%} (Bonferroni). Where texts differ, counts
  vary a little less than the test assumes, so false alarms are even rarer.
- **What it cannot show.** A difference too small for this number of draws. The verdict says which difference
  would have been found.
"""
