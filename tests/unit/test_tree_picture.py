"""A tree as the stage gets it: rows, folds, chips, sentences. And the words for other ways to draft and to verify."""

from dataclasses import replace
from typing import Any

import pytest

from specviz.core.settings import DecodeSettings
from specviz.core.trace import DrafterInfo, EmittedToken, Round, Trace, dump_trace, parse_trace
from specviz.player.data import stage_data
from specviz.player.narration import Teller, narrate
from specviz.player.replay import replay_data
from specviz.player.tree_rows import MOST_ROWS, fold, tree_rows
from specviz.ui.learn.plain_sentences import plain_sentences
from tests.support.fake_traces import fake_trace
from tests.support.fake_trees import fake_tree_trace
from tests.support.plain_json import is_plain_json
from tests.support.tree_rounds import tree_round, tree_trace
from tests.unit.test_stage_data import round_of

SHAPES = ["2,2", "4,2,1", "4,4", "1,1,1", "3"]


def data_of(trace: Trace) -> dict[str, Any]:
    return dict(stage_data(trace, run_id="a", source="live", running=False))


def untold(round: Round) -> Round:
    """That round before anything is judged."""
    return replace(round, drafted=[replace(token, status="not taken") for token in round.drafted])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("greedy", [False, True])
def test_the_made_up_runs_are_valid_runs(shape: str, greedy: bool) -> None:
    trace = fake_tree_trace(shape, greedy=greedy)
    assert parse_trace(dump_trace(trace)) == trace
    statuses = {token.status for round in trace.rounds for token in round.drafted}
    assert statuses >= {"accepted", "rejected"}
    assert is_plain_json(data_of(trace))


@pytest.mark.parametrize("shape", SHAPES)
def test_each_guess_is_in_one_row_after_the_guess_that_it_follows(shape: str) -> None:
    for round in fake_tree_trace(shape).rounds:
        rows = tree_rows(round)
        assert sorted(node for row in rows for node in row) == list(range(len(round.drafted)))
        for number, row in enumerate(rows):
            parents = [round.drafted[node].parent for node in row]
            assert parents[1:] == row[:-1], "a row is a chain"
            above = [node for other in rows[:number] for node in other]
            assert parents[0] == -1 or parents[0] in above, "what a row leaves stands above it"


def test_rows_are_in_the_order_of_judgement_and_cross_nothing() -> None:
    round = tree_round("r-1 a-1 n0 n0 r1 r1 n2 n5", "correction")
    assert tree_rows(round) == [[0, 2, 6], [3], [1, 4], [5, 7]]
    assert tree_rows(Round(0, 0.0, 1.0, 0.0, [], EmittedToken("bonus", 1, "a"))) == []


def test_the_order_of_rows_does_not_depend_on_the_outcome() -> None:
    for round in fake_tree_trace("4,2,1").rounds:
        assert tree_rows(untold(round)) == tree_rows(round)
        assert fold(untold(round), tree_rows(round)) == fold(round, tree_rows(round))


def test_up_to_eight_rows_nothing_is_folded() -> None:
    for round in fake_tree_trace("4,2,1").rounds:
        assert fold(round, tree_rows(round)).rows == []


def test_of_more_rows_the_most_probable_ones_stay() -> None:
    for round in fake_tree_trace("4,4").rounds:
        rows = tree_rows(round)
        if len(rows) <= MOST_ROWS:
            continue
        hidden = fold(round, rows)
        shown = [row for number, row in enumerate(rows) if number not in hidden.rows]
        assert len(shown) == MOST_ROWS - 1
        probable = [_path_prob(round, row[0]) for row in rows]
        assert max(probable[number] for number in hidden.rows) <= min(_path_prob(round, row[0]) for row in shown)
        assert hidden.best == pytest.approx(max(probable[number] for number in hidden.rows))
        visible = {node for row in shown for node in row} | {-1}
        assert all(round.drafted[row[0]].parent in visible for row in shown), "no row hangs in the air"


