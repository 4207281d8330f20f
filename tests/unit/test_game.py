"""The game without models: words and tokens, scores, the table, links, and the game in a player's browser tab."""

import json
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.core.metrics import Counts
from specviz.core.trace import DrafterInfo, dump_trace, parse_trace
from specviz.data.measured.first_run import first_trace
from specviz.game import game
from specviz.game.game import LOOKUP, MAX_TURNS, MODEL, PROMPTS, ROUNDS, YOU, GamePlan, Turn
from specviz.game.messages import explain, headline, verdict, wanted
from specviz.game.saved import SavedGame, dump_game, game_csv, load_game
from specviz.game.words import best_branch, branches, words_of
from specviz.models.gguf_folder import SMOLLM2
from specviz.service.classes.room import shared_rounds
from specviz.ui.be_the_draft.board import recorded_example
from specviz.ui.watch.controls import request_of
from tests.support.drawn import drawn_traces
from tests.support.fake_turns import a_round, a_tree_round, a_tree_turn, a_turn
from tests.support.known import known
from tests.support.plain_json import with_value

BOTH = [[" the", " dog", " ran"], [" the", " cat", " sat"]]
RABBIT = [[" rab", "bit", " ran"], [" rab", "ble"]]
DOWN = ("arnaa", " down")  # the second guess is right
OWL = ("arnrn", " owl")  # both are right in their first word
TURNS = {
    "skipped": a_turn([], 0),
    "all accepted, about even": a_turn([" a", " b"], 2, model=2, lookup=1),
    "one accepted, worse than the draft": a_turn([" a", " b", " c"], 1, model=3, lookup=0),
    "better than the draft": a_turn([" a", " b", " c"], 3, model=1, lookup=0),
    "a word in parts, too long, and the text ends": replace(a_turn([" rab", "bit"], 1, cut=3), ended=True),
    "two guesses": a_tree_turn(BOTH, *DOWN),
    "two guesses, both wrong": a_tree_turn(BOTH, "rnnnn", " an"),
    "two guesses, both wrong after a word": a_tree_turn(BOTH, *OWL),
    "two guesses of one word": a_tree_turn(RABBIT, "aaan", "."),
}


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_is_explained_and_has_its_row(name: str, snapshot: SnapshotAssertion) -> None:
    turn = TURNS[name]
    said = {"verdict": verdict([turn]), "row": game_csv(GamePlan(seed=3), [[turn], [], []]).splitlines()[1:]}
    if turn.round:
        said |= {"headline": headline(turn.round), "explained": explain(turn), "wanted": str(wanted(turn.round))}
        said["fates"] = [str([(word.cut, word.fate) for word in words_of(each)]) for each in branches(turn.round)]
    assert said == snapshot


def test_scores_come_from_the_metrics_and_a_prompt_ends() -> None:
    one, skipped, tree = a_turn([" a"], 1), a_turn([], 0), a_tree_turn(BOTH, *DOWN)
    turns = [a_turn([" a", " b", " c"], 2, model=3, lookup=0), skipped, a_turn([" a"], 0, model=1, lookup=0)]
    assert game.score(turns) == {
        YOU: Counts(rounds=2, drafted=4, accepted=2, rejected=2, discarded=0, emitted=4),
        MODEL: Counts(rounds=2, drafted=4, accepted=4, rejected=0, discarded=0, emitted=6),
        LOOKUP: Counts(rounds=2, drafted=4, accepted=0, rejected=2, discarded=2, emitted=2),
    }
    counts = game.score([tree])[YOU]  # of two guesses all that was drafted counts, and what the round wrote
    assert (counts.drafted, counts.accepted, counts.emitted, counts.tokens_per_target_call) == (5, 3, 4, 4)
    over = [[], [one] * (ROUNDS - 1) + [skipped], [one] * ROUNDS, [replace(one, ended=True)], [skipped] * MAX_TURNS]
    assert [*map(game.is_over, over)] == [False, False, True, True, True]


