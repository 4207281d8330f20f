"""A game in the player's browser tab: what is saved is read back, and nothing a stranger sends is taken for a game."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specviz.core.errors import InputError
from specviz.game.game import MAX_TURNS, PROMPTS, Plan, Turn
from specviz.game.saved import NO_GAME, SavedGame, dump_game, load_game
from specviz.ui.play.board import recorded_example


def turn_on(prompt: str) -> Turn:
    """The recorded turn, as if it had been played first on this prompt."""
    example = recorded_example()
    assert example is not None
    trace = example.turn.trace
    assert trace is not None
    moved = replace(trace, prompt=replace(trace.prompt, text=prompt))
    return replace(example.turn, trace=moved, text=prompt + trace.output.text)


def saved(**changes: Any) -> SavedGame:
    plan = Plan(seed=21, set="prose")
    games = [[turn_on(plan.prompts[0].text)], [], []]
    return replace(SavedGame(plan.link, 0, games, "half a thou", "Ada"), **changes)


def test_a_saved_game_is_read_back() -> None:
    game = saved()
    assert load_game(dump_game(game)) == game
    assert load_game(dump_game(game)).plan == Plan(seed=21, set="prose")


def test_a_finished_game_is_read_back() -> None:
    game = saved(place=PROMPTS)
    assert load_game(dump_game(game)).place == PROMPTS


def _set(*path: str | int, to: Any) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = to

    return change


def _many_turns(found: Any) -> None:
    found["games"][0] *= MAX_TURNS + 1


def _six_scored_turns(found: Any) -> None:
    found["games"][0] *= 6


def _moved_turn(found: Any) -> None:
    found["games"][1], found["games"][0] = found["games"][0], []


HOSTILE = {
    "another place": _set("place", to=PROMPTS + 1),
    "a place before the first": _set("place", to=-1),
    "two texts": _set("games", to=[[], []]),
    "more turns than a text has": _many_turns,
    "more scored turns than a text has": _six_scored_turns,
    "a turn on another text": _moved_turn,
    "a turn without a run": _set("games", 0, 0, "trace", to=None),
    "a run without rounds": _set("games", 0, 0, "trace", "rounds", to=[]),
    "no rival": _set("games", 0, 0, "rivals", to={}),
    "an output that the round does not emit": _set("games", 0, 0, "trace", "output", "token_ids", to=[1]),
    "a probability of two": _set("games", 0, 0, "trace", "rounds", 0, "drafted", 0, "target_prob", to=2),
    "an endless guess": _set("typed", to="a" * 10_000),
    "an endless name": _set("name", to="a" * 10_000),
    "another kind of text": _set("link", "set", to="poem"),
    "a text that is none": _set("games", 0, 0, "text", to=7),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_no_game_is_refused_with_one_sentence(case: str) -> None:
    found = json.loads(dump_game(saved()))
    HOSTILE[case](found)
    with pytest.raises(InputError, match=NO_GAME):
        load_game(json.dumps(found))


@pytest.mark.parametrize("text", ["", "{", "null", "[]", '"a"', "[" * 100_000])
def test_what_is_no_json_of_a_game_is_refused_too(text: str) -> None:
    with pytest.raises(InputError, match=NO_GAME):
        load_game(text)
