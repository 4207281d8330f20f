"""The visitor's game, the place in it, and what is done there: begin, draft, skip, go on. No drawing."""

from dataclasses import dataclass, field
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import Literal

import streamlit as st

from specviz.core.errors import InputError
from specviz.data.prompts.workloads import Preset
from specviz.data.texts import page_texts
from specviz.game.game import PROMPTS, GamePlan, GameRequest, Offer, Turn, is_over
from specviz.game.saved import SavedGame, dump_game, load_game
from specviz.game.words import guess_problem
from specviz.service.protocol import Play
from specviz.ui.session import Session
from specviz.ui.shared.job_slot import JobSlot
from specviz.ui.shared.persistent_widgets import set_widgets


@dataclass(slots=True)
class BeTheDraftState:
    plan: GamePlan = field(default_factory=GamePlan)
    place: int = 0  # which prompt; PROMPTS when the game is over
    games: list[list[Turn]] = field(default_factory=lambda: [[] for _ in range(PROMPTS)])  # turns, by prompt
    here: Turn | None = None  # the text as the engine last sent it; None at the prompt itself
    chosen: list[int] = field(default_factory=list)  # of the candidates: one, or two as two guesses
    two: bool = False  # whether two candidates may be chosen
    slot: JobSlot = field(default_factory=lambda: JobSlot("play"))  # the turn being played
    typed: str = ""  # survives a visit to another page
    second: str = ""  # the same of a second guess
    name: str = ""  # for the table only
    message: str = ""  # why nothing was played
    tries: int = 0  # messages so far: each brings the caret back
    before: "BeTheDraftState | None" = None  # the previous game, which can be brought back
    linked: bool = False  # the address named the game
    ours: bool = True  # this server has checked all its rounds: a browser tab may hand back what nobody played
    begun: bool = False  # by the visitor: what the browser tab held is not wanted

    @property
    def over(self) -> bool:
        return self.place >= PROMPTS

    @property
    def preset(self) -> Preset:
        return self.plan.prompts[self.place]

    @property
    def turns(self) -> list[Turn]:
        return self.games[self.place]

    @property
    def all_turns(self) -> list[Turn]:
        return [turn for turns in self.games for turn in turns]

    @property
    def prompt_over(self) -> bool:
        return is_over(self.turns)

    @property
    def asked(self) -> str:
        """What a chat model is asked; empty where the text itself goes on."""
        return self.preset.text if self.plan.chats else ""

    @property
    def text(self) -> str:
        """The text that the next words continue: of a chat, the answer."""
        return (self.here.text if self.here else self.preset.text).removeprefix(self.asked)

    def is_game_of(self, plan: GamePlan) -> bool:
        return self.ours and self.plan == plan

    @property
    def offers(self) -> list[Offer]:
        return self.here.offers if self.here else []


SAYS = page_texts("be_the_draft")


def new_game(visit: Session, plan: GamePlan) -> None:
    """Start a new game. The unfinished one is saved, in case that was a mistake."""
    old = visit.of(BeTheDraftState)
    old.slot.reset()
    old.before = None
    unfinished = old if old.all_turns and not old.over else None
    visit.arrival("be_the_draft").notes = []
    state = BeTheDraftState(plan, begun=True, name=old.name, two=old.two, before=unfinished)
    visit.put(state)
    _clear(state)


def go_on(visit: Session, game: BeTheDraftState) -> None:
    visit.put(game)
    set_widgets({"be_the_draft_guess": game.typed, "be_the_draft_second": game.second, "be_the_draft_two": game.two})


def choose_two(state: BeTheDraftState) -> None:
    state.two = bool(st.session_state.be_the_draft_two)
    state.chosen = state.chosen if state.two else state.chosen[-1:]


def next_prompt(state: BeTheDraftState) -> None:
    state.slot.reset()  # a turn under way belongs to the prompt before
    state.place += 1
    state.here, state.chosen, state.message = None, [], ""
    _clear(state)


def finish(state: BeTheDraftState) -> None:
    state.slot.reset()
    state.place = PROMPTS


