"""The proof page: its controls, greedy texts token for token, the same distribution, rules broken on purpose."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Literal

import streamlit as st

from specviz.core.names import short_name
from specviz.core.numbers import localize
from specviz.core.request import DEFAULT_DRAFT, RunRequest, prompt_problem
from specviz.core.rounding import Judged, explain_limits
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.glossary import explained
from specviz.data.links.permalink import explain_left_out
from specviz.data.prompts.workloads import OWN_TEXT
from specviz.data.texts import join_choices, page_texts
from specviz.measure.proof import rows as records
from specviz.measure.proof.findings import FALSE_ALARM
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
from specviz.ui.shared.parts import COLUMNS, button, data_table, notices, show_words
from specviz.ui.shared.persistent_widgets import bind_index, bind_value, held, remember_widgets, restore_widgets
from specviz.ui.shared.run_controls import RunControls

SAYS = page_texts("same_quality")
POSITIONS = page_texts("proof_positions")
CONTROLS = RunControls("same_quality_")
MORE = (("top_k", "tree"), ("top_p", "draft_sampling"), ("seed", "verification"))
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
            CONTROLS.draw("temperature", offered=(LEAST_TEMPERATURE, 2.0))
            CONTROLS.draw("draft_length")
        with st.expander(SAYS["more_settings"]):
            elsewhere = ("draft_length", "temperature", "max_new_tokens", "draft_schedule")
            CONTROLS.more(MORE, elsewhere, st.columns(3, gap="medium"))
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
        changed = [SAYS["other_weights"].format(name=name) for name in found.changed_weights]
        recorded = SAYS["recorded_on"].format(machine=found.machine, day=found.created[:10])
        st.caption(plain(" ".join([recorded, *changed])))


def _sampling(state: SameQualityState) -> None:
    st.header(SAYS["sampling_title"], anchor="sampling")
    st.markdown(SAYS["sampling"])
    # which token to look at, and how often; `controls` reads them: they keep their values between runs
    position, draws = st.columns([3, 2], gap="medium")
    chosen = bind_index("same_quality_position", records.POSITIONS) | {"format_func": POSITIONS.__getitem__}
    position.radio(SAYS["which_token"], records.POSITIONS, horizontal=True, **chosen)
    more = bind_value("same_quality_draws") | {"format_func": lambda n: localize(n, ",")}
    # the other section's button says it too
    draws.select_slider(SAYS["how_often"], same_quality_state.DRAWS, on_change=st.rerun, **more)
    remember(state)
    label = SAYS["draw"].format(draws=held("same_quality_draws"))
    _button(state, label, "same_quality_draw", partial(_draw, state, "lossless"), type="primary", icon="casino")
    show_status(state, "sampling")
    if outcome := state.outcomes.get("lossless"):
        show_outcome(state, outcome, "same_quality_lossless")
    with st.expander(SAYS["method_title"]):
        st.markdown(SAYS["method"].format(places=records.PLACES, batches=records.BATCHES, false_alarm=FALSE_ALARM))


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
    st.header(SAYS["switches_title"], anchor="broken")
    st.markdown(SAYS["switches"])
    left, right = st.columns([2, 4], gap="large")
    with left:
        rules = {name: records.rule_text(name) for name in SWITCHES}
        captions = [_caption(state, rule) for rule in rules.values()]
        labels = {name: "{} · :{}[{}]".format(rule.title, *mark_of(rule)) for name, rule in rules.items()}
        more = bind_index("same_quality_rule", SWITCHES) | {"captions": captions, "format_func": labels.__getitem__}
        chosen: records.RuleName = st.radio(SAYS["switch"], SWITCHES, **more)
        remember(state)
    with right:
        _switch(state, rules[chosen])


def _yours(state: SameQualityState) -> None:
    st.header(SAYS["yours_title"], anchor="yours")
    st.markdown(SAYS["yours"])
    room = choose_pieces()
    remember(state)
    begin = partial(_enumerate, state)
    _button(state, SAYS["compute"], "same_quality_enumerate", begin, icon="calculate")
    show_status(state, "yours")
    if state.enumerated:
        show_enumerated(state.enumerated, room)
    show_student(state)


def _enumerate(state: SameQualityState) -> None:
    state.enumerate_rules(_read().request)


def mark_of(rule: records.RuleText) -> tuple[str, str]:
    """A colour and a word: colour never stands alone."""
    if rule.lossless:
        return "blue", SAYS["rule_slower" if rule.name == "match" else "rule_lossless"]
    return "orange", SAYS["rule_lossy" if rule.by_design else "rule_wrong"]


def _caption(state: SameQualityState, rule: records.RuleText) -> str:
    if rule.name == records.FORGETFUL.name:
        if (row := state.forgotten_row) is None:
            return SAYS["not_compared"]
        said = "row_fails" if _state(row) == "fails" else "row_same"
        figures: dict[str, object] = {"token": row.same + 1, "same": row.same, "tokens": row.tokens}
    else:
        outcome = state.outcomes.get(rule.name)
        if outcome is None or not outcome.batches:
            return SAYS["not_drawn"]
        found = outcome.finding
        said = {"fails": "draws_fail", "passes": "draws_pass"}.get(found.state, "draws_so_far")
        figures = {"failed": found.failed_at or 0, "draws": outcome.looks[-1].draws}
    return SAYS[said].format(**figures)


def _switch(state: SameQualityState, rule: records.RuleText) -> None:
    color, word = mark_of(rule)
    mark = f":{color}-badge[{word.upper()}]"
    about = explained(f"{rule.does} {rule.why}", "proof-switch")
    st.markdown(f"{mark} **{rule.title}.** {about}", unsafe_allow_html=True)
    if rule.position == "after":
        st.caption(SAYS["after_rejection"])
    if rule.name == records.FORGETFUL.name:
        compared = partial(_compare, state, "switch")
        _button(state, SAYS["compare_this_way"], "same_quality_forget", compared, icon="compare_arrows")
    else:
        label = SAYS["draw_this_way"].format(draws=held("same_quality_draws"))
        _button(state, label, "same_quality_break", partial(_draw, state, rule.name), icon="casino")
    show_status(state, "switch")
    if rule.name == records.FORGETFUL.name and state.forgotten_row:
        show_difference(state.forgotten_row, state.source("switch"), "same_quality_forgotten_figure")
    elif outcome := state.outcomes.get(rule.name):
        show_outcome(state, outcome, "same_quality_switch", narrow=True)


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
    parted = sorted((row for row in state.greedy if row.near_tie), key=lambda row: _state(row) != "fails")
    if row := parted[0] if parted else state.near_tie:
        settings = DecodeSettings(draft_length=row.draft_length)
        request = RunRequest(row.prompt, row.target, DEFAULT_DRAFT, settings=settings)
        tried = partial(state.compare, "near-tie", request, [row.preset or ""])
        can = row.dtype == "bfloat16" and bool(row.preset)
        with right:
            st.markdown(SAYS["near_tie_title"])
            show_difference(row, state.source("greedy" if parted else "near-tie"), "same_quality_tie_figure")
            _button(state, SAYS["near_tie_here"], "same_quality_tie", tried, can)
            show_status(state, "near-tie")


def _greedy_rows(state: SameQualityState) -> None:
    if rows := state.greedy:
        same, tokens = sum(row.same for row in rows), sum(row.tokens for row in rows)
        worst = max(map(_state, rows), key=list(ICONS).index)
        verdict = SAYS["greedy_same"].format(same=same, tokens=tokens)
        if worst != "identical":
            verdict = f"{verdict} {SAYS[f'greedy_{worst}']}"
        st.markdown(f"{badge(state.source('greedy'))} :material/{ICONS[worst]}: **{verdict}**")
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
        constant, table = drop_constant(cells)
        data_table(table, "proof_greedy_rows")
        if constant:
            same_in_all = join_choices([f"{COLUMNS[name]} {value}" for name, value in constant.items()], "and")
            st.caption(plain(SAYS["in_every_row"].format(settings=same_in_all)))
    with st.container(horizontal=True, key="same_quality_greedy_buttons"):
        every = partial(_compare, state, "greedy", ONE_OF_EACH[_read().request.settings.prompt_format])
        _button(state, SAYS["compare_kinds"], "same_quality_greedy", every)
        _button(state, SAYS["compare_own"], "same_quality_greedy_own", partial(_compare, state, "greedy"))
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
        st.markdown(f"{badge(source)} {SAYS['no_difference'].format(tokens=row.tokens)}")
        return
    sentence = judged.sentence[0].upper() + judged.sentence[1:]
    mark = ":material/cancel: :orange" if judged.state == "fails" else ":material/compare_arrows: :blue"
    figures = {"target": plain(short_name(row.target)), "dtype": row.dtype, "place": tie.position + 1}
    where = SAYS["parted"].format(**figures, prompt=plain(row.preset or SAYS["own_prompt"]))
    st.markdown(f"{badge(source)} {where}  \n{mark}[**{plain(sentence)}.**]")
    before, plain_token, speculative = " ".join(tie.text.split()), repr(tie.plain_token), repr(tie.speculative_token)
    st.text(SAYS["either_token"].format(before=before, plain=plain_token, speculative=speculative))
    chart(tie_figure(tie), key, alt=SAYS["tie_alt"])
    st.caption(_explain(row, tie), help=explain_limits())


def _explain(row: records.GreedyRow, tie: records.NearTie) -> str:
    said = {"fails": "tie_fails", "unknown": ""}.get(_state(row), "tie_order")
    return SAYS[said].format(batch=tie.batch) if said else ""
