"""Two guesses a place in "Be the draft": the tree they make, what is said of it, and scores. No model."""

from dataclasses import replace

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import Round, dump_trace, parse_trace
from specviz.game.game import MODEL, YOU, Plan, Turn, dump_turn, load_turn, run_of, score
from specviz.game.guesses import best_branch, branches, draft_text, joined_guesses
from specviz.game.messages import explain, headline, wanted
from specviz.game.saved import SavedGame, dump_game, load_game
from specviz.game.table import game_csv
from specviz.game.words import words_of
from specviz.service.classes.rounds import shared_rounds
from specviz.ui.play.board import turn_data
from tests.support.fake_turns import a_round, a_tree_round, a_tree_turn, a_turn

DOG, CAT = [" the", " dog", " ran"], [" the", " cat", " sat"]


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


def statuses(round: Round) -> list[str]:
    return [token.status for token in round.drafted]


def test_a_tree_is_read_guess_by_guess() -> None:
    first, second = branches(a_tree_round([DOG, CAT], [" the", " cat", " sat", " down"]))
    assert [token.text for token in first.drafted] == DOG
    assert [token.text for token in second.drafted] == CAT
    assert statuses(first) == ["accepted", "rejected", "not taken"]
    assert statuses(second) == ["accepted"] * 3
    assert (first.emitted.id, second.emitted.text, second.emitted.kind) == (None, " down", "bonus")
    chain = a_round([" a"], 1)
    assert branches(chain) == [chain]


def test_the_better_guess_is_the_one_that_was_accepted_further() -> None:
    assert best_branch(a_tree_round([DOG, CAT], [" the", " cat", " sat", " down"])).accepted == 3
    assert [t.text for t in best_branch(a_tree_round([DOG, CAT], [" the", " owl"])).drafted] == DOG
    assert draft_text(a_tree_round([DOG, CAT], [" an"])) == "the dog ran / the cat sat"


def test_a_word_that_was_not_taken_is_no_part_of_what_was_accepted() -> None:
    first, second = branches(a_tree_round([[" rab", "bit", " ran"], [" rab", "ble"]], [" rab", "bit", " ran", "."]))
    assert [word.fate for word in words_of(first)] == ["accepted", "accepted"]
    assert [word.fate for word in words_of(second)] == ["part"]
    apart = branches(a_tree_round([[" a"], [" b", " c"]], [" a", "."]))[1]
    assert [word.fate for word in words_of(apart)] == ["not taken", "not taken"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ([" the", " cat", " sat", " down"], "Your second guess was better: 3 tokens accepted."),
        ([" the", " dog", " sat"], "Your first guess was better: 2 tokens accepted."),
        ([" the", " owl"], "Both guesses were right for 1 token."),
        ([" an"], "Neither guess was right this time."),
    ],
)
def test_the_headline_names_the_better_guess(target: list[str], said: str) -> None:
    written = "1 token" if len(target) == 1 else f"{len(target)} tokens"
    assert headline(a_tree_round([DOG, CAT], target)) == f"{said} This one target call wrote {written}."


def test_what_happened_is_said_of_the_tree_and_not_of_a_chain() -> None:
    lines = "\n".join(explain(a_tree_turn([DOG, CAT], [" the", " cat", " sat", " down"])))
    assert "yours were 5 tokens" in lines
    assert "“dog” was rejected: there the target wanted “cat” (your other guess) and gave this one 5 %." in lines
    assert "1 token was not taken, never judged" in lines
    assert "“down” is the bonus: the target’s extra token, since one guess was right to its end." in lines
    both = "\n".join(explain(a_tree_turn([DOG, CAT], [" the", " owl"])))
    assert both.count("there the target wanted “owl” and gave this one 5 %") == 2
    assert "“owl” is the correction" in both
    assert "discarded" not in both


def test_the_probabilities_are_those_of_the_place_where_the_round_ended() -> None:
    bonus = a_tree_round([DOG, CAT], [" the", " cat", " sat", " down"])
    correction = a_tree_round([DOG, CAT], [" the", " owl"])
    assert wanted(bonus)[0][0] == " down"
    assert wanted(correction)[0][0] == " owl"


