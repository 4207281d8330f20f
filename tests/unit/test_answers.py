"""The answers to frequent questions and the map of methods say what the stored files and the named systems say."""

import json
from itertools import combinations
from pathlib import Path

import pytest

from specviz.core.drafters import METHODS, READ_ON
from specviz.data.batches import recorded_batches
from specviz.data.lessons.answers import rule_counts
from specviz.data.lessons.family import family
from specviz.data.lessons.questions import answer_facts, faq
from specviz.data.lessons.recorded_runs import story_trace
from specviz.data.measured_methods import FILE, stored_methods
from specviz.data.published import SERVED
from specviz.data.texts import fill
from specviz.measure.proof.findings import looks
from specviz.measure.proof.recorded import PATH, recorded_proof
from specviz.ui.learn.family import best_of, family_table, served_table
from specviz.ui.shared.run_controls import draft_help
from tests.support.known import known
from tests.unit.test_lessons import is_plain

ROOT = Path(__file__).parents[2]
STORED = pytest.mark.skipif(not FILE.is_file(), reason="no comparison of methods is stored yet")


def answer(name: str) -> str:
    (entry,) = [entry for entry in faq().questions if entry.name == name]
    return fill(entry.answer.technical, answer_facts(entry.trace))


def test_the_answer_on_a_busy_server_says_both_figures_and_why() -> None:
    study, said = recorded_batches(), answer("busy")
    most, lengths = study.batches[-1], study.draft_lengths
    together, short = study.at(most, lengths[-1]), study.at(most, lengths[0])
    assert f"{together.speedup.value:.2f} times for" in said
    full = together.full_speedup
    assert f"{full.value:.2f} times [{full.low:.2f} to {full.high:.2f}]" in said
    assert together.speedup.value < full.value
    assert f"{100 * together.empty_places:.0f} % of the places" in said
    assert together.verification.value > study.at(1, lengths[-1]).verification.value
    assert short.speedup.low > together.speedup.high  # "A shorter draft loses less"
    assert f"{short.speedup.value:.2f} times" in said


def test_the_answer_on_experts_counts_what_a_check_touches_and_blames_what_the_report_blames() -> None:
    said = answer("experts")
    chosen = [set(pair) for pair in combinations(range(8), 2)]
    missed = sum(0 not in pair for pair in chosen) / len(chosen)  # one expert, by one token
    assert f"touch {8 * (1 - missed**5):.1f} experts" in said
    assert f"{4 * (1 - missed**5):.2f} times as much" in said
    for name in ("experts", "sparse-batches"):
        assert f"{SERVED[name].speedup:g} times" in said


def test_the_answers_on_memory_and_heads_have_the_heads_own_numbers() -> None:
    drafters = (known(story_trace(f"method-{name}").drafter) for name in ("eagle", "small-model"))
    eagle, nano = (f"{known(drafter.parameters) / 1e6:.2f}" for drafter in drafters)
    assert f"wren-eagle has {eagle} million parameters and wren-nano {nano}" in answer("memory")
    log = json.loads((ROOT / "assets/models/wren-eagle/training.json").read_text(encoding="utf-8"))
    runs = [log, log["before"], log["before"]["before"]]
    assert log["started_from"] == "wren-nano"
    assert f"{sum(run['tokens_seen'] for run in runs) / 1e6:.1f} million tokens more" in answer("thoughts")


@STORED
def test_the_answer_on_heads_says_what_does_not_fit() -> None:
    greedy, said = known(known(stored_methods()).greedy), answer("thoughts")
    eagle, nano, medusa = (known(greedy.find(f"wren-{name}")).kinds for name in ("eagle", "nano", "medusa"))
    calls = [known(each["story"].at(4)).costs.tokens_per_target_call for each in (eagle, nano)]
    assert f"on stories {calls[0]:.2f} and {calls[1]:.2f}" in said
    heads, model = (known(each["all"].at(4)).by_position for each in (medusa, eagle))
    assert f"{100 * known(heads[0]):.0f} % accepted against {100 * known(model[0]):.0f} %" in said
    assert known(model[0]) - known(heads[0]) > 0.3


def test_the_answer_on_lossy_rules_has_the_counts_of_the_recorded_proof() -> None:
    said, proof = answer("lossy"), known(recorded_proof())
    shown = {"Block verification, which is lossless": "block", "Lenience": "lenient", "Typical acceptance": "typical"}
    batches = {each.rule: each.batches for each in proof.draws}
    stored = {each["rule"]: each["batches"] for each in json.loads(PATH.read_bytes())["draws"]}
    accepted = {rule: sum(b.accepted for b in its) / sum(b.proposed for b in its) for rule, its in batches.items()}
    for words, rule in {**shown, "An ensemble of both models": "ensemble"}.items():
        assert f"{words}: {100 * accepted[rule]:.0f} %" in said
        look = looks(batches[rule])[-1]
        assert (look.p_value < 0.001) == (rule != "block")
        assert rule_counts(stored[rule]).distance == pytest.approx(look.distance, abs=0.03)
    assert accepted["typical"] < accepted["lossless"] < accepted["ensemble"] < accepted["lenient"]


def test_a_method_that_is_not_run_here_has_a_paragraph_and_its_paper() -> None:
    elsewhere = [member for member in family().methods if not member.name]
    titles = ["EAGLE-3", "PARD", "DFlash", "DSpark", "Suffix decoding", "Typical acceptance, FLy"]
    assert [member.title.technical for member in elsewhere] == titles
    html = served_table("technical")
    assert html.count("<tr") == len(elsewhere)  # the last is in the other table; and the head
    assert "–" not in html
    for member in elsewhere:
        assert not member.measured
        assert member.url.startswith("https://")
        assert member.paper
        said = known(member.about)
        assert 25 <= len(said.technical.split()) <= 80
        assert is_plain(said.plain), said.plain
        assert (f'href="{member.url}"' in html) == (member.lossless.technical == "yes")
    assert all(member.about is None for member in family().methods if member.name)


def test_the_map_and_the_menu_name_the_same_systems() -> None:
    menu = " ".join(method.used for method in METHODS)
    rows = " ".join(member.used.technical for member in family().methods)
    for system in ("vLLM", "SGLang", "llama.cpp", "LM Studio", "TensorRT-LLM", "transformers"):
        assert system in menu
        assert system in rows
    assert READ_ON in draft_help()


@STORED
def test_figures_at_temperature_1_stand_beside_the_same_drafter_there() -> None:
    sampled = next(part for part in known(stored_methods()).temperatures if part.temperature)
    usual = known(sampled.find("wren-nano")).kinds["all"].best
    for member in family().methods:
        _, beside = best_of(member, stored_methods())
        assert (beside == usual) == (member.name in ("method-argmax", "method-block")), member.name
    block = known(sampled.find("wren-nano block")).kinds["all"].best
    tokens = f"{block.costs.tokens_per_target_call:.2f} ({usual.costs.tokens_per_target_call:.2f})"
    assert f">{tokens}</td>" in family_table(stored_methods(), "technical")
    assert known(block.costs.overhead) > known(usual.costs.overhead)  # "The rule itself takes a little longer"
