"""The game's logic without models: words and tokens, scores, sentences, the table, links."""

import csv
import io
from dataclasses import replace

from specviz.core.metrics import Counts
from specviz.core.trace import DrafterInfo, dump_trace, parse_trace
from specviz.data.measured.first_run import first_trace
from specviz.game import game
from specviz.game.game import GamePlan
from specviz.game.messages import verdict
from specviz.game.saved import game_csv
from specviz.models.gguf_folder import SMOLLM2
from specviz.ui.watch.controls import fill_in_trace
from specviz.ui.watch.watch_state import Changes
from tests.support.drawn import drawn_traces
from tests.support.fake_turns import a_turn
from tests.support.known import known


def test_scores_come_from_the_metrics_and_a_prompt_ends() -> None:
    turns = [a_turn([" a", " b", " c"], 2, model=3, lookup=0), a_turn([], 0), a_turn([" a"], 0, model=1, lookup=0)]
    totals = game.score(turns)
    assert totals[game.YOU] == Counts(rounds=2, drafted=4, accepted=2, rejected=2, discarded=0, emitted=4)
    assert totals[game.MODEL] == Counts(rounds=2, drafted=4, accepted=4, rejected=0, discarded=0, emitted=6)
    assert totals[game.LOOKUP].tokens_per_target_call == 1
    assert set(totals) == set(game.PLAYERS)
    one, skipped = a_turn([" a"], 1), a_turn([], 0)
    assert not game.is_over([])
    assert not game.is_over([one] * (game.ROUNDS - 1) + [skipped])
    assert game.is_over([one] * game.ROUNDS)
    assert game.is_over([replace(one, ended=True)])
    assert game.is_over([skipped] * game.MAX_TURNS)
    assert verdict([a_turn([], 0)]) == "No round was played."


def test_the_verdict_goes_by_tokens_per_target_call() -> None:
    for yours, model, lookup, said in (
        (3, 1, 0, "You were the better draft: you 4.00, wren-nano 2.00 and prompt lookup 1.00 tokens per target call."),
        (2, 2, 0, "You and wren-nano are about even"),
        (1, 3, 0, "wren-nano was the better draft: you 2.00, wren-nano 4.00 and prompt lookup 1.00 tokens"),
    ):
        said_of_game = verdict([a_turn([" a", " b", " c"], yours, model=model, lookup=lookup)])
        assert said in said_of_game


def test_the_rounds_on_a_prompt_are_one_valid_run_with_a_person_as_the_draft() -> None:
    first = a_turn([" a", " b"], 1)
    turns = [first, a_turn([], 0, before=first.text), a_turn([" c"], 1, before=first.text + " end")]
    run = known(game.run_of(turns))
    read = parse_trace(dump_trace(run))
    assert read.drafter == DrafterInfo("person", "you")
    assert [round.index for round in read.rounds] == [0, 1, 2]
    assert read.output.text == " a end end c end"
    assert game.run_of([]) is None
    (data,) = drawn_traces(read)
    assert data["drafter"] == "person"
    said = [round["sentences"][0] for round in data["rounds"]]
    assert said == ["You guess 2 tokens.", "You skip: nothing is drafted.", "You guess 1 token."]
    assert fill_in_trace(Changes(), read) is None, "no draft of the controls is a person"


def test_a_class_link_gives_everyone_the_same_prompts_and_every_set_has_enough() -> None:
    plan = GamePlan(seed=11, set="prose", mode="pick")
    assert game.plan_from_link(plan.link) == (plan, [])
    assert len({preset.name for preset in plan.prompts}) == game.PROMPTS
    orders = {tuple(preset.name for preset in GamePlan(seed=seed).prompts) for seed in range(20)}
    assert len(orders) > 5
    names = [preset.name for preset in GamePlan(seed=3).prompts]
    assert names == ["story-1", "story-3", "story-2"], "links outlive versions"
    assert all(len(GamePlan(set=name).prompts) == game.PROMPTS for name in game.SETS)
    watched = known(first_trace()).prompt.text
    assert watched not in {preset.text for preset in GamePlan().prompts}, "Watch shows it first"


def test_a_chat_is_a_game_of_its_own_whose_link_says_all_of_it() -> None:
    plan = GamePlan.chosen(3, "answer", "pick", SMOLLM2)
    assert (plan.prompt_format, plan.rival) == ("chat", "lookup-smol-eagle")
    assert plan.link["prompt_format"] == "chat"
    assert game.plan_from_link(plan.link) == (plan, [])
    request = plan.request("Name a tree.")
    assert (request.target, request.draft, request.settings.prompt_format) == (SMOLLM2, plan.rival, "chat")
    assert GamePlan.chosen(3, "story", "type", SMOLLM2).prompt_format == "raw", "a text goes on as it is"
    assert (game.sets_of(SMOLLM2)[0], game.sets_of("wren-base")[0]) == (game.CHAT_SETS[0], game.SETS[0])
    assert all(len(GamePlan(set=name).prompts) == game.PROMPTS for name in game.CHAT_SETS)


def test_a_link_to_a_chat_is_read_whole_and_what_cannot_chat_gets_a_sentence() -> None:
    plan, problems = game.plan_from_link({"target": SMOLLM2, "prompt_format": ["chat"]})
    assert (plan.set, problems) == (game.CHAT_SETS[0], [])
    no_chat = "wren-base is no chat model: using {} texts."
    for link, kind, said in (
        ({"prompt_format": "chat"}, "story", [no_chat.format("story")]),
        ({"prompt_format": "chat", "set": "prose"}, "prose", [no_chat.format("prose")]),
        ({"set": "answer"}, "story", [no_chat.format("story")]),
        ({"target": "some-chat"}, "story", ["The link’s target is not a target of this game: using wren-base."]),
    ):
        assert game.plan_from_link(link) == (GamePlan(seed=game.LINK_SEED, set=kind), said)


def test_the_table_has_a_row_for_each_scored_round_and_no_cell_is_a_formula() -> None:
    games = [[a_turn([" a", " b"], 1), a_turn([], 0), a_turn([" c"], 1)], [], [a_turn(["=1", "+1"], 0)]]
    plan = GamePlan(seed=3)
    rows = list(csv.DictReader(io.StringIO(game_csv(plan, games, '=cmd|" /C calc"!A0'))))
    assert [(row["prompt"], row["round"]) for row in rows] == [("story-1", "1"), ("story-1", "2"), ("story-2", "1")]
    assert {row["name"] for row in rows} == {'\'=cmd|" /C calc"!A0'}
    cells = {"you_accepted": "1", "you_emitted": "2", "model_accepted": "1", "lookup_discarded": "1"}
    assert cells.items() <= rows[0].items()
    assert rows[2]["draft"] == "'=1+1"
    assert [rows[0][name] for name in ("target", "prompt_format", "rival")] == ["wren-base", "raw", "wren-nano"]
    assert game_csv(plan, [[], [], []]).count("\n") == 1
