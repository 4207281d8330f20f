"""The screen of the game: the text so far, the next words, their result and the score; choosing a game, and its end."""

from functools import partial

import streamlit as st

from specviz.core.files import BROWSER
from specviz.core.metrics import Counts, count
from specviz.data.links.permalink import MAX_SEED
from specviz.data.prompts.workloads import find_workload
from specviz.data.texts import page_texts
from specviz.game import game
from specviz.game.game import MODES, PROMPTS, ROUNDS, YOU, GamePlan, game_targets, score, sets_of
from specviz.game.messages import ending, verdict
from specviz.game.saved import MAX_NAME, game_csv
from specviz.models.draft_menu import explain_refusal, is_allowed, model_label
from specviz.player.data import SUBSTEPS, stage_data
from specviz.ui.be_the_draft import turns as moves
from specviz.ui.be_the_draft.board import example_data, picture, player_name, recorded_example, text_data, turn_data
from specviz.ui.be_the_draft.turns import BeTheDraftState, new_game
from specviz.ui.classes.membership import class_chip, class_game, class_in_link, class_question, membership, send_rounds
from specviz.ui.session import Session
from specviz.ui.shared import parts
from specviz.ui.shared.address import address, page_address, write_address
from specviz.ui.shared.components import keep
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import SHORT_SECONDS, waiting_line, while_busy
from specviz.ui.shared.persistent_widgets import draw, restore_widgets, set_widgets
from specviz.ui.shared.stage import stage

SAYS = page_texts("be_the_draft")
STYLE = BROWSER / "styles" / "be_the_draft.css"
POLL_SECONDS = 0.5  # a turn takes a moment, once it is its turn


def lead(visit: Session) -> None:
    st.html(STYLE)
    state, given, came = visit.of(BeTheDraftState), address(), visit.arrival("be_the_draft")
    if plan := came.read_once(given, game.plan_from_link):
        member, named = membership(), not plan.link.keys().isdisjoint(given)
        state.linked = named or member is not None
        state.plan = plan if named else member.plan if member else GamePlan()
        state.message = "" if is_allowed(state.plan.target) else explain_refusal(state.plan.target)
    with st.container(key="be_the_draft_lead", horizontal=True):
        parts.heading(SAYS["heading"])
        choose_game(visit)
        class_chip()
    class_question()
    class_game()
    parts.notices(came.notes)
    write_address(state.plan.link | class_in_link())


def show_game(visit: Session) -> None:
    drawn = visit.of(BeTheDraftState)

    @st.fragment
    def drawing() -> None:
        state = visit.of(BeTheDraftState)
        moves.refresh(state, SHORT_SECONDS)
        moves.look_for_offers(state)
        moves.refresh(state, SHORT_SECONDS)
        send_rounds(state)
        if state.over:
            show_final(visit)
        else:
            _show_board(visit)
        keep("game", moves.held_text(state), partial(moves.bring_back, visit))
        if state is not drawn:
            st.rerun()  # the lead names the game

    drawing()


def _show_board(visit: Session) -> None:
    state = visit.of(BeTheDraftState)
    left, right = st.columns([8, 3.4], gap="medium")
    with left:
        last = state.turns[-1] if state.turns else None
        focus = f"{state.plan.link}-{state.place}-{len(state.turns)}-{state.tries}"
        inside = bool(state.here and state.here.joins)
        drawn = text_data(state.text, last, inside=inside, focus=focus, busy=state.slot.busy, asked=state.asked)
        picture(drawn, key="be_the_draft_text")
        with st.container(key="be_the_draft_entry"):  # always there, so that the picture below is not mounted again
            if state.prompt_over:
                if state.turns[-1].ended:
                    st.markdown(ending())
                with st.container(key="be_the_draft_way_on", horizontal=True):
                    way: parts.Options = {"type": "primary", "shortcut": "Enter"}
                    label = SAYS["result" if state.place == PROMPTS - 1 else "next"]
                    parts.button(label, "be_the_draft_next", moves.next_prompt, state, **way)
            elif state.plan.mode == "type":
                _show_input(state, inside)
            else:
                _show_candidates(state)
        with st.container(key="be_the_draft_status"):
            _show_status(state)
        if state.turns:
            picture(turn_data(state.turns[-1]), key="be_the_draft_turn")
        elif not state.all_turns:
            picture(example_data(recorded_example()), key="be_the_draft_example")
    with right, st.container(key="be_the_draft_board"):
        _show_score(visit)
    if trace := game.run_of(state.turns):
        with st.expander(SAYS["stage"]), st.container(key="be_the_draft_stage"):
            number = len(trace.rounds)
            run_id = f"be_the_draft-{state.plan.link}-{state.place}-{number}"
            data = stage_data(trace, run_id=run_id, source="live", running=False)
            data["link"], data["playhead"] = state.plan.link, SUBSTEPS * number - 1
            data["why_not"] = SAYS["why_not"]
            stage(data, key="be_the_draft_run")