def _path_prob(round: Round, node: int) -> float:
    probability = 1.0
    for place in round.paths[node]:
        probability *= round.drafted[place].draft_prob or 0.0
    return probability


def test_where_q_is_not_known_or_a_point_mass_the_first_guesses_for_each_place_stay() -> None:
    unknown = next(round for round in fake_tree_trace("4,4", record=False).rounds if len(round.drafted) == 20)
    sure = replace(unknown, drafted=[replace(token, draft_prob=1.0) for token in unknown.drafted])
    for round in (unknown, sure):
        assert fold(round, tree_rows(round)).rows == [6, 7, *range(9, 16)]
        assert fold(round, tree_rows(round)).best is None


def test_the_stage_gets_the_shape_and_every_guess_with_its_numbers() -> None:
    trace = fake_tree_trace("4,2,1")
    data = data_of(trace)
    assert (data["rule"], data["tree"], data["drafter"], data["point_mass"]) == ("tree", "4,2,1", "model", False)
    for round, shown in zip(trace.rounds, data["rounds"], strict=True):
        assert ("tree" in shown) == bool(round.drafted)
        if not round.drafted:
            continue
        assert shown["tree"]["parents"] == [token.parent for token in round.drafted]
        for token, chip in zip(round.drafted, shown["chips"], strict=False):
            assert chip["status"] == token.status
            assert (chip["p"], chip["q"]) == (
                pytest.approx(token.target_prob, abs=1e-6),
                pytest.approx(token.draft_prob, abs=1e-6),
            )


def test_a_place_is_judged_once_in_the_figures() -> None:
    after = data_of(fake_tree_trace("4,2,1"))["rounds"][-1]["after"]
    assert after["judged"] == sum(judged for _, judged in after["positions"])
    assert after["judgement"] == pytest.approx(after["accepted"] / after["judged"], abs=1e-6)


def test_a_chain_has_no_tree() -> None:
    data = data_of(fake_trace())
    assert (data["rule"], data["tree"]) == ("token", None)
    assert not any("tree" in round for round in data["rounds"])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"temperature": 1.0}, False),
        ({"temperature": 1.0, "draft_sampling": "argmax"}, True),
        ({"temperature": 0.0, "draft_sampling": "argmax"}, False),  # the recorded q is then the plain softmax
        ({"temperature": 1.0, "tree": "dynamic:8"}, True),
        ({"temperature": 0.0, "tree": "dynamic:8"}, False),
        ({"temperature": 1.0, "tree": "2,2,1,1"}, False),
    ],
)
def test_a_draft_that_is_not_drawn_is_a_point_mass(settings: dict[str, Any], expected: bool) -> None:
    trace = replace(fake_trace(), settings=DecodeSettings(max_new_tokens=64, draft_length=4, **settings))
    assert data_of(trace)["point_mass"] is expected


def test_a_block_is_a_rule_of_its_own_above_temperature_0() -> None:
    trace = fake_trace()
    assert data_of(replace(trace, settings=replace(trace.settings, verification="block")))["rule"] == "block"
    greedy = fake_trace(greedy=True)
    assert data_of(replace(greedy, settings=replace(greedy.settings, verification="block")))["rule"] == "token"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("prompt-lookup", "prompt-lookup"), ("eagle", "eagle"), ("early-exit", "early-exit"), ("somebody", "other")],
)
def test_the_stage_knows_who_drafts(kind: str, shown: str) -> None:
    assert data_of(replace(fake_trace(), drafter=DrafterInfo(kind, "x")))["drafter"] == shown
    assert data_of(replace(fake_trace(tokens=8), drafter=None, rounds=[]))["drafter"] == "other"


CHAIN, ONE = round_of("aard"), round_of("r")
PAIR = tree_round("r-1 a-1", "bonus")