def test_the_rounds_on_a_prompt_are_one_valid_run_with_a_person_as_the_draft() -> None:
    first, tree = a_turn([" a", " b"], 1), a_tree_turn(BOTH, *DOWN)
    turns = [first, a_turn([], 0, before=first.text), a_turn([" c"], 1, before=first.text + " end")]
    read = parse_trace(dump_trace(known(game.run_of(turns))))
    assert (read.drafter, read.output.text, read.settings.tree) == (
        DrafterInfo("person", "you"),
        " a end end c end",
        None,
    )
    assert [round.index for round in read.rounds] == [0, 1, 2]
    ends = [known(game.run_of([last])).output.stopped_by for last in (first, replace(first, ended=True))]
    assert (ends, game.run_of([])) == (["length", "eos"], None)
    (data,) = drawn_traces(read)
    assert data["drafter"] == "person"
    assert request_of(read) is None, "no draft of the controls is a person"
    mixed = parse_trace(dump_trace(known(game.run_of([tree, a_turn([" a", " b"], 1, before=tree.text)]))))
    assert (mixed.settings.tree, [round.is_tree for round in mixed.rounds]) == ("dynamic:5", [True, False])


def test_the_better_guess_is_known_and_holds_the_targets_own_token() -> None:
    first, second = branches(a_tree_round(BOTH, *DOWN))
    assert (first.emitted.id, second.emitted.text, second.emitted.kind) == (None, " down", "bonus")
    assert best_branch(a_tree_round(BOTH, *DOWN)) == second
    assert [token.text for token in best_branch(a_tree_round(BOTH, *OWL)).drafted] == BOTH[0]
    assert branches(chain := a_round([" a"], 1)) == [chain]
    (shared,) = shared_rounds(GamePlan(), with_tree(BOTH, *DOWN).games)
    assert (shared.guess, shared.word, shared.fits) == ("the dog ran / the cat sat", "the", True)


def test_a_class_link_gives_everyone_the_same_prompts_and_every_set_has_enough() -> None:
    plan = GamePlan(seed=11, set="prose", mode="pick")
    assert game.plan_from_link(plan.link) == (plan, [])
    assert len({tuple(preset.name for preset in GamePlan(seed=seed).prompts) for seed in range(20)}) > 5
    names = [preset.name for preset in GamePlan(seed=3).prompts]
    assert names == ["story-1", "story-3", "story-2"], "links outlive versions"
    every = [{preset.name for preset in GamePlan(set=name).prompts} for name in (*game.SETS, *game.CHAT_SETS)]
    assert {*map(len, every)} == {PROMPTS}
    watched = known(first_trace()).prompt.text
    assert watched not in {preset.text for preset in GamePlan().prompts}, "Watch shows it first"


def test_a_chat_is_a_game_of_its_own_whose_link_says_all_of_it() -> None:
    plan = GamePlan.chosen(3, "answer", "pick", SMOLLM2)
    assert game.plan_from_link(plan.link) == (plan, [])
    request = plan.request("Name a tree.")
    asked = (request.target, request.draft, request.settings.prompt_format)
    assert asked == (SMOLLM2, "lookup-smol-eagle", "chat") == (SMOLLM2, plan.rival, plan.link["prompt_format"])
    assert GamePlan.chosen(3, "story", "type", SMOLLM2).prompt_format == "raw", "a text goes on as it is"
    assert (game.sets_of(SMOLLM2)[0], game.sets_of("wren-base")[0]) == (game.CHAT_SETS[0], game.SETS[0])
    plan, problems = game.plan_from_link({"target": SMOLLM2, "prompt_format": ["chat"]})
    assert (plan.set, problems) == (game.CHAT_SETS[0], [])