def send(state: BeTheDraftState) -> None:
    _keep_typed(state)
    if state.plan.mode == "pick":
        problem = None if state.chosen else SAYS["choose_first"]
    else:
        problem = guess_problem(state.typed) or (guess_problem(state.second) if state.second.strip() else None)
    if not problem:
        _send(state, "guess")
    elif not (state.slot.busy or state.prompt_over):
        state.message, state.tries = problem, state.tries + 1


def skip(state: BeTheDraftState) -> None:
    """Let the target write one token. It does not count."""
    _keep_typed(state)
    _send(state, "skip")


def look_for_offers(state: BeTheDraftState) -> None:
    if not state.over and state.plan.mode == "pick" and not state.offers and not state.message:
        _send(state, "offer")


def choose(state: BeTheDraftState, number: int) -> None:
    """Mark a candidate, or where two may be chosen take the mark away, without sending it."""
    others = [one for one in state.chosen if one != number]
    again = state.two and number in state.chosen
    state.chosen = others if again else [*others, number][-2 if state.two else -1 :]
    state.message = ""


def _send(state: BeTheDraftState, action: Literal["offer", "guess", "skip"]) -> None:
    if state.slot.busy or state.prompt_over:
        return
    picks, guesses = state.plan.mode == "pick", action == "guess"
    picked = [state.offers[number].token_ids for number in state.chosen if picks and guesses]
    nothing: list[int] = []
    first, other, *_ = (*picked, nothing, nothing)
    guess, second = (state.typed, state.second) if guesses and not picked else ("", "")
    text_ids, joins = (state.here.text_ids, state.here.joins) if state.here else ([], False)
    ask = GameRequest(action, text_ids, joins, guess, picked=first, offers=picks, second=second, other=other)
    request = state.plan.request(state.preset.text)
    state.message = ""
    state.slot.start(lambda job: Play(job, request, ask))


def refresh(state: BeTheDraftState, patience: float = 0.0) -> bool:
    """Take in what the engine has sent; True once it has answered."""
    if not state.slot.first_look(patience):
        return False
    seen = state.slot.view
    if seen.state == "done" and seen.items:
        turn = state.here = seen.items[-1]
        state.chosen = []
        if turn.trace:
            state.turns.append(turn)
        if turn.scored:  # after a skip the visitor may still want what was typed
            _clear(state)
    else:
        state.message = seen.message if seen.state == "failed" else SAYS["lost"]
        state.tries += 1
    return True


def _keep_typed(state: BeTheDraftState) -> None:
    """What the visitor typed survives a message, and a visit to another page."""
    state.typed = str(st.session_state.get("be_the_draft_guess", ""))
    state.second = str(st.session_state.get("be_the_draft_second", ""))


def _clear(state: BeTheDraftState) -> None:
    state.typed = state.second = ""
    set_widgets({"be_the_draft_guess": "", "be_the_draft_second": ""})


_KEY = token_bytes(32)  # of this process: a class does not outlive it


def held_text(state: BeTheDraftState) -> str | None:
    """The game to hold: this one, or the one before it while this one has no turn. See `components.keep`.

    A line behind it is its signature: without that, rounds that nobody played could reach a class's board.
    """
    game = state if state.all_turns else state.before
    if game is None:
        return "" if state.begun else None
    text = dump_game(SavedGame(game.plan.link, game.place, game.games, game.typed, game.name, game.second))
    return f"{text}\n{_signature(text) if game.ours else ''}"


def _signature(text: str) -> str:
    return blake2b(text.encode(), key=_KEY, digest_size=16).hexdigest()


def bring_back(visit: Session, text: str) -> None:
    """Go on with the game of before the reload. Where the address names another game, it is the one to go back to."""
    state = visit.of(BeTheDraftState)
    if state.begun or state.all_turns:
        return
    game_text, _, signature = text.rpartition("\n")
    try:
        saved = load_game(game_text or text)
    except InputError as error:
        visit.arrival("be_the_draft").notes, state.begun = [str(error)], True
        return
    turns = saved.games[saved.place] if saved.place < len(saved.games) else []
    here = turns[-1] if turns else None
    game = BeTheDraftState(saved.plan, saved.place, saved.games, here=here, name=saved.name)
    game.typed, game.second = saved.typed, saved.second
    game.ours = compare_digest(signature.encode(), _signature(game_text).encode())
    if state.linked and game.plan != state.plan:
        state.before = game
    else:
        go_on(visit, game)
