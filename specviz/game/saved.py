"""A game as a text that its player's browser holds, and back. What comes back is checked: anyone can send it."""

import json
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.trace import UPLOAD, dump_trace, parse_trace
from specviz.game.game import LOOKUP, MAX_TURNS, MODEL, PROMPTS, Plan, Turn, is_over, plan_from_link, run_of
from specviz.game.guesses import MOST_GUESSES, branches
from specviz.game.table import MAX_NAME
from specviz.game.words import MAX_CHARACTERS

NO_GAME = "The game that this browser tab held cannot be read."


@dataclass(frozen=True, slots=True)
class SavedGame:
    """Everything of a game but the turn under way."""

    link: dict[str, str]  # of its plan
    place: Annotated[int, Field(ge=0, le=PROMPTS)] = 0
    games: Annotated[
        list[Annotated[list[Turn], FailFast(), Field(max_length=MAX_TURNS)]],
        Field(min_length=PROMPTS, max_length=PROMPTS),
    ] = field(default_factory=lambda: [[] for _ in range(PROMPTS)])
    typed: Annotated[str, Field(max_length=MAX_CHARACTERS)] = ""
    name: Annotated[str, Field(max_length=MAX_NAME)] = ""
    second: Annotated[str, Field(max_length=MAX_CHARACTERS)] = ""  # typed as another guess

    @property
    def plan(self) -> Plan:
        """Which game."""
        return plan_from_link(self.link)[0]


_GAME: TypeAdapter[SavedGame] = TypeAdapter(SavedGame)


def dump_game(game: SavedGame) -> str:
    """The text of a game: about 7 kB a turn."""
    return _GAME.dump_json(game).decode()


def load_game(text: str) -> SavedGame:
    """Read what `dump_game` wrote.

    Raises:
        InputError: it is not a game, or contradicts itself.
    """
    try:
        game = _GAME.validate_python(json.loads(text))
    except (ValidationError, ValueError, RecursionError):
        raise InputError(NO_GAME) from None
    if plan_from_link(game.link)[1] or not all(
        _possible(turns, preset.text) for turns, preset in zip(game.games, game.plan.prompts, strict=True)
    ):
        raise InputError(NO_GAME)
    return game


def _possible(turns: list[Turn], prompt: str) -> bool:
    """Whether these turns can be of one text: each is one round after it, and together they are a valid run."""
    if any(is_over(turns[:played]) for played in range(len(turns))):
        return False
    if not all(_is_turn(turn, prompt) for turn in turns):
        return False
    runs = [run_of(turns), *(turn.trace for turn in turns)]
    try:
        return all(parse_trace(dump_trace(run), UPLOAD) for run in runs if run)
    except InputError:
        return False


def _is_turn(turn: Turn, prompt: str) -> bool:
    trace = turn.trace
    if trace is None or len(trace.rounds) != 1 or trace.drafter is None:
        return False
    if trace.rounds[0].is_tree and len(branches(trace.rounds[0])) != MOST_GUESSES:
        return False
    rivals = {MODEL, LOOKUP} if turn.scored else set()
    return trace.prompt.text.startswith(prompt) and turn.text.startswith(prompt) and rivals <= set(turn.rivals)