@pytest.mark.parametrize(
    ("link", "kind"),
    [
        ({"prompt_format": "chat"}, "story"),
        ({"prompt_format": "chat", "set": "prose"}, "prose"),
        ({"set": "answer"}, "story"),
        ({"target": "x"}, "story"),
    ],
)
def test_a_link_to_a_chat_with_what_cannot_chat_gets_a_sentence(link: dict[str, str], kind: str) -> None:
    plan, [problem] = game.plan_from_link(link)
    assert plan == GamePlan(seed=game.LINK_SEED, set=kind)
    assert "wren-base" in problem


def turn_on(prompt: str) -> Turn:
    """The recorded turn, as if it had been played first on this prompt."""
    example = recorded_example()
    trace = known(example.turn.trace)
    moved = replace(trace, prompt=replace(trace.prompt, text=prompt))
    return replace(example.turn, trace=moved, text=prompt + trace.output.text)


def saved(plan: GamePlan, *turns: Turn, **more: Any) -> SavedGame:
    return SavedGame(plan.link, 0, [[*turns], [], []], "half a thou", "Ada", **more)


def with_tree(guesses: list[list[str]], fates: str, emitted: str, **more: Any) -> SavedGame:
    """A game whose one turn has these guesses."""
    return saved(GamePlan(), a_tree_turn(guesses, fates, emitted, before=GamePlan().prompts[0].text), **more)


PROSE = GamePlan(seed=21, set="prose")
GAME = saved(PROSE, turn_on(PROSE.prompts[0].text))


def test_a_saved_game_is_read_back_finished_or_not_and_one_with_a_chat_model_with_its_own_rival() -> None:
    plan = GamePlan.chosen(3, "answer", "type", SMOLLM2)
    turn = turn_on(plan.prompts[0].text)
    chat = replace(turn, rivals={plan.rival: turn.rivals[MODEL], LOOKUP: turn.rivals[LOOKUP]})
    own = saved(plan, chat)
    for each in (GAME, replace(GAME, place=PROMPTS), with_tree(BOTH, *DOWN, second="or half"), own):
        assert load_game(dump_game(each)) == each
    assert (GAME.plan, game.score([chat], plan.rival)[plan.rival].rounds) == (PROSE, 1)
    text = dump_game(SavedGame(GamePlan().link))
    assert load_game(text.replace(',"second":""', "")) == load_game(text), "as it was written before"
    assert game.load_turn(game.dump_turn(chat)) == chat


SAVED = json.loads(dump_game(GAME))
(PLAYED,) = SAVED["games"][0]
CHANGES: dict[str, Any] = {
    "place": PROMPTS + 1,
    "games": [[], []],
    "games.0": [PLAYED] * (MAX_TURNS + 1),
    "games.0.0.trace": None,
    "games.0.0.rivals": {},
    "games.0.0.trace.output.token_ids": [1],
    "games.0.0.trace.rounds.0.drafted.0.target_prob": 2,
    "typed": "a" * 10_000,
    "link.set": "poem",
    "games.0.0.text": 7,
}
HOSTILE = {where: with_value(SAVED, where, value) for where, value in CHANGES.items()} | {
    "more scored turns than a text has": with_value(SAVED, "games.0", [PLAYED] * 6),
    "a turn on another text": with_value(SAVED, "games", SAVED["games"][::-1]),
    "a rival that its model does not have": with_value(SAVED, "link.target", SMOLLM2),
    "three guesses": json.loads(dump_game(with_tree([*BOTH, [" the", " owl"]], "arnrnr", " end"))),
    "four guesses": json.loads(dump_game(with_tree([[" a"], [" b"], [" c"], [" d"]], "rrrr", " the"))),
}


@pytest.mark.parametrize(
    "text",
    [*map(json.dumps, HOSTILE.values()), "", "{", "null", "[]", '"a"', "[" * 100_000],
    ids=[*HOSTILE, *range(6)],
)
def test_what_is_no_game_is_refused_with_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="The game that this browser tab held cannot be read"):
        load_game(text)
