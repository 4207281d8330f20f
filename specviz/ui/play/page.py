"""The screen of the game: the text so far, the visitor's next words, their result, and the score."""

import streamlit as st

from specviz.core.assets import ASSETS
from specviz.core.metrics import Counts, count
from specviz.data.lessons.glossary import explained
from specviz.data.lessons.story import percent
from specviz.game.game import MODEL, PLAYERS, PROMPTS, ROUNDS, YOU, Mode, plan_from_link, rounds_of, run_of, score
from specviz.player.data import SUBSTEPS, stage_data
from specviz.service.job import JobView
from specviz.ui.classes.membership import class_in_link, membership, send_rounds
from specviz.ui.classes.strip import class_chip, class_game, class_question
from specviz.ui.play.board import example_data, picture, recorded_example, text_data, turn_data
from specviz.ui.play.controls import choose_game
from specviz.ui.play.final import show_final
from specviz.ui.play.held import bring_back, held_text
from specviz.ui.play.state import Playing
from specviz.ui.play.turns import (
    back_to_old,
    choose,
    choose_two,
    finish,
    look_for_offers,
    next_prompt,
    refresh,
    send_chosen,
    send_typed,
    skip,
)
from specviz.ui.session import session
from specviz.ui.shared.address import address, write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.heading import heading
from specviz.ui.shared.kept import keep
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import restore_widgets, with_value
from specviz.ui.shared.polling import SHORT_SECONDS, while_busy
from specviz.ui.stage.component import stage

STYLE = ASSETS / "play" / "page.css"
POLL_SECONDS = 0.5  # a turn takes a moment, once it is its turn
RULES: dict[Mode, str] = {
    "type": "**You are the draft.** Type the next few words: the big model accepts what it would have written itself.",
    "pick": "**You are the draft.** Pick the next words: the big model accepts what it would have written itself.",
}
FAIR = (
    f"The score compares you with two others at the same place in the same text: {MODEL}, a small draft model, and "
    "prompt lookup, which copies from the text so far. Each drafts as many tokens as you did (prompt lookup fewer, if "
    "it finds no match), and the same target model checks all three in greedy decoding. With a second guess your "
    f"draft is a tree: {MODEL} then drafts a tree of as many tokens, as deep as yours. Prompt lookup has one guess a "
    "place, so it drafts as deep as you did. The text continues with the result of your turn; it is the target’s own "
    "text, whoever drafts. Your time to think is not counted: a real draft has only milliseconds."
)
FIGURES = (
    "Accepted is the acceptance rate: accepted / drafted. With two guesses all tokens of both are drafted, so the rate "
    "is lower: compare the tokens per target call. These include the target’s own token; the target alone writes 1. A "
    "higher number makes the text come faster. A short draft is accepted more often, but a long one gains more when it "
    "is right."
)


def lead() -> None:
    """One sentence about the page, and the choice of game."""
    st.html(STYLE)
    state = session().play
    _take_link_once(state)
    with st.container(key="play_lead", horizontal=True, vertical_alignment="center"):
        heading(RULES[state.plan.mode])
        choose_game(state)
        class_chip()
    class_question()
    class_game()
    notices(state.problems)
    write_address(state.plan.link | class_in_link())


def _take_link_once(state: Playing) -> None:
    if not state.link_read:
        given = address()
        state.plan, state.problems = plan_from_link(given)
        state.link_read, state.linked = True, not state.plan.link.keys().isdisjoint(given)
        member = membership()
        if member and not state.linked:
            state.plan, state.linked = member.plan, True


def show_game() -> None:
    """The game or its end, as a part of its own. A turn is mostly checked before it is drawn."""
    game = session().play

    @st.fragment
    def drawing() -> None:
        state = session().play
        refresh(SHORT_SECONDS)
        look_for_offers(state)
        refresh(SHORT_SECONDS)
        send_rounds(state)
        if state.over:
            show_final(state)
        else:
            _show_board(state)
        keep("game", held_text(state), bring_back)
        if state is not game:
            st.rerun()  # the lead names the game

    drawing()


def _show_board(state: Playing) -> None:
    left, right = st.columns([8, 3.4], gap="medium")
    with left:
        last = state.turns[-1] if state.turns else None
        focus = f"{state.plan.link}-{state.place}-{len(state.turns)}-{state.tries}"
        inside = bool(state.here and state.here.joins)
        picture(text_data(state.text, last, inside=inside, focus=focus, busy=state.slot.busy), key="play_text")
        with st.container(key="play_entry"):  # always there, so that the picture below is not mounted again
            _show_entry(state, inside)
        with st.container(key="play_status"):
            _show_status(state)
        _show_last(state)
    with right, st.container(key="play_board"):
        _show_score(state)
    _show_run(state)


def _show_entry(state: Playing, inside: bool) -> None:
    if state.prompt_over:
        _show_way_on(state)
    elif state.plan.mode == "type":
        _show_input(state, inside)
    else:
        _show_candidates(state)


def _show_input(state: Playing, inside: bool) -> None:
    restore_widgets({"play_guess": state.typed, "play_second": state.second})
    busy = state.slot.busy
    with st.form("play_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Type the rest of the last word, and more" if inside else "What are the next few words?",
            key="play_guess",
            placeholder="type, then press Enter",
            autocomplete="off",
        )
        st.text_input(
            "A second guess (optional)",
            key="play_second",
            placeholder="or else …",
            autocomplete="off",
            help=SECOND_HELP,
        )
        st.form_submit_button("Send", key="play_send", type="primary", on_click=send_typed, disabled=busy)
        st.form_submit_button("Skip", key="play_skip", on_click=skip, disabled=busy, help=SKIP_HELP)


