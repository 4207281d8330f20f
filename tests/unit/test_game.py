"""The game's logic without models: words and tokens, scores, sentences, the table, links."""

import csv
import io
from dataclasses import replace

import pytest

from specviz.core.errors import InputError
from specviz.core.metrics import Counts
from specviz.core.trace import DrafterInfo, Trace, dump_trace, parse_trace
from specviz.data.measured.first_run import first_trace
from specviz.game import game, words
from specviz.game.game import GamePlan
from specviz.game.messages import explain, headline, verdict, wanted
from specviz.game.saved import game_csv
from specviz.models.gguf_folder import SMOLLM2
from specviz.ui.be_the_draft.board import example_data, recorded_example, text_data, turn_data
from specviz.ui.watch.controls import fill_in_trace
from specviz.ui.watch.watch_state import Form
from tests.support.drawn import drawn_traces
from tests.support.fake_turns import a_round, a_turn
from tests.support.known import known


def test_ordinary_writing_can_be_played_and_what_cannot_gets_one_friendly_line() -> None:
    for guess in ('"Hello," he said', "don’t", "cafe\u0301", "3 + 4 = 7", "– wait…", "a⏎b", "£5"):
        assert words.guess_problem(guess) is None
    for guess, said in (
        ("", "Nothing to check yet"),
        ("⏎", "Nothing to check yet"),
        ("a" * (words.MAX_CHARACTERS + 1), "characters are too many"),
        ("the\x00cat", "control characters"),
        ("half \ud83d", "control characters"),
        ("日本語の", "Latin alphabet"),
        ("a bird 🐦 sang", "words, not pictures"),
        ("\u202eright to left", "words, not pictures"),
        ("z\u0335\u0336\u0337alt", "words, not pictures"),
        ("<|endoftext|>", "a mark that models use"),
        ("</s>", "a mark that models use"),
    ):
        problem = known(words.guess_problem(guess))
        assert said in problem
        assert problem.endswith(".")
        assert len(problem) < 140


def test_spaces_are_tidied_and_a_guess_continues_an_unfinished_word() -> None:
    assert words.tidy("cafe\u0301  and\tcake ") == "café and cake"
    assert words.tidy("one⏎two\\nthree") == "one\ntwo\nthree"
    for guess in ("les", " les"):
        assert words.joined("a tall sand cast", guess, inside_word=True) == guess
    assert words.ends_inside_word("sand cast", "les")
    for text, guess in (("sand cast", " les"), ("sand cast.", "les"), ("sand cast", ".")):
        assert not words.ends_inside_word(text, guess)


def test_words_join_the_text_as_a_writer_would_write_them() -> None:
    for text, guess, added in (
        ("The cat", "sat", " sat"),
        ("The cat", " sat", " sat"),
        ("The cat", ", who", ", who"),
        ("The cat", ".", "."),
        ("The cat", "'s tail", "'s tail"),
        ("The cat", "'sure'", " 'sure'"),
        ("The cat ", "sat", "sat"),
        ("The cat.\n", "It", "It"),
        ("The cat (", "it", "it"),
        ('The cat said, "', "Hello", "Hello"),
        ('The cat said, "Hello."', "Then", " Then"),
        ('The cat said, "Hello', '" and', '" and'),
        ("The cat said,", '"Hello', ' "Hello'),
        ("The cat", "\nIt", "\nIt"),
        ("", "It", "It"),
    ):
        assert words.joined(text, guess, inside_word=False) == added, (text, guess)


def test_words_come_out_of_pieces() -> None:
    found = words.words_of(a_round([" the", " rab", "bit", " ran", "."], accepted=2))
    assert [word.cut for word in found] == ["the", "rab|bit", "ran", "."]
    assert [word.fate for word in found] == ["accepted", "part", "discarded", "discarded"]
    lines = explain(a_turn([" the", " rab", "bit", " ran", "."], accepted=2))
    assert "rab|bit: the first part was accepted, the rest was not." in lines
    assert any("here 5, because it splits rab|bit." in line for line in lines)
    assert [word.fate for word in words.words_of(a_round([" rab", "bit"], accepted=0))] == ["rejected"]
    assert not any("first part" in line for line in explain(a_turn([" rab", "bit"], accepted=0)))
    tale = words.words_of(a_round([" Tom", "'", "s", " boat", ",", ' "', "Hi", "!", "\n", "It"], 0))
    assert [word.text for word in tale] == ["Tom's", "boat", ",", '"', "Hi", "!", "\n", "It"]
    assert words.whole_words([" a", " big", " sand", " cast", "le", "."], 4) == 3
    assert words.whole_words([" snow", "man"], 4) == 2
    assert words.whole_words([" z", "e", "b", "ra", "f", "ish", " ran"], 4) == 6
    assert words.whole_words([" one"], 4) == 1