@pytest.mark.parametrize(
    ("teller", "round", "sentence"),
    [
        (Teller("eagle"), CHAIN, "The head on the target proposes 4 tokens."),
        (Teller("medusa"), CHAIN, "The heads on the target propose 4 tokens, all at once."),
        (Teller("medusa"), ONE, "The heads on the target propose 1 token."),
        (Teller("early-exit", "early-exit:2"), CHAIN, "The target’s first 2 layers propose 4 tokens."),
        (Teller("early-exit", "early-exit:x"), CHAIN, "The target’s first layers propose 4 tokens."),
        (Teller("person"), CHAIN, "You propose 4 tokens."),
        (Teller("person", rule="tree"), PAIR, "You propose a tree: 2 guesses for the next place."),
        (Teller("eagle", rule="tree"), PAIR, "The head on the target proposes a tree: 2 guesses for the next place."),
    ],
)
def test_who_drafts_in_words(teller: Teller, round: Round, sentence: str) -> None:
    assert narrate(round, teller, draft_length=4, remaining=40, ends=False)[0] == sentence


def test_the_last_tokens_of_a_head_in_words() -> None:
    told = narrate(round_of("ar"), Teller("eagle"), draft_length=4, remaining=3, ends=False)
    assert told[0] == "Only 3 tokens are left: the head on the target proposes 2."


@pytest.mark.parametrize(
    ("statuses", "kind", "sentence"),
    [
        ("aard", "correction", "It accepts a block of 2, replaces the third and discards the fourth."),
        ("arddd", "correction", "It accepts 1, replaces the second and discards the last 3."),
        ("rddd", "correction", "No block passes: it rejects the first, replaces it and discards the other 3."),
        ("aaaa", "bonus", "It accepts the whole block of 4 and adds a bonus token."),
    ],
)
def test_a_block_in_words(statuses: str, kind: str, sentence: str) -> None:
    told = narrate(round_of(statuses, kind), Teller(rule="block"), draft_length=4, remaining=40, ends=False)
    number = {4: "all 4", 5: "all 5"}[len(statuses)]
    assert told[1:] == (f"The target checks {number} in one pass, as one block.", sentence)


def test_why_a_tree_has_no_other_lengths() -> None:
    fixed = replay_data(fake_tree_trace("4,2,1"), None, None, running=False)
    assert fixed["why_not"] == (
        "The tree 4,2,1 has a depth of 3, and what another tree would draft is not known from this run."
    )
    dynamic = replay_data(fake_tree_trace("4,4", setting="dynamic:20", greedy=True), None, None, running=False)
    assert dynamic["why_not"] == (
        "What a tree would draft at another depth is not known: release the slider to run it."
    )


def test_a_run_of_trees_is_valid_where_the_last_round_has_no_room() -> None:
    trace = tree_trace(
        [tree_round("r-1 a-1 n0 n0 r1 r1", "correction"), Round(1, 0, 1, 0, [], EmittedToken("bonus", 3))]
    )
    rounds = data_of(trace)["rounds"]
    assert ["tree" in round for round in rounds] == [True, False]
    assert [chip["status"] for chip in rounds[1]["chips"]] == ["own"]


SEVERAL = "words, several for one place."


@pytest.mark.parametrize(
    ("nodes", "kind", "proposed", "judged"),
    [
        ("r-1 a-1 n0 r1", "correction", f"4 {SEVERAL}", "One word stays, and the editor adds a word."),
        ("r-1 r-1", "correction", f"2 {SEVERAL}", "None of the first words fits, so the editor writes another one."),
        ("a-1 a0", "bonus", "2 words.", "2 words, one after the other, stay, and the editor adds one for free."),
        ("r-1 a-1", "none", f"2 {SEVERAL}", "One word stays. The last of them ends the text."),
    ],
)
def test_a_tree_in_plain_words(nodes: str, kind: str, proposed: str, judged: str) -> None:
    told = plain_sentences(tree_round(nodes, kind))
    assert (told[0], told[2]) == (f"The intern suggests {proposed}", judged)