def test_the_board_draws_a_line_for_each_guess() -> None:
    drawn = turn_data(a_tree_turn([DOG, CAT], [" the", " cat", " sat", " down"]))
    assert [[chip["text"] for chip in guess["chips"]] for guess in drawn["guesses"]] == [DOG, [*CAT, " down"]]
    assert drawn["asked"] == "The target’s probabilities for the next token:"
    model = drawn["rivals"][0]
    assert [chip["text"] for chip in model["chips"]] == [*CAT, " down"]
    assert model["more"] == "3 of 3 accepted, a tree of 5; this is its best branch"


def test_scores_stay_comparable() -> None:
    """Tokens per target call count what the round wrote; the acceptance rate counts all that was drafted."""
    turns = [a_tree_turn([DOG, CAT], [" the", " cat", " sat", " down"])]
    counts = score(turns)
    assert (counts[YOU].drafted, counts[YOU].accepted, counts[YOU].emitted) == (5, 3, 4)
    assert counts[YOU].tokens_per_target_call == counts[MODEL].tokens_per_target_call == 4
    assert counts[YOU].acceptance_rate == 3 / 5


def a_game() -> list[Turn]:
    tree = a_tree_turn([DOG, CAT], [" the", " cat", " sat", " down"])
    return [tree, a_turn([" a", " b"], 1, before=tree.text)]


def test_rounds_with_one_guess_and_with_two_are_one_valid_run() -> None:
    run = run_of(a_game())
    assert run is not None
    assert (run.settings.tree, [round.is_tree for round in run.rounds]) == ("dynamic:5", [True, False])
    parse_trace(dump_trace(run))
    plain = run_of(a_game()[1:])
    assert plain is not None
    assert plain.settings.tree is None
    turn = a_game()[0]
    assert load_turn(dump_turn(turn)) == turn


def test_a_game_with_two_guesses_is_saved_and_read_back() -> None:
    plan = Plan(seed=21, set="prose")
    prompt = plan.prompts[0].text
    turn = a_tree_turn([DOG, CAT], [" the", " cat", " sat", " down"], before=prompt)
    game = SavedGame(plan.link, 0, [[turn], [], []], "half", "Ada", second="or half")
    assert load_game(dump_game(game)) == game


def test_a_game_saved_before_there_were_second_guesses_is_read() -> None:
    text = dump_game(SavedGame(Plan().link)).replace(',"second":""', "")
    assert "second" not in text
    assert load_game(text).second == ""


def test_the_table_and_the_class_show_both_guesses() -> None:
    plan = Plan()
    turn = a_tree_turn([DOG, CAT], [" the", " cat", " sat", " down"], before=plan.prompts[0].text)
    assert "the dog ran / the cat sat" in game_csv(plan, [[turn], [], []])
    (shared,) = shared_rounds(plan, [[turn], [], []])
    assert (shared.guess, shared.word, shared.fits) == ("the dog ran / the cat sat", "the", True)


@pytest.mark.parametrize("guesses", [[DOG, CAT, [" the", " owl"]], [[" a"], [" b"], [" c"], [" d"]]])
def test_a_saved_game_with_more_than_two_guesses_is_no_game(guesses: list[list[str]]) -> None:
    plan = Plan()
    turn = a_tree_turn(guesses, [" the", " cat"], before=plan.prompts[0].text)
    with pytest.raises(InputError):
        load_game(dump_game(SavedGame(plan.link, 0, [[turn], [], []])))


def test_a_rival_with_parents_that_cannot_be_is_drawn_all_the_same() -> None:
    """A browser may send anything; of the rivals only the types are checked."""
    turn = a_tree_turn([DOG, CAT], [" the", " cat", " sat", " down"])
    rival = turn.rivals[MODEL]
    own_parents = [replace(token, parent=place) for place, token in enumerate(rival.drafted)]
    strange = replace(turn, rivals={**turn.rivals, MODEL: replace(rival, drafted=own_parents)})
    assert turn_data(strange)["rivals"][0]["name"] == MODEL