def test_a_round_is_explained_in_order_with_the_targets_tokens() -> None:
    lines = explain(a_turn([" the", " dog", " ran"], accepted=1, cut=3))
    assert lines[1] == "✗ “dog” was rejected: there the target wanted “end” and gave this one 5 %."
    assert lines[2] == "⋯ 1 token was never judged."
    assert lines[3] == "↻ “end” is the correction, the target’s own token."
    assert lines[4] == "A draft has at most 16 tokens: your last 3 were not sent."
    full = explain(a_turn([" the", " dog"], accepted=2))
    assert full[-1] == "+ “end” is the bonus, the target’s extra token."
    assert explain(a_turn([], accepted=0)) == []
    assert wanted(a_round([" dog"], 0)) == [(" end", 0.6, False), (" other", 0.2, False), (" dog", 0.05, True)]
    assert wanted(a_round([" dog"], 1)) == [(" end", 0.6, False), (" other", 0.2, False)]


def test_headlines() -> None:
    for pieces, accepted, said in (
        ([" a", " b"], 2, "2 of 2 tokens accepted: this target pass wrote 3 tokens."),
        ([" a", " b"], 1, "1 of 2 tokens accepted: this target pass wrote 2 tokens."),
        ([" a"], 0, "0 of 1 token accepted: this target pass wrote 1 token."),
        ([], 0, "Skipped: the target wrote one token itself. Nobody scores."),
    ):
        assert headline(a_round(pieces, accepted)) == said


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
    assert fill_in_trace(Form(), read) is None, "no draft of the controls is a person"


def test_what_is_sent_and_recorded_is_a_turn() -> None:
    turn = a_turn([" a", " b"], 1)
    assert game.load_turn(game.dump_turn(turn)) == turn
    with pytest.raises(InputError, match="turn is not valid"):
        game.load_turn({"text": 3})
    example = known(recorded_example())
    assert isinstance(example.turn.trace, Trace)
    parse_trace(dump_trace(example.turn.trace))
    assert example.turn.trace.prompt.text == example.prompt
    data = example_data(example)
    assert [word["fate"] for word in data["guesses"][0]["words"]] == ["part", "discarded", "discarded", "discarded"]
    assert not any("yours" in line for line in data["lines"])


def test_the_board_shows_the_end_of_a_text_and_rivals_not_how_it_continues() -> None:
    turn = a_turn([" a"], 1, before="x" * 1000)
    data = text_data(turn.text, turn, inside=False, focus="1")
    assert data["fresh"] == " a end"
    assert data["text"].startswith("…x")
    assert len(data["text"]) < 400
    drawn = turn_data(turn)
    assert [chip["status"] for chip in drawn["guesses"][0]["chips"]] == ["accepted", "bonus"]
    assert [rival["name"] for rival in drawn["rivals"]] == [game.MODEL, game.LOOKUP]
    model, lookup = turn_data(a_turn([" a", " b", " c", " d"], 1, model=4, lookup=0))["rivals"]
    assert [chip["text"] for chip in model["chips"]] == [" a", " b"], "as far as the visitor's text reaches"
    assert (model["more"], lookup["more"]) == ("+ 2 hidden, 4 of 4 accepted", "+ 2 hidden, 0 of 4 accepted")
    short = turn_data(a_turn([" a"], 1, model=0))["rivals"][0]
    assert [chip["status"] for chip in short["chips"]] == ["rejected", "correction"]
    assert short["more"] == "0 of 1 accepted"


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


def test_a_chat_is_drawn_as_what_was_asked_and_the_answer() -> None:
    asked = "[system]\nBe brief.\n[user]\nName <b>a</b> tree."
    drawn = text_data("An oak", None, inside=False, focus="1", asked=asked)
    assert drawn["label"] == "The answer so far"
    assert [(each["name"], each["text"]) for each in drawn["asked"]] == [
        ("System message", "Be brief."),
        ("The user asked", "Name <b>a</b> tree."),
    ]
    plain = text_data("An oak", None, inside=False, focus="1")
    assert (plain["label"], plain["asked"]) == ("The text so far", [])


def test_code_keeps_the_spaces_at_the_beginning_of_a_line_and_an_answer_begins_without_one() -> None:
    assert words.tidy("  for  x in y:⏎    total  += x") == " for x in y:\n    total += x"
    assert words.joined("", " It is", inside_word=False) == "It is"


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