def _show_input(state: BeTheDraftState, inside: bool) -> None:
    restore_widgets({"be_the_draft_guess": state.typed, "be_the_draft_second": state.second})
    busy = state.slot.busy
    with st.form("be_the_draft_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        asked = SAYS["rest" if inside else "next_text"]
        st.text_input(asked, key="be_the_draft_guess", placeholder=SAYS["guess_empty"], autocomplete="off")
        second: parts.Options = {"placeholder": SAYS["second_empty"], "help": SAYS["second_help"]}
        st.text_input(SAYS["second"], key="be_the_draft_second", autocomplete="off", **second)
        send = partial(moves.send, state)
        st.form_submit_button(SAYS["send"], key="be_the_draft_send", type="primary", disabled=busy, on_click=send)
        skip: parts.Options = {"help": SAYS["skip_help"], "on_click": partial(moves.skip, state)}
        st.form_submit_button(SAYS["skip"], key="be_the_draft_skip", disabled=busy, **skip)


def _show_candidates(state: BeTheDraftState) -> None:
    busy = state.slot.busy
    if not state.offers:
        return
    restore_widgets({"be_the_draft_two": state.two})
    st.markdown(SAYS["candidates_text"])
    for number, offer in enumerate(state.offers):
        chosen = number in state.chosen
        mark = f"{'①②'[state.chosen.index(number)] if state.two else '●'} " if chosen else ""
        look: parts.Options = {
            "type": "primary" if chosen else "secondary",
            "width": "stretch",
            "shortcut": str(number + 1),
        }
        label, key = f"{mark}{plain(offer.text)}", f"be_the_draft_offer_{number}"
        parts.button(label, key, moves.choose, state, number, disabled=busy, **look)
    with st.container(key="be_the_draft_pick_way", horizontal=True):
        able = not busy and bool(state.chosen)
        sending: parts.Options = {"type": "primary", "shortcut": "Enter", "disabled": not able}
        parts.button(SAYS["send"], "be_the_draft_send", moves.send, state, **sending)
        parts.button(SAYS["skip"], "be_the_draft_skip", moves.skip, state, disabled=busy, help=SAYS["skip_help"])
        choose = partial(moves.choose_two, state)
        draw("checkbox", SAYS["two"], "be_the_draft_two", help=SAYS["second_help"], on_change=choose)


def _show_status(state: BeTheDraftState) -> None:

    def waiting() -> None:
        view, said = state.slot.view, SAYS["reading"]
        if view.state == "waiting":
            said = view.message or SAYS["sent"]
        elif line := waiting_line(view):
            said = f"{line[:1].upper()}{line[1:]}."
        if view.state in ("waiting", "loading") and state.plan.mode == "type":
            said = SAYS["typed_stays"].format(state=said)
        st.info(plain(said), icon=":material/hourglass_top:")

    parts.offer_download(state.slot)
    while_busy(lambda: state.slot.busy, waiting, lambda: moves.refresh(state), every=POLL_SECONDS)
    if state.message and not state.slot.busy:
        st.warning(plain(state.message), icon=":material/lightbulb:")
        if state.plan.mode == "pick" and not state.offers:
            parts.button(SAYS["candidates_again"], "be_the_draft_retry", setattr, state, "message", "")


def _show_score(visit: Session) -> None:
    state = visit.of(BeTheDraftState)
    turns = state.all_turns
    now = min(sum(turn.scored for turn in state.turns) + (not state.prompt_over), ROUNDS)
    st.markdown(SAYS["round"].format(text=state.place + 1, texts=PROMPTS, round=now, rounds=ROUNDS))
    latest, rows = next((turn for turn in reversed(turns) if turn.scored), None), []
    totals = score(turns, state.plan.rival)
    for player in totals:
        last = count(game.rounds_of([latest], player)) if latest else Counts()
        accepted = SAYS["accepted_of"].format(accepted=last.accepted, drafted=last.drafted) if latest else "–"
        row = {SAYS["column_draft"]: _named(player), SAYS["column_last"]: accepted}
        row |= {SAYS["column_accepted"]: parts.rate_of(totals[player])}
        rows.append(row | {parts.COLUMNS["tokens per target call"]: parts.per_call(totals[player])})
    st.table(rows, hide_index=True)
    with st.popover(SAYS["how_scored"], type="tertiary", icon=":material/balance:"):
        parts.show_words(SAYS["fair"].format(model=state.plan.rival), "be_the_draft-fair")
    with st.container(key="be_the_draft_ways", horizontal=True):
        if state.all_turns and not state.prompt_over:
            parts.button(SAYS["next"], "be_the_draft_leave", moves.next_prompt, state, type="tertiary")
        if state.all_turns:
            parts.button(SAYS["finish"], "be_the_draft_finish", moves.finish, state, type="tertiary")
        elif state.before is not None:
            parts.button(SAYS["back"], "be_the_draft_back", moves.go_on, visit, state.before, type="tertiary")


def _named(player: str) -> str:
    return f"**{SAYS['you']}**" if player == YOU else player_name(player)


def choose_game(visit: Session) -> None:
    plan = visit.of(BeTheDraftState).plan
    names = ("seed", "set", "mode", "target")
    set_widgets({f"be_the_draft_{name}": getattr(plan, name) for name in names})

    def changed() -> None:
        seed, kind, mode, target = (st.session_state[f"be_the_draft_{name}"] for name in names)
        wanted = GamePlan.chosen(seed, kind if target == plan.target else sets_of(target)[0], mode, target)
        if wanted != visit.of(BeTheDraftState).plan:
            new_game(visit, wanted)

    always: parts.Options = {"label_visibility": "collapsed", "required": True, "on_change": changed}
    modes: parts.Options = {"format_func": lambda mode: SAYS[f"mode_{mode}"]}
    st.segmented_control(SAYS["how"], MODES, key="be_the_draft_mode", **modes, **always)
    with st.popover(SAYS["game"], icon=":material/school:"):
        targets = list(dict.fromkeys([*game_targets(), plan.target]))
        st.selectbox(SAYS["target"], targets, format_func=model_label, key="be_the_draft_target", on_change=changed)
        sets = sets_of(plan.target)
        st.selectbox(SAYS["set"], sets, format_func=set_title, key="be_the_draft_set", on_change=changed)
        seed: parts.Options = {"step": 1, "key": "be_the_draft_seed", "on_change": changed}
        st.number_input(SAYS["seed"], 0, MAX_SEED, **seed)
        st.markdown(SAYS["class_link"])
        st.code(page_address("be_the_draft", **plan.link), language=None, wrap_lines=True)
        parts.page_button(SAYS["class_board"], "class", "be_the_draft_class_board", "groups")
        st.caption(SAYS["length"].format(prompts=PROMPTS, rounds=ROUNDS))


def set_title(name: str) -> str:
    found = find_workload(name)
    return found.here.title if found else name


def show_final(visit: Session) -> None:
    state = visit.of(BeTheDraftState)
    plan, scored = state.plan, [turns for turns in state.games if any(turn.scored for turn in turns)]
    numbered = {SAYS["text_number"].format(number=number): turns for number, turns in enumerate(state.games, start=1)}
    games = {name: turns for name, turns in numbered.items() if turns in scored}
    rows = [
        {
            SAYS["column_text"]: of,
            SAYS["column_draft"]: _named(player),
            SAYS["column_drafted"]: str(counts.drafted),
            SAYS["column_accepted"]: str(counts.accepted),
            SAYS["column_rate"]: parts.rate_of(counts),
            SAYS["column_passes"]: str(counts.rounds),
            parts.COLUMNS["tokens per target call"]: parts.per_call(counts),
        }
        for of, turns in (games | {f"**{SAYS['all']}**": state.all_turns}).items()
        for player, counts in score(turns, plan.rival).items()
    ]
    st.markdown(f"## {verdict(state.all_turns, plan.rival)}")
    st.table(rows, hide_index=True)
    with st.container(key="be_the_draft_again_ways", horizontal=True):
        parts.button(SAYS["play_again"], "be_the_draft_again", new_game, visit, plan, type="primary")
        other = plan.model_copy(update={"seed": (plan.seed + 1) % (MAX_SEED + 1)})
        parts.button(SAYS["other_texts"], "be_the_draft_other", new_game, visit, other)
    st.markdown(SAYS["for_class"])
    with st.container(key="be_the_draft_class", horizontal=True, vertical_alignment="bottom"):
        more: parts.Options = {"max_chars": MAX_NAME, "key": "be_the_draft_name"}
        state.name = st.text_input(SAYS["name"], value=state.name, **more)[:MAX_NAME]
        file = f"be-the-draft-{plan.set}-{plan.seed}.csv"
        parts.download(SAYS["download"], lambda: game_csv(plan, state.games, state.name), file, disabled=not scored)