SECOND_HELP = (
    "Another way in which the text may go on. The two guesses make a small tree: the target checks both in one pass "
    "and takes the one that is right."
)
SKIP_HELP = "The target writes one token itself. It does not count."


def _show_candidates(state: Playing) -> None:
    busy = state.slot.busy
    if not state.offers:
        return
    restore_widgets({"play_two": state.two})
    st.markdown("**How does the text continue?** Press a number, then Enter.")
    for number, offer in enumerate(state.offers):
        chosen = number in state.chosen
        mark = f"{'①②'[state.chosen.index(number)] if state.two else '●'} " if chosen else ""
        st.button(
            f"{mark}{plain(offer.text)}",
            key=f"play_offer_{number}",
            type="primary" if chosen else "secondary",
            shortcut=str(number + 1),
            width="stretch",
            disabled=busy,
            on_click=choose,
            args=(number,),
        )
    with st.container(key="play_pick_way", horizontal=True):
        waits = busy or not state.chosen
        st.button("Send", key="play_send", type="primary", shortcut="Enter", on_click=send_chosen, disabled=waits)
        st.button("Skip", key="play_skip", on_click=skip, disabled=busy, help=SKIP_HELP)
        st.checkbox("Two guesses", on_change=choose_two, help=SECOND_HELP, **with_value("play_two"))


def _show_way_on(state: Playing) -> None:
    last = state.place == PROMPTS - 1
    if state.turns[-1].ended:
        st.markdown("The target ends the text here.")
    with st.container(key="play_way_on", horizontal=True):
        label = "See the result" if last else "Next text"
        st.button(label, key="play_next", type="primary", shortcut="Enter", on_click=next_prompt)


def _show_status(state: Playing) -> None:
    """What the visitor waits for, or why nothing was played."""
    while_busy(lambda: state.slot.busy, lambda: _show_waiting(state), refresh, every=POLL_SECONDS)
    if state.message and not state.slot.busy:
        st.warning(plain(state.message), icon=":material/lightbulb:")
        if state.plan.mode == "pick" and not state.offers:
            st.button("Try again", key="play_retry", on_click=_retry)


def _show_waiting(state: Playing) -> None:
    if view := state.slot.view:
        st.info(plain(_waiting(state, view)), icon=":material/hourglass_top:")


def _retry() -> None:
    session().play.message = ""


def _waiting(state: Playing, view: JobView) -> str:
    stays = " What you typed is saved." if state.plan.mode == "type" else ""
    if view.state == "waiting" and not view.message:
        return f"Sent: the target will read it soon.{stays}"
    if view.state == "waiting":
        return f"{view.message}{stays}"
    if view.state == "loading":
        return f"Loading {view.loading.model}.{stays}" if view.loading else f"Starting.{stays}"
    return "The target is reading."


def _show_score(state: Playing) -> None:
    scored = sum(turn.scored for turn in state.turns)
    now = min(scored + (not state.prompt_over), ROUNDS)
    st.markdown(f"**Text {state.place + 1} of {PROMPTS} · round {now} of {ROUNDS}**")
    turns = state.all_turns
    latest = next((turn for turn in reversed(turns) if turn.scored), None)
    totals = score(turns)
    rows = []
    for player in PLAYERS:
        last = count(rounds_of([latest], player)) if latest else Counts()
        accepted = f"{last.accepted} of {last.drafted}" if latest else "–"
        name = f"**{player}**" if player == YOU else player
        rows.append({"draft": name, "last round": accepted, **_figures(totals[player])})
    st.table(rows, hide_index=True)
    with st.popover("How is it scored?", type="tertiary", icon=":material/balance:"):
        st.markdown(explained(FAIR, "play-fair"), unsafe_allow_html=True)
        st.markdown(explained(FIGURES, "play-figures"), unsafe_allow_html=True)
    with st.container(key="play_ways", horizontal=True):
        if state.all_turns and not state.prompt_over:
            st.button("Next text", key="play_leave", type="tertiary", on_click=next_prompt)
        if state.all_turns:
            st.button("End the game", key="play_finish", type="tertiary", on_click=finish)
        if state.before is not None and not state.all_turns:
            st.button("Back to the previous game", key="play_back", type="tertiary", on_click=back_to_old)


def _figures(counts: Counts) -> dict[str, str]:
    rate, calls = counts.acceptance_rate, counts.tokens_per_target_call
    return {
        "accepted": "–" if rate is None else percent(rate),
        "tokens per target call": "–" if calls is None else f"{calls:.2f}",
    }


def _show_last(state: Playing) -> None:
    """The result of the last draft; before the first one, a recorded example."""
    if state.turns:
        picture(turn_data(state.turns[-1]), key="play_turn")
    elif not state.all_turns and (example := recorded_example()):
        picture(example_data(example), key="play_example")


def _show_run(state: Playing) -> None:
    """The rounds on this text as one run on the stage."""
    trace = run_of(state.turns)
    if trace is None:
        return
    with st.expander("Your rounds on the stage: choose a token to see its numbers"), st.container(key="play_stage"):
        number = len(trace.rounds)
        data = stage_data(
            trace,
            run_id=f"play-{state.plan.link}-{state.place}-{number}",
            source="live",
            running=False,
            link=state.plan.link,
            playhead=SUBSTEPS * number - 1,
            replay={"why_not": "You set the draft length yourself: it is how much you type."},
        )
        stage(data, key="play_run")
