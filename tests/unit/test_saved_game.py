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
from specviz.game.messages import explain, headline, wanted
from specviz.game.saved import SavedGame, dump_game, game_csv, load_game
from specviz.game.words import best_branch, branches, draft_text, joined_guesses, words_of
from specviz.models.gguf_folder import SMOLLM2
from specviz.service.classes.room import shared_rounds
from specviz.ui.be_the_draft.board import recorded_example, turn_data
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


@pytest.mark.parametrize(
    ("lines", "token_ids", "parents", "depth"),
    [
        ([], [], None, 0),
        ([[1, 2, 3]], [1, 2, 3], None, 3),
        ([[1, 2, 3], [1, 4]], [1, 2, 3, 4], [-1, 0, 1, 0], 3),
        ([[1, 2], [3, 2, 1]], [1, 2, 3, 2, 1], [-1, 0, -1, 2, 3], 3),
        ([[1, 2], [1, 2]], [1, 2], None, 2),
        ([[1], [1, 2, 3]], [1, 2, 3], None, 3),
        ([[1, 2, 3], [1]], [1, 2, 3], None, 3),
    ],
)
def test_guesses_are_joined_where_they_begin_alike(
    lines: list[list[int]], token_ids: list[int], parents: list[int] | None, depth: int
) -> None:
    joined = joined_guesses(lines)
    assert (joined.token_ids, joined.parents, joined.depth) == (token_ids, parents, depth)


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


@pytest.mark.parametrize(
    ("target", "first", "second"),
    [(DOWN, 1, 3), ([" the", " dog", " sat"], 2, 1), ([" the", " owl"], 1, 1), ([" an"], 0, 0)],
)
def test_the_headline_says_what_each_guess_brought(target: list[str], first: int, second: int) -> None:
    said = headline(a_tree_round([DOG, CAT], target))
    assert said.startswith(f"{first} accepted of your first guess, {second} of your second: ")


def test_what_happened_is_said_of_the_tree_and_drawn() -> None:
    lines = "\n".join(explain(a_tree_turn([DOG, CAT], DOWN)))
    assert "called tokens: here 5." in lines
    assert "“dog” was rejected: there the target wanted “cat” and gave this one 5 %." in lines
    assert "1 token was never judged" in lines
    assert "“down” is the bonus, the target’s extra token." in lines
    both = "\n".join(explain(a_tree_turn([DOG, CAT], [" the", " owl"])))
    assert both.count("there the target wanted “owl” and gave this one 5 %") == 2
    assert "“owl” is the correction" in both
    assert "discarded" not in both
    drawn = turn_data(a_tree_turn([DOG, CAT], DOWN))
    assert [[chip["text"] for chip in guess["chips"]] for guess in drawn["guesses"]] == [DOG, [*CAT, " down"]]
    assert drawn["asked"] == "The target’s probabilities for the next token:"
    model = drawn["rivals"][0]
    assert [chip["text"] for chip in model["chips"]] == [*CAT, " down"]
    assert model["more"] == "3 of 3 accepted, a tree of 5; this is its best branch"
    # A browser may send anything; of the rivals only the types are checked.
    turn = a_tree_turn([DOG, CAT], DOWN)
    rival = turn.rivals[MODEL]
    own_parents = [replace(token, parent=place) for place, token in enumerate(rival.drafted)]
    strange = replace(turn, rivals={**turn.rivals, MODEL: replace(rival, drafted=own_parents)})
    assert turn_data(strange)["rivals"][0]["name"] == MODEL
    assert wanted(a_tree_round([DOG, CAT], DOWN))[0][0] == " down"
    assert wanted(a_tree_round([DOG, CAT], [" the", " owl"]))[0][0] == " owl"


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
