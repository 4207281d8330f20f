"""The visitor's game: which one, the place in it, and what the engine was asked. No drawing."""

from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.workloads import Preset
from specviz.game.game import PROMPTS, Ask, Offer, Plan, Turn, is_over, plan_from_link
from specviz.game.words import guess_problem
from specviz.service.protocol import Play
from specviz.service.results import PlayResult
from specviz.ui.shared.job_slot import JobSlot

LOST = "That was interrupted before it was checked: send it again. It costs you nothing."


@dataclass(slots=True)
class Playing:
    """One visitor's game; lives in the session."""

    plan: Plan = field(default_factory=Plan)
    place: int = 0  # which prompt; PROMPTS when the game is over
    games: list[list[Turn]] = field(default_factory=lambda: [[] for _ in range(PROMPTS)])  # turns, by prompt
    here: Turn | None = None  # the text as the engine last sent it; None at the prompt itself
    chosen: int | None = None  # of the candidates
    slot: JobSlot[PlayResult] = field(default_factory=lambda: JobSlot("play", PlayResult))  # the turn being played
    typed: str = ""  # survives a visit to another page
    name: str = ""  # for the table only
    message: str = ""  # why nothing was played
    tries: int = 0  # messages so far: each brings the caret back
    problems: list[str] = field(default_factory=list)  # of the link
    before: "Playing | None" = None  # the previous game, which can be brought back

    @property
    def over(self) -> bool:
        """Whether the final screen is due."""
        return self.place >= PROMPTS

    @property
    def preset(self) -> Preset:
        """The prompt being played."""
        return self.plan.prompts[self.place]

    @property
    def turns(self) -> list[Turn]:
        """On this prompt, so far."""
        return self.games[self.place]

    @property
    def all_turns(self) -> list[Turn]:
        """Of the whole game."""
        return [turn for turns in self.games for turn in turns]

    @property
    def prompt_over(self) -> bool:
        """Whether this prompt is played to its end."""
        return is_over(self.turns)

    @property
    def text(self) -> str:
        """The text so far."""
        return self.here.text if self.here else self.preset.text

    @property
    def offers(self) -> list[Offer]:
        """The candidates there are to pick from."""
        return self.here.offers if self.here else []


def playing() -> Playing:
    """This visitor's game: the address's where it names another one."""
    given = {name: st.query_params[name] for name in ("seed", "set", "mode") if name in st.query_params}
    if "playing" not in st.session_state:
        plan, problems = plan_from_link(given)
        st.session_state.playing = Playing(plan, problems=problems)
    state: Playing = st.session_state.playing
    return state


def write_address(state: Playing) -> None:
    """The address is the class's link."""
    if {name: st.query_params.get(name) for name in state.plan.link} != state.plan.link:
        st.query_params.from_dict(state.plan.link)


def new_game(plan: Plan) -> None:
    """Start a new game. The unfinished one is saved, in case that was a mistake."""
    old = playing()
    old.slot.reset()
    old.before = None
    unfinished = old if old.all_turns and not old.over else None
    st.session_state.playing = Playing(plan, name=old.name, before=unfinished)
    st.session_state.play_guess = ""


def back_to_old() -> None:
    """Return to the previous game."""
    if (old := playing().before) is not None:
        st.session_state.playing = old
        st.session_state.play_guess = old.typed


def next_prompt() -> None:
    """Go to the next prompt, or to the end."""
    state = playing()
    state.slot.reset()  # a turn under way belongs to the prompt before
    state.place += 1
    state.here, state.chosen, state.message, state.typed = None, None, "", ""
    st.session_state.play_guess = ""


def finish() -> None:
    """See the result now."""
    playing().slot.reset()
    playing().place = PROMPTS


def send_typed() -> None:
    """Send the typed words to be checked, if there are any."""
    state = playing()
    state.typed = str(st.session_state.get("play_guess", ""))
    if not state.slot.busy and not state.prompt_over:
        _refuse_or_send(state, guess_problem(state.typed), "guess")


def send_chosen() -> None:
    """Send the chosen candidate to be checked."""
    state = playing()
    if not state.slot.busy and not state.prompt_over:
        none = "Choose one of the candidates first." if state.chosen is None else None
        _refuse_or_send(state, none, "guess")


def _refuse_or_send(state: Playing, problem: str | None, action: Literal["guess"]) -> None:
    if problem:
        state.message, state.tries = problem, state.tries + 1
    else:
        _send(state, action)


def skip() -> None:
    """Let the target write one token. It does not count."""
    state = playing()
    state.typed = str(st.session_state.get("play_guess", ""))
    if not state.slot.busy and not state.prompt_over:
        _send(state, "skip")


def look_for_offers(state: Playing) -> None:
    """In the easier mode: ask once for candidates at this place."""
    if state.over or state.prompt_over:
        return
    if state.plan.mode == "pick" and not state.slot.busy and not state.offers and not state.message:
        _send(state, "offer")


def choose(number: int) -> None:
    """Mark a candidate, without sending it."""
    state = playing()
    state.chosen, state.message = number, ""


def _send(state: Playing, action: Literal["offer", "guess", "skip"]) -> None:
    picks = state.plan.mode == "pick"
    picked = state.offers[state.chosen].token_ids if picks and action == "guess" and state.chosen is not None else []
    ask = Ask(
        action,
        state.here.text_ids if state.here else [],
        joins=bool(state.here and state.here.joins),
        guess=state.typed if action == "guess" and not picked else "",
        picked=picked,
        offers=picks,
    )
    request = RunRequest(state.preset.text, settings=DecodeSettings(seed=state.plan.seed))
    state.message = ""
    state.slot.start(lambda job: Play(job, request, ask))


def refresh() -> None:
    """Take in what the engine has sent."""
    state = playing()
    if not state.slot.refresh():
        return
    if state.slot.state == "done" and state.slot.result:
        _take(state, state.slot.result.items[-1])
    else:
        state.message = state.slot.message if state.slot.state == "failed" else LOST
        state.tries += 1


def _take(state: Playing, turn: Turn) -> None:
    state.here, state.chosen = turn, None
    if turn.trace is None:
        return
    state.turns.append(turn)
    if turn.scored:  # after a skip the visitor may still want what was typed
        state.typed = ""
        st.session_state.play_guess = ""
