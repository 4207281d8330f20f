"""The proof page: its controls, greedy texts token for token, the same distribution, rules broken on purpose."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st

from specviz.core.names import short_name
from specviz.core.numbers import localize
from specviz.core.request import DEFAULT_DRAFT, RunRequest, prompt_problem
from specviz.core.rounding import Judged, explain_limits
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.glossary import explained
from specviz.data.links.page_link import explain_left_out
from specviz.data.prompts.workloads import CHAT_WORKLOADS, OWN_TEXT, WORKLOADS
from specviz.data.texts import join_choices, page_texts
from specviz.measure.proof import rows as records
from specviz.measure.proof.findings import FALSE_ALARM, finding, totals
from specviz.service.protocol import CompareGreedy, EnumerateRules, Prove
from specviz.ui.same_quality import proof
from specviz.ui.same_quality.outcomes import badge, show_outcome, show_status, tie_figure
from specviz.ui.same_quality.own_rule import choose_pieces, show_enumerated, show_student
from specviz.ui.same_quality.proof import FORM, Found, ProofPlace, SameQualityState
from specviz.ui.shared.engine import limit_sentence
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import COLUMNS, button, chart, data_table, notices, show_words

SAYS = page_texts("same_quality")
POSITIONS = page_texts("proof_positions")
MORE = (("top_k", "tree"), ("top_p", "draft_sampling"), ("seed", "verification"))
ONE_OF_EACH = {
    "raw": [workload.prompts[0].name for workload in WORKLOADS],
    "chat": [workload.prompts[0].name for workload in CHAT_WORKLOADS],
}


def controls() -> None:
    FORM.open()
    with st.container(key="same_quality_controls"):
        prompt, models, numbers = st.columns([3, 2, 2], gap="medium")
        with prompt:
            FORM.controls.prompt()
        with models:
            FORM.controls.target()
            FORM.controls.draft()
        with numbers:
            FORM.controls.draw("temperature", offered=(proof.LEAST_TEMPERATURE, 2.0))
            FORM.controls.draw("draft_length")
        with st.expander(SAYS["more_settings"]):
            elsewhere = ("draft_length", "temperature", "max_new_tokens", "draft_schedule")
            FORM.controls.more(MORE, elsewhere, st.columns(3, gap="medium"))
    wanted = FORM.read()
    own = explain_left_out(wanted.prompt) if wanted.preset == OWN_TEXT else None
    notices([*FORM.came.notes, prompt_problem(wanted.prompt), own])


def show_proof(state: SameQualityState) -> None:
    state.refresh()
    if limit := limit_sentence():
        st.caption(limit)
    # each a part of its own: it is drawn again alone when what it shows has grown
    for place, draw in {"greedy": show_greedy, "sampling": _sampling, "switch": _switches, "yours": _yours}.items():
        st.fragment(draw, key=f"same_quality_part_{place}")(state)
    if found := records.recorded_proof():
        changed = [SAYS["other_weights"].format(name=name) for name in found.changed_weights]
        recorded = SAYS["recorded_on"].format(machine=found.machine, day=found.created[:10])
        st.caption(plain(" ".join([recorded, *changed])))


def _sampling(state: SameQualityState) -> None:
    st.header(SAYS["sampling_title"], anchor="sampling")
    st.markdown(SAYS["sampling"])
    # which token to look at, and how often; `controls` reads them: they keep their values between runs
    position, draws = st.columns([3, 2], gap="medium")
    with position:
        FORM.draw("position", records.POSITIONS, horizontal=True, format_func=POSITIONS.__getitem__)
    with draws:  # the other section's button says it too
        FORM.draw("draws", proof.DRAWS, on_change=st.rerun, format_func=lambda n: localize(n, ","))
    label = SAYS["draw"].format(draws=FORM.read().draws)
    _button(state, label, "same_quality_draw", partial(_draw, state, "lossless"), type="primary", icon="casino")
    show_status(state, "sampling")
    if outcome := state.found.get("lossless"):
        show_outcome(state, outcome, "same_quality_lossless")
    with st.expander(SAYS["method_title"]):
        st.markdown(SAYS["method"].format(places=records.PLACES, batches=records.BATCHES, false_alarm=FALSE_ALARM))


def _button(
    state: SameQualityState, label: str, key: str, begin: Callable[[], None], able: bool | None = None, **options: Any
) -> None:
    """A button that begins work, for which all sections then wait; `able`: it can, whatever the controls say."""
    able = prompt_problem(FORM.asked.prompt) is None if able is None else able
    button(label, key, begin, disabled=state.slot.busy or not able, whole_page=True, **options)


def _compare(state: SameQualityState, place: ProofPlace, presets: Sequence[str] = ()) -> None:
    rule = records.FORGETFUL.name if place == "switch" else None
    state.start(place, CompareGreedy(0, FORM.read().request(), [*presets], forgets=place == "switch"), rule)


def _draw(state: SameQualityState, rule: records.RuleName) -> None:
    wanted, only = FORM.read(), records.rule_text(rule).position
    FORM.came.acted = True
    position = wanted.position if only == "first" else only
    place: ProofPlace = "sampling" if rule == "lossless" else "switch"
    state.start(place, Prove(0, wanted.request(), rule, position, wanted.draws), rule, position)


def _switches(state: SameQualityState) -> None:
    st.header(SAYS["switches_title"], anchor="broken")
    st.markdown(SAYS["switches"])
    left, right = st.columns([2, 4], gap="large")
    with left:
        rules = {name: records.rule_text(name) for name in proof.SWITCHES}
        captions = [_caption(state, rule) for rule in rules.values()]
        labels = {name: "{} · :{}[{}]".format(rule.title, *mark_of(rule)) for name, rule in rules.items()}
        FORM.draw("rule", proof.SWITCHES, captions=captions, format_func=labels.__getitem__)
    with right:
        _switch(state, rules[FORM.read().rule])


def _yours(state: SameQualityState) -> None:
    st.header(SAYS["yours_title"], anchor="yours")
    st.markdown(SAYS["yours"])
    room = choose_pieces()
    FORM.read()

    def begin() -> None:
        state.start("yours", EnumerateRules(0, FORM.read().request()))

    _button(state, SAYS["compute"], "same_quality_enumerate", begin, icon="calculate")
    show_status(state, "yours")
    if known := state.found.get("yours"):
        show_enumerated(known, room)
    show_student(state)


def mark_of(rule: records.RuleText) -> tuple[str, str]:
    """A colour and a word: colour never stands alone."""
    if rule.lossless:
        return "blue", SAYS["rule_slower" if rule.name == "match" else "rule_lossless"]
    return "orange", SAYS["rule_lossy" if rule.by_design else "rule_wrong"]


def _caption(state: SameQualityState, rule: records.RuleText) -> str:
    found, forgetful = state.found.get(rule.name), rule.name == records.FORGETFUL.name
    if found is None:
        return SAYS["not_compared" if forgetful else "not_drawn"]
    if forgetful:
        *_, row = found.items
        said = SAYS["row_fails" if _state(row) == "fails" else "row_same"]
        return said.format(token=row.same + 1, same=row.same, tokens=row.tokens)
    judged = finding(found.items)
    said = SAYS[{"fails": "draws_fail", "passes": "draws_pass"}.get(judged.state, "draws_so_far")]
    return said.format(failed=judged.failed_at, draws=totals(found.items)[-1].draws)


def _switch(state: SameQualityState, rule: records.RuleText) -> None:
    color, word = mark_of(rule)
    mark = f":{color}-badge[{word.upper()}]"
    about = explained(f"{rule.does} {rule.why}", "proof-switch")
    st.markdown(f"{mark} **{rule.title}.** {about}", unsafe_allow_html=True)
    if rule.position == "after":
        st.caption(SAYS["after_rejection"])
    if forgetful := rule.name == records.FORGETFUL.name:
        compared = partial(_compare, state, "switch")
        _button(state, SAYS["compare_this_way"], "same_quality_forget", compared, icon="compare_arrows")
    else:
        label = SAYS["draw_this_way"].format(draws=FORM.asked.draws)
        _button(state, label, "same_quality_break", partial(_draw, state, rule.name), icon="casino")
    show_status(state, "switch")
    found = state.found.get(rule.name)
    if found and forgetful:
        show_difference(found, found.items[-1], "same_quality_forgotten_figure")
    elif found:
        show_outcome(state, found, "same_quality_switch", narrow=True)


ProofCells = dict[str, str | int]  # of a row of the table
SETTINGS = ("draft length", "draft", "target")
GreedyResult = Judged | Literal["identical"]
ICONS: dict[GreedyResult, str] = {  # the worst one last
    "identical": "check_circle",
    "rounding": "compare_arrows",
    "unknown": "help",
    "fails": "cancel",
}


def show_greedy(state: SameQualityState) -> None:
    st.header(SAYS["greedy_title"], anchor="greedy")
    show_words(SAYS["greedy"], "proof-greedy")
    left, right = st.columns([4, 6], gap="large")
    with left:
        _greedy_rows(state)
    greedy, tied = state.found.get("greedy"), state.found.get("near-tie")
    parted = [row for row in greedy.items if row.near_tie] if greedy else []
    if shown := greedy if parted else tied:
        row = min(parted or shown.items, key=lambda row: _state(row) != "fails")
        settings = DecodeSettings(draft_length=row.draft_length)
        request = RunRequest(row.prompt, row.target, DEFAULT_DRAFT, settings=settings)
        tried = partial(state.start, "near-tie", CompareGreedy(0, request, [row.preset], half=True))
        can = row.dtype == "bfloat16" and bool(row.preset)
        with right:
            st.markdown(SAYS["near_tie_title"])
            show_difference(shown, row, "same_quality_tie_figure")
            _button(state, SAYS["near_tie_here"], "same_quality_tie", tried, can)
            show_status(state, "near-tie")


def _greedy_rows(state: SameQualityState) -> None:
    if found := state.found.get("greedy"):
        rows: Sequence[records.GreedyRow] = found.items
        same, tokens = sum(row.same for row in rows), sum(row.tokens for row in rows)
        worst = max(map(_state, rows), key=list(ICONS).index)
        verdict = SAYS["greedy_same"].format(same=same, tokens=tokens)
        if worst != "identical":
            verdict = f"{verdict} {SAYS[f'greedy_{worst}']}"
        st.markdown(f"{badge(found.source)} :material/{ICONS[worst]}: **{verdict}**")
        cells: list[ProofCells] = [
            {
                "prompt": row.preset or SAYS["own_prompt"],
                "same": SAYS["same_yes" if row.identical else "same_no"].format(same=row.same, tokens=row.tokens),
                "difference": SAYS[f"difference_{_state(row)}"],
                "drafts accepted": SAYS["accepted_of"].format(accepted=row.accepted, drafted=row.drafted),
                "draft length": SAYS["length_and_tree"].format(row=row) if row.tree else row.draft_length,
                "draft": short_name(row.draft),
                "target": f"{short_name(row.target)} ({row.dtype})",
            }
            for row in rows
        ]
        # what is the same in every row has no column: a table of half a page has no room
        constant = {name: cells[0][name] for name in SETTINGS if len({row[name] for row in cells}) == 1}
        table = [{name: value for name, value in row.items() if name not in constant} for row in cells]
        data_table(table, "proof_greedy_rows")
        if constant:
            same_in_all = join_choices([f"{COLUMNS[name]} {value}" for name, value in constant.items()], "and")
            st.caption(plain(SAYS["in_every_row"].format(settings=same_in_all)))
    with st.container(horizontal=True, key="same_quality_greedy_buttons"):
        every = partial(_compare, state, "greedy", ONE_OF_EACH[FORM.asked.request().settings.prompt_format])
        _button(state, SAYS["compare_kinds"], "same_quality_greedy", every)
        _button(state, SAYS["compare_own"], "same_quality_greedy_own", partial(_compare, state, "greedy"))
    show_status(state, "greedy")


def _state(row: records.GreedyRow) -> GreedyResult:
    return row.judged.state if row.judged else "identical"


def show_difference(found: Found, row: records.GreedyRow, key: str) -> None:
    tie, judged = row.near_tie, row.judged
    if tie is None or judged is None:
        st.markdown(f"{badge(found.source)} {SAYS['no_difference'].format(tokens=row.tokens)}")
        return
    sentence = judged.sentence[0].upper() + judged.sentence[1:]
    mark = ":material/cancel: :orange" if judged.state == "fails" else ":material/compare_arrows: :blue"
    figures = {"target": plain(short_name(row.target)), "dtype": row.dtype, "place": tie.position + 1}
    where = SAYS["parted"].format(**figures, prompt=plain(row.preset or SAYS["own_prompt"]))
    st.markdown(f"{badge(found.source)} {where}  \n{mark}[**{plain(sentence)}.**]")
    before, plain_token, speculative = " ".join(tie.text.split()), repr(tie.plain_token), repr(tie.speculative_token)
    st.text(SAYS["either_token"].format(before=before, plain=plain_token, speculative=speculative))
    chart(tie_figure(tie), key, alt=SAYS["tie_alt"])
    why = {"fails": "tie_fails", "unknown": ""}.get(judged.state, "tie_order")
    st.caption(SAYS[why].format(batch=tie.batch) if why else "", help=explain_limits())
