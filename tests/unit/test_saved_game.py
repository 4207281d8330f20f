"""The game with two guesses a place, and in the player's browser tab. No model."""

import json
from dataclasses import replace
from typing import Any

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import dump_trace, parse_trace
from specviz.game.game import (
    LOOKUP,
    MAX_TURNS,
    MODEL,
    PROMPTS,
    YOU,
    GamePlan,
    Turn,
    dump_turn,
    load_turn,
    run_of,
    score,
)
from specviz.game.saved import SavedGame, dump_game, game_csv, load_game
from specviz.game.words import best_branch, branches, draft_text, words_of
from specviz.models.gguf_folder import SMOLLM2
from specviz.service.classes.room import shared_rounds
from specviz.ui.be_the_draft.board import recorded_example
from tests.support.fake_turns import a_round, a_tree_round, a_tree_turn, a_turn
from tests.support.known import known
from tests.support.plain_json import with_value


def turn_on(prompt: str) -> Turn:
    """The recorded turn, as if it had been played first on this prompt."""
    example = known(recorded_example())
    trace = known(example.turn.trace)
    moved = replace(trace, prompt=replace(trace.prompt, text=prompt))
    return replace(example.turn, trace=moved, text=prompt + trace.output.text)


def saved(**changes: Any) -> SavedGame:
    plan = GamePlan(seed=21, set="prose")
    games = [[turn_on(plan.prompts[0].text)], [], []]
    return replace(SavedGame(plan.link, 0, games, "half a thou", "Ada"), **changes)


DOG, CAT = [" the", " dog", " ran"], [" the", " cat", " sat"]
DOWN = [" the", " cat", " sat", " down"]  # what the target writes


def with_tree(guesses: list[list[str]], target: list[str]) -> SavedGame:
    """A game whose one turn has these guesses."""
    plan = GamePlan()
    return SavedGame(plan.link, 0, [[a_tree_turn(guesses, target, before=plan.prompts[0].text)], [], []], "half", "Ada")


def test_a_saved_game_is_read_back_finished_or_not() -> None:
    for game in (saved(), saved(place=PROMPTS), replace(with_tree([DOG, CAT], DOWN), second="or half")):
        assert load_game(dump_game(game)) == game
    assert saved().plan == GamePlan(seed=21, set="prose")
    text = dump_game(SavedGame(GamePlan().link)).replace(',"second":""', "")
    assert "second" not in text
    assert load_game(text).second == ""


def test_a_game_with_a_chat_model_is_read_back_with_its_own_rival() -> None:
    plan = GamePlan.chosen(3, "answer", "type", SMOLLM2)
    turn = turn_on(plan.prompts[0].text)
    chat = replace(turn, rivals={plan.rival: turn.rivals[MODEL], LOOKUP: turn.rivals[LOOKUP]})
    game = SavedGame(plan.link, 0, [[chat], [], []])
    assert load_game(dump_game(game)) == game
    assert score([chat], plan.rival)[plan.rival].rounds == 1
    with pytest.raises(InputError, match="The game that this browser tab held cannot be read"):
        load_game(dump_game(replace(game, games=[[turn], [], []])))


SAVED = json.loads(dump_game(saved()))
(PLAYED,) = SAVED["games"][0]
HOSTILE = {
    "another place": with_value(SAVED, "place", PROMPTS + 1),
    "two texts": with_value(SAVED, "games", [[], []]),
    "more turns than a text has": with_value(SAVED, "games.0", [PLAYED] * (MAX_TURNS + 1)),
    "more scored turns than a text has": with_value(SAVED, "games.0", [PLAYED] * 6),
    "a turn on another text": with_value(SAVED, "games", SAVED["games"][::-1]),
    "a turn without a run": with_value(SAVED, "games.0.0.trace", None),
    "no rival": with_value(SAVED, "games.0.0.rivals", {}),
    "an output that the round does not emit": with_value(SAVED, "games.0.0.trace.output.token_ids", [1]),
    "a probability of two": with_value(SAVED, "games.0.0.trace.rounds.0.drafted.0.target_prob", 2),
    "an endless guess": with_value(SAVED, "typed", "a" * 10_000),
    "another kind of text": with_value(SAVED, "link.set", "poem"),
    "a text that is none": with_value(SAVED, "games.0.0.text", 7),
    "three guesses": json.loads(dump_game(with_tree([DOG, CAT, [" the", " owl"]], [" the", " cat"]))),
    "four guesses": json.loads(dump_game(with_tree([[" a"], [" b"], [" c"], [" d"]], [" the", " cat"]))),
}


@pytest.mark.parametrize(
    "text",
    [*map(json.dumps, HOSTILE.values()), "", "{", "null", "[]", '"a"', "[" * 100_000],
    ids=[*HOSTILE, "empty", "open", "null", "a list", "a text", "deep"],
)
def test_what_is_no_game_is_refused_with_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="The game that this browser tab held cannot be read"):
        load_game(text)


def test_guesses_are_read_one_by_one_and_the_better_one_is_known() -> None:
    first, second = branches(a_tree_round([DOG, CAT], DOWN))
    assert [token.text for token in first.drafted] == DOG
    assert [token.text for token in second.drafted] == CAT
    assert [token.status for token in first.drafted] == ["accepted", "rejected", "not taken"]
    assert [token.status for token in second.drafted] == ["accepted"] * 3
    assert (first.emitted.id, second.emitted.text, second.emitted.kind) == (None, " down", "bonus")
    chain = a_round([" a"], 1)
    assert branches(chain) == [chain]
    assert best_branch(a_tree_round([DOG, CAT], DOWN)).accepted == 3
    assert [t.text for t in best_branch(a_tree_round([DOG, CAT], [" the", " owl"])).drafted] == DOG
    assert draft_text(a_tree_round([DOG, CAT], [" an"])) == "the dog ran / the cat sat"
    first, second = branches(a_tree_round([[" rab", "bit", " ran"], [" rab", "ble"]], [" rab", "bit", " ran", "."]))
    assert [word.fate for word in words_of(first)] == ["accepted", "accepted"]
    assert [word.fate for word in words_of(second)] == ["part"]
    apart = branches(a_tree_round([[" a"], [" b", " c"]], [" a", "."]))[1]
    assert [word.fate for word in words_of(apart)] == ["not taken", "not taken"]


def test_scores_and_tables_show_both_guesses() -> None:
    """Tokens per target call count what the round wrote; the acceptance rate counts all that was drafted."""
    turns = [a_tree_turn([DOG, CAT], DOWN)]
    counts = score(turns)
    assert (counts[YOU].drafted, counts[YOU].accepted, counts[YOU].emitted) == (5, 3, 4)
    assert counts[YOU].tokens_per_target_call == counts[MODEL].tokens_per_target_call == 4
    assert counts[YOU].acceptance_rate == 3 / 5
    game = with_tree([DOG, CAT], DOWN)
    assert "the dog ran / the cat sat" in game_csv(game.plan, game.games)
    (shared,) = shared_rounds(game.plan, game.games)
    assert (shared.guess, shared.word, shared.fits) == ("the dog ran / the cat sat", "the", True)


def test_rounds_with_one_guess_and_with_two_are_one_valid_run() -> None:
    tree = a_tree_turn([DOG, CAT], DOWN)
    chain = a_turn([" a", " b"], 1, before=tree.text)
    run = known(run_of([tree, chain]))
    assert (run.settings.tree, [round.is_tree for round in run.rounds]) == ("dynamic:5", [True, False])
    parse_trace(dump_trace(run))
    assert known(run_of([chain])).settings.tree is None
    assert load_turn(dump_turn(tree)) == tree
