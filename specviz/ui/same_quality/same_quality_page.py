"""The proof page: its controls, greedy texts token for token, the same distribution, rules broken on purpose."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from math import floor, log2
from typing import Any, Literal

import streamlit as st

from specviz.core.names import short_name
from specviz.core.request import DEFAULT_DRAFT, RunRequest, prompt_problem
from specviz.core.rounding import Judged, explain_limits
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.glossary import explained
from specviz.data.links.permalink import explain_left_out
from specviz.data.prompts.workloads import OWN_TEXT
from specviz.data.texts import page_texts
from specviz.measure.proof import rows as records
from specviz.measure.proof.findings import FALSE_ALARM, LIMIT
from specviz.ui.same_quality import same_quality_state
from specviz.ui.same_quality.outcomes import badge, show_outcome, show_status, tie_figure
from specviz.ui.same_quality.own_rule import choose_pieces, held_pieces, show_enumerated, show_student
from specviz.ui.same_quality.same_quality_state import (
    ONE_OF_EACH,
    SWITCHES,
    ProofPlace,
    ProofRequest,
    ProofSource,
    SameQualityState,
    wanted_from_link,
)
from specviz.ui.shared.address import address, hidden_in_link, models_in, write_address
from specviz.ui.shared.engine import limit_sentence
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import button, data_table, notices, show_words
from specviz.ui.shared.persistent_widgets import bind_index, bind_value, held, remember_widgets, restore_widgets
from specviz.ui.shared.run_controls import RunControls

SAYS = page_texts("same_quality")
CONTROLS = RunControls("same_quality_")
MORE = (("top_k", "tree"), ("top_p", "draft_sampling"), ("seed", "verification"), ("precision",))
LEAST_TEMPERATURE = 0.1
WITHOUT_WIDGET = ("same_quality_tokens", "same_quality_schedule")  # a proof has its own way with these


def controls(proof: SameQualityState) -> None:
    if wanted := proof.came.read_once(address(), lambda given: wanted_from_link(given, models_in(given))):
        temperature = wanted.request.settings.temperature
        values = CONTROLS.values_of(wanted.request) | {
            "same_quality_preset": wanted.preset or OWN_TEXT,
            "same_quality_prompt": wanted.request.prompt,
            "same_quality_temperature": max(LEAST_TEMPERATURE, round(temperature, 1)) if temperature else 1.0,
            "same_quality_position": wanted.position,
            "same_quality_draws": wanted.draws,
            "same_quality_rule": wanted.rule,
            **{f"same_quality_{group}": name for group, name in asdict(wanted.pieces).items()},
        }
        proof.values = {key: value for key, value in values.items() if key not in WITHOUT_WIDGET}
    restore_widgets(proof.values)
    with st.container(key="same_quality_controls"):
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
    own = None if wanted.preset else explain_left_out(wanted.request.prompt)
    notices([*proof.came.notes, prompt_problem(wanted.request.prompt), own])


def remember(proof: SameQualityState) -> None:
    """Store what the widgets say, also those that are drawn after the controls; the address says it too."""
    before = dict(proof.values)
    remember_widgets(proof.values)
    proof.came.acted = proof.came.acted or proof.values != before
    if proof.came.acted:
        write_address(_read().link() | hidden_in_link())


def _read() -> ProofRequest:
    request = CONTROLS.request(held("same_quality_prompt"))
    preset = None if held("same_quality_preset") == OWN_TEXT else held("same_quality_preset")
    position, draws, rule = (held(f"same_quality_{name}") for name in ("position", "draws", "rule"))
    return ProofRequest(request, preset, position, draws, rule, held_pieces())


def show_proof(state: SameQualityState) -> None:
    state.refresh()
    if limit := limit_sentence():
        st.caption(limit)
    # each a part of its own: it is drawn again alone when what it shows has grown
    for place, draw in {"greedy": show_greedy, "sampling": _sampling, "switch": _switches, "yours": _yours}.items():
        st.fragment(draw, key=f"same_quality_part_{place}")(state)
    if found := records.recorded_proof():
        changed = [f"{name} here has other weights than in the recording." for name in found.changed_weights]
        st.caption(plain(" ".join([f"Recorded on {found.machine}, {found.created[:10]}.", *changed])))


def _sampling(state: SameQualityState) -> None:
    st.header("Sampling: same distribution", anchor="sampling")
    st.markdown(SAYS["sampling"])
    # which token to look at, and how often; `controls` reads them: they keep their values between runs
    position, draws = st.columns([3, 2], gap="medium")
    chosen = bind_index("same_quality_position", records.POSITIONS)
    position.radio(
        "Which token", list(records.POSITIONS), format_func=records.POSITIONS.__getitem__, horizontal=True, **chosen
    )
    more = bind_value("same_quality_draws") | {"help": SAYS["draws_help"], "format_func": lambda n: f"{n:,}"}
    # the other section's button says it too
    draws.select_slider("How often", same_quality_state.DRAWS, on_change=st.rerun, **more)
    remember(state)
    label = f"Draw {held('same_quality_draws'):,} times"
    _button(state, label, "same_quality_draw", partial(_draw, state, "lossless"), type="primary", icon="casino")
    show_status(state, "sampling")
    if outcome := state.outcomes.get("lossless"):
        show_outcome(state, outcome, "same_quality_lossless")
    with st.expander("What exactly is drawn, compared and shared"):
        st.markdown(
            SAYS["method"].format(places=records.PLACES, batches=records.BATCHES, limit=LIMIT, false_alarm=FALSE_ALARM)
        )


def _button(
    state: SameQualityState, label: str, key: str, begin: Callable[[], None], able: bool | None = None, **options: Any
) -> None:
    """A button that begins work, for which all sections then wait; `able`: it can, whatever the controls say."""
    able = prompt_problem(held("same_quality_prompt")) is None if able is None else able
    button(label, key, begin, disabled=state.slot.busy or not able, whole_page=True, **options)


def _compare(state: SameQualityState, place: ProofPlace, presets: Sequence[str] = ()) -> None:
    state.compare(place, _read().request, presets)


def _draw(state: SameQualityState, rule: records.RuleName) -> None:
    wanted, only = _read(), records.rule_text(rule).position
    state.came.acted = True
    state.draw(wanted.request, rule, wanted.position if only == "first" else only, wanted.draws)


def _switches(state: SameQualityState) -> None:
    st.header("Break it on purpose", anchor="broken")
    st.markdown(SAYS["switches"])
    left, right = st.columns([2, 4], gap="large")
    with left:
        rules = {name: records.rule_text(name) for name in SWITCHES}
        captions = [_caption(state, rule) for rule in rules.values()]
        labels = {name: "{} · :{}[{}]".format(rule.title, *mark_of(rule)) for name, rule in rules.items()}
        more = bind_index("same_quality_rule", SWITCHES) | {"captions": captions, "format_func": labels.__getitem__}
        chosen: records.RuleName = st.radio("Switch", SWITCHES, **more)
        remember(state)
    with right:
        _switch(state, rules[chosen])
    _acceptance(state)


def _yours(state: SameQualityState) -> None:
    st.header("Your rule", anchor="yours")
    st.markdown(SAYS["yours"])
    room = choose_pieces()
    remember(state)
    begin = partial(_enumerate, state)
    _button(state, "Compute it for my prompt", "same_quality_enumerate", begin, icon="calculate")
    show_status(state, "yours")
    if state.enumerated:
        show_enumerated(state.enumerated, room)
    show_student(state)


def _enumerate(state: SameQualityState) -> None:
    state.enumerate_rules(_read().request)


def mark_of(rule: records.RuleText) -> tuple[str, str]:
    """A colour and a word: colour never stands alone."""
    if rule.lossless:
        return "blue", "✓ lossless, slower" if rule.name == "match" else "✓ lossless"
    return "orange", "✗ lossy by design" if rule.by_design else "✗ WRONG"


def _caption(state: SameQualityState, rule: records.RuleText) -> str:
    if rule.name == records.FORGETFUL.name:
        row, source = state.forgotten_row, "recorded" if state.source("switch") == "recorded" else "run here"
        if row is None:
            return "not compared yet"
        same = f"{row.same} of {row.tokens} the same"
        return f"{f'fails at token {row.same + 1}' if _state(row) == 'fails' else same}, {source}"
    outcome = state.outcomes.get(rule.name)
    if outcome is None or not outcome.batches:
        return "not drawn yet"
    found, draws = outcome.finding, f"{outcome.looks[-1].draws:,} draws"
    said = {"fails": f"fails after {found.failed_at or 0:,} draws", "passes": f"passes {draws}"}
    return f"{said.get(found.state, f'{draws} so far')}, {_from(outcome.source)}"


def _switch(state: SameQualityState, rule: records.RuleText) -> None:
    color, word = mark_of(rule)
    mark = f":{color}-badge[{word.upper()}]"
    about = explained(f"{rule.does} {rule.why}", "proof-switch")
    st.markdown(f"{mark} **{rule.title}.** {about}", unsafe_allow_html=True)
    if rule.position == "after":
        st.caption("So the test looks at the first token after a rejection, whatever is chosen above.")
    if rule.name == records.FORGETFUL.name:
        compared = partial(_compare, state, "switch")
        _button(state, "Compare my prompt this way", "same_quality_forget", compared, icon="compare_arrows")
    else:
        label = f"Draw {held('same_quality_draws'):,} times this way"
        _button(state, label, "same_quality_break", partial(_draw, state, rule.name), icon="casino")
    show_status(state, "switch")
    if rule.name == records.FORGETFUL.name and state.forgotten_row:
        show_difference(state.forgotten_row, state.source("switch"), "same_quality_forgotten_figure")
    elif outcome := state.outcomes.get(rule.name):
        show_outcome(state, outcome, "same_quality_switch", narrow=True)


def _acceptance(state: SameQualityState) -> None:
    real, match = state.outcomes.get("lossless"), state.outcomes.get("match")
    if real is None or match is None or not real.batches or not match.batches:
        return
    st.markdown(SAYS["acceptance"])

    def row(rule: str, outcome: same_quality_state.Outcome, computed: float | None, counted: str = "") -> ProofCells:
        drawn = "nothing drafted" if outcome.accepted_share is None else f"{outcome.accepted_share:.1%}"
        exact = "nothing drafted" if computed is None else f"{computed:.1%}"
        return {"rule": rule, "computed": exact, "counted": counted or drawn, "from": _from(outcome.source)}

    first = real.batches[0]
    rows = [row("The real rule: Σ min(p, q)", real, first.sum_of_minima)]
    rows.append(row("Exact matches: Σ p·q", match, match.batches[0].sum_of_products))
    if first.most_probable is not None:
        name = "The draft’s most probable token (vLLM’s and llama.cpp’s default): p(argmax q)"
        rows.append(row(name, real, first.most_probable, "not drawn"))
    st.table(rows, hide_index=True)


def _from(source: ProofSource) -> str:
    return "recorded" if source == "recorded" else "drawn here"


ProofCells = dict[str, str | int]  # of a row of the table
SETTINGS = ("draft length", "draft", "target")
GreedyResult = Judged | Literal["identical"]
VERDICTS: dict[GreedyResult, tuple[str, str]] = {  # the worst one last
    "identical": (":material/check_circle:", "identical, id for id"),
    "rounding": (":material/compare_arrows:", "identical; rounding decides a near-tie where marked ✗"),
    "unknown": (":material/help:", "identical; whether rounding explains the rest is not known for this model"),
    "fails": (":material/cancel:", "identical. FAILS: a difference is larger than rounding explains, where marked ✗"),
}
DIFFERENCES: dict[GreedyResult, str] = {
    "identical": "none",
    "rounding": "near-tie",
    "unknown": "not known",
    "fails": "FAILS",
}


def show_greedy(state: SameQualityState) -> None:
    st.header("Greedy: token for token", anchor="greedy")
    show_words(SAYS["greedy"], "proof-greedy")
    left, right = st.columns([4, 6], gap="large")
    with left:
        _greedy_rows(state)
    parted = sorted((row for row in state.greedy if row.near_tie), key=lambda row: _state(row) != "fails")
    if row := parted[0] if parted else state.near_tie:
        settings = DecodeSettings(draft_length=row.draft_length)
        request = RunRequest(row.prompt, row.target, DEFAULT_DRAFT, settings=settings)
        tried = partial(state.compare, "near-tie", request, [row.preset or ""])
        can = row.dtype == "bfloat16" and bool(row.preset)
        with right:
            st.markdown("**When greedy texts differ: the place in detail**")
            show_difference(row, state.source("greedy" if parted else "near-tie"), "same_quality_tie_figure")
            _button(state, "Run this example here", "same_quality_tie", tried, can, help=SAYS["near_tie_help"])
            show_status(state, "near-tie")


def _greedy_rows(state: SameQualityState) -> None:
    if rows := state.greedy:
        same, tokens = sum(row.same for row in rows), sum(row.tokens for row in rows)
        icon, verdict = VERDICTS[max(map(_state, rows), key=list(VERDICTS).index)]
        st.markdown(f"{badge(state.source('greedy'))} {icon} **{same} of {tokens} tokens {verdict}.**")
        cells: list[ProofCells] = [
            {
                "prompt": row.preset or "your own",
                "same": f"{'✓' if row.identical else '✗'} {row.same} of {row.tokens}",
                "difference": DIFFERENCES[_state(row)],
                "drafts accepted": f"{row.accepted} of {row.drafted}",
                "draft length": f"{row.draft_length}, tree {row.tree}" if row.tree else row.draft_length,
                "draft": short_name(row.draft),
                "target": f"{short_name(row.target)} ({row.dtype})",
            }
            for row in rows
        ]
        constant, table = drop_constant(cells)
        data_table(table, "proof_greedy_rows")
        if constant:
            st.caption(plain(f"In every row: {', '.join(f'{name} {value}' for name, value in constant.items())}."))
    with st.container(horizontal=True, key="same_quality_greedy_buttons"):
        every = partial(_compare, state, "greedy", ONE_OF_EACH[_read().request.settings.prompt_format])
        _button(state, "Compare one prompt of each kind", "same_quality_greedy", every)
        _button(state, "Compare my prompt", "same_quality_greedy_own", partial(_compare, state, "greedy"))
    show_status(state, "greedy")


def _state(row: records.GreedyRow) -> GreedyResult:
    return row.judged.state if row.judged else "identical"


def drop_constant(rows: Sequence[ProofCells]) -> tuple[ProofCells, list[ProofCells]]:
    """The settings that are the same in every row, and the rows without them: a table of half a page has no room."""
    same = {name: rows[0][name] for name in SETTINGS if len({row[name] for row in rows}) == 1}
    return same, [{name: value for name, value in row.items() if name not in same} for row in rows]


def show_difference(row: records.GreedyRow, source: ProofSource, key: str) -> None:
    tie, judged = row.near_tie, row.judged
    if tie is None or judged is None:
        st.markdown(f"{badge(source)} Here the two texts do not differ: all {row.tokens} tokens are the same.")
        return
    sentence = judged.sentence[0].upper() + judged.sentence[1:]
    mark = ":material/cancel: :orange" if judged.state == "fails" else ":material/compare_arrows: :blue"
    target = plain(short_name(row.target))
    st.markdown(
        f"{badge(source)} {target} in {row.dtype}, prompt {plain(row.preset or 'of your own')}: the texts "
        f"differ from new token {tie.position + 1} on.  \n{mark}[**{plain(sentence)}.**]"
    )
    st.text(f"…{' '.join(tie.text.split())} ▸ {tie.plain_token!r} or {tie.speculative_token!r}")
    chart(tie_figure(tie), key, alt=SAYS["tie_alt"])
    st.caption(_explain(row, tie), help=explain_limits())


def _explain(row: records.GreedyRow, tie: records.NearTie) -> str:
    one, batched, exact = tie.ways
    winner = "the plain" if exact.gap >= 0 else "the speculative run’s"
    equal = " (of equal scores, the token with the lower number is taken)" if batched.gap == 0 else ""
    leads = (
        f"The plain token leads by {one.gap:+.4f} in the one-token pass and by {batched.gap:+.4f} in the pass over "
        f"{tie.batch} tokens{equal}: a change of {tie.change:.2g}. In float32 it is {exact.gap:+.4f}: {winner} token."
    )
    if _state(row) == "fails":
        return f"{leads} So large a change has another cause than rounding: for example, a row is missing in the cache."
    if _state(row) == "unknown":
        return leads
    step = f"A bfloat16 number has 8 bits of precision, so near {one.plain:.0f} scores change in steps of "
    steps = f"{step}{bfloat16_step(one.plain):g}. " if row.dtype == "bfloat16" else ""
    return (
        f"{steps}Reading {tie.batch} tokens in one pass adds numbers in another order than reading one. {leads} "
        "Neither text is worse; in float32 this is rare."
    )


def bfloat16_step(value: float) -> float:
    """The distance between neighbouring bfloat16 numbers near `value`."""
    return 2.0 ** (floor(log2(abs(value))) - 7) if value else 0.0
