"""What a visitor does in the game: begin, draft, skip, go on. The page's buttons call these. No drawing."""

from typing import Literal

import streamlit as st

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.game.game import PROMPTS, Ask, Plan, Turn
from specviz.game.words import guess_problem
from specviz.service.protocol import Play
from specviz.ui.play.state import Playing
from specviz.ui.session import session
from specviz.ui.shared.persistent_widgets import set_widgets

LOST = "That was interrupted before it was checked: send it again. It costs you nothing."


def new_game(plan: Plan) -> None:
    """Start a new game. The unfinished one is saved, in case that was a mistake."""
    old = session().play
    old.slot.reset()
    old.before = None
    unfinished = old if old.all_turns and not old.over else None
    state = session().play = Playing(plan, link_read=True, begun=True, name=old.name, two=old.two, before=unfinished)
    _clear(state)


def back_to_old() -> None:
    """Return to the previous game."""
    if (old := session().play.before) is not None:
        session().play = old
        set_widgets({"play_guess": old.typed, "play_second": old.second, "play_two": old.two})


def next_prompt() -> None:
    """Go to the next prompt, or to the end."""
    state = session().play
    state.slot.reset()  # a turn under way belongs to the prompt before
    state.place += 1
    state.here, state.chosen, state.message = None, [], ""
    _clear(state)


def finish() -> None:
    """See the result now."""
    session().play.slot.reset()
    session().play.place = PROMPTS


def send_typed() -> None:
    """Send the typed words to be checked, if there are any: one guess, or two for the same place."""
    state = session().play
    _take_typed(state)
    if not state.slot.busy and not state.prompt_over:
        second = guess_problem(state.second) if state.second.strip() else None
        _refuse_or_send(state, guess_problem(state.typed) or second, "guess")


def send_chosen() -> None:
    """Send the chosen candidate to be checked."""
    state = session().play
    if not state.slot.busy and not state.prompt_over:
        none = None if state.chosen else "Choose one of the candidates first."
        _refuse_or_send(state, none, "guess")


def _refuse_or_send(state: Playing, problem: str | None, action: Literal["guess"]) -> None:
    if problem:
        state.message, state.tries = problem, state.tries + 1
    else:
        _send(state, action)


def skip() -> None:
    """Let the target write one token. It does not count."""
    state = session().play
    _take_typed(state)
    if not state.slot.busy and not state.prompt_over:
        _send(state, "skip")


def look_for_offers(state: Playing) -> None:
    """In the easier mode: ask once for candidates at this place."""
    if state.over or state.prompt_over:
        return
    if state.plan.mode == "pick" and not state.slot.busy and not state.offers and not state.message:
        _send(state, "offer")


def choose(number: int) -> None:
    """Mark a candidate, or where two may be chosen take the mark away, without sending it."""
    state = session().play
    others = [one for one in state.chosen if one != number]
    again = state.two and number in state.chosen
    state.chosen = others if again else [*others, number][-2 if state.two else -1 :]
    state.message = ""


def choose_two() -> None:
    """Let two candidates be chosen, or only one again."""
    state = session().play
    state.two = bool(st.session_state.play_two)
    state.chosen = state.chosen if state.two else state.chosen[-1:]


def _send(state: Playing, action: Literal["offer", "guess", "skip"]) -> None:
    picks = state.plan.mode == "pick"
    picked = [state.offers[number].token_ids for number in state.chosen if picks and action == "guess"]
    ask = Ask(
        action,
        state.here.text_ids if state.here else [],
        joins=bool(state.here and state.here.joins),
        guess=state.typed if action == "guess" and not picked else "",
        picked=picked[0] if picked else [],
        offers=picks,
        second=state.second if action == "guess" and not picked else "",
        other=picked[1] if len(picked) == 2 else [],
    )
    request = RunRequest(state.preset.text, settings=DecodeSettings(seed=state.plan.seed))
    state.message = ""
    state.slot.start(lambda job: Play(job, request, ask))


def refresh(patience: float = 0.0) -> bool:
    """Take in what the engine has sent; True once it has answered.

    Args:
        patience: how long to wait for the answer to what was just sent, in seconds.
    """
    state = session().play
    if not state.slot.first_look(patience):
        return False
    if state.slot.state == "done" and state.slot.result:
        _take(state, state.slot.result.items[-1])
    else:
        state.message = state.slot.message if state.slot.state == "failed" else LOST
        state.tries += 1
    return True


def _take(state: Playing, turn: Turn) -> None:
    state.here, state.chosen = turn, []
    if turn.trace is None:
        return
    state.turns.append(turn)
    if turn.scored:  # after a skip the visitor may still want what was typed
        _clear(state)


def _take_typed(state: Playing) -> None:
    """What the visitor typed survives a message, and a visit to another page."""
    state.typed = str(st.session_state.get("play_guess", ""))
    state.second = str(st.session_state.get("play_second", ""))


def _clear(state: Playing) -> None:
    state.typed = state.second = ""
    set_widgets({"play_guess": "", "play_second": ""})
