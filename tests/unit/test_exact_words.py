"""No text says more than its figures: each sentence here claimed too much once, or could be read in two ways."""

import json
import re
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from specviz.core.judge import ONE_RUN, if_timed_again, least_check
from specviz.core.metrics import count
from specviz.core.settings import SETTINGS
from specviz.data.lessons.family import family
from specviz.data.lessons.glossary import glossary
from specviz.data.lessons.questions import faq
from specviz.data.lessons.recorded_runs import STORY_RUNS, story_figures, story_trace
from specviz.data.lessons.roofline import roofline
from specviz.data.lessons.story import steps
from specviz.data.texts import pages
from specviz.data.workloads import WORKLOADS
from tests.support.known import known

ROOT = Path(__file__).parents[2]
MEASUREMENTS = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")


def stored(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def plain(text: str) -> str:
    return " ".join(text.split())


def test_what_runs_of_one_setting_differ_by_is_the_stored_figure() -> None:
    """Found: "5 % is what a run differs by"."""
    speedups = [each["after"]["speedups"] for each in stored("steadiness")["labels"]]
    spreads = [100 * stdev(its) / mean(its) for its in speedups]
    said = f"a standard deviation of {min(spreads):.1f} to {max(spreads):.1f} % of their mean"
    assert said in plain(MEASUREMENTS)
    assert min(spreads) > 100 * (ONE_RUN - 1)


def test_runs_without_a_label_are_not_counted_as_the_same_label() -> None:
    """Found: "30 of 30 runs had the same label"; 14 of them had none."""
    settings = stored("steadiness")["labels"]
    labels = [[label for label in each["after"]["labels"] if label != "busy"] for each in settings]
    before = [each["before"]["changes_of_label"] for each in settings]
    after = [each["after"]["changes_of_label"] for each in settings]
    in_turns = ", ".join(f"{changes} of {len(its)}" for changes, its in zip(after, labels, strict=True))
    assert f"| {', '.join(map(str, before))} of 10 each; {in_turns} |" in MEASUREMENTS
    assert {len(set(its)) for its in labels} == {1}, "each the same as the others of its setting"
    of_all = [(median(each["after"]["speedups"]), *end) for each in settings for end in each["after"]["intervals"]]
    inside = sum(low <= middle <= high for middle, low, high in of_all)
    by_times_alone = sum(low * ONE_RUN <= middle <= high / ONE_RUN for middle, low, high in of_all)
    labelled, said = sum(map(len, labels)), plain(known(if_timed_again.__doc__))
    assert inside == len(of_all)
    assert f"all {inside} intervals" in said
    assert f"{by_times_alone} do without" in said
    assert f"{labelled} of those runs had a label" in said
    assert f"{len(of_all) - labelled} had none" in said


def test_the_lowest_check_that_is_published_is_possible_in_its_format_and_its_card_says_how() -> None:
    """Found: "no speedup can exceed the tokens per target call", and cards with v(5) of 0.92 and 0.95."""
    pairs = stored("family")["pairs"]
    lowest = min(pairs, key=lambda pair: pair["v5"])
    assert f"is {lowest['v5']:.2f}, of {lowest['target']}" in plain(MEASUREMENTS)
    assert least_check(lowest["target_dtype"]) < lowest["v5"] < least_check("float32")
    for pair in pairs:
        card = (ROOT / "assets" / "models" / pair["draft"] / "README.md").read_text(encoding="utf-8")
        [about] = re.findall(rf"^(For {pair['target']} in {pair['target_dtype']}: .*?)\n\|", card, re.M | re.S)
        assert ("v(5) can be below 1" in about) == (pair["v5"] < 1)


def test_a_kind_of_text_is_described_without_an_order_of_acceptance() -> None:
    """Found: code "easy to guess", prose that "a small draft often" misses; the measured order is another one."""
    for kind in WORKLOADS:
        assert not re.search(r"easy|hard|guess|draft|cost|best|few tokens", kind.about), kind.about


def test_what_the_model_of_a_loaded_machine_assumes_is_said() -> None:
    for said, cost in ((roofline().limits.technical, "guess"), (roofline().limits.plain, "suggestion")):
        assert re.search(rf"assumed\. A {cost} (costs|takes) the same", said)
        assert "equally often" in said


def test_the_same_seed_is_promised_on_one_machine_and_in_the_exact_format_only() -> None:
    assert "on the same machine, in the exact number format" in SETTINGS["seed"].help


def test_the_same_systems_are_named_wherever_a_method_is() -> None:
    """Found: EAGLE with four systems in one table and two in the next; TensorRT-LLM's default left out."""
    rows = {member.title.technical: member.used.technical for member in family().methods}
    assert "EAGLE: vLLM, SGLang;" in rows["EAGLE or MTP head"]
    assert rows["EAGLE-3"] == "vLLM, SGLang, llama.cpp, TensorRT-LLM"
    drafts = next(word for word in glossary() if word.name == "argmax draft").says.technical
    answer = next(each for each in faq().questions if each.name == "temperature").answer.technical
    for text in (rows["Most probable drafts"], drafts, SETTINGS["draft_sampling"].help, answer):
        assert re.search(r"vLLM, SGLang, llama\.cpp,? (and )?TensorRT-LLM", text.replace("\n", " ")), text


def test_a_row_that_is_lossless_says_where_a_project_in_it_is_not() -> None:
    named = [member for member in family().methods if "Medusa’s own" in member.used.technical]
    assert len(named) == 2
    for member in named:
        assert member.lossless.technical == "yes"
        assert "not lossless above temperature 0" in member.used.technical


def test_no_text_calls_a_dated_model_recent_or_an_upper_bound_what_is_none() -> None:
    files = [*(ROOT / "assets").rglob("*.yaml"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    assert len(files) > 20
    for phrase in ("recent models", "the most that could be gained", "always costs more", "always take more time"):
        assert [file.name for file in files if phrase in plain(file.read_text(encoding="utf-8"))] == []


def word(name: str) -> str:
    return next(each for each in glossary() if each.name == name).says.technical


def test_the_heads_differ_by_the_last_token_and_not_by_the_age_of_their_state() -> None:
    card = plain((ROOT / "assets" / "models" / "wren-medusa" / "README.md").read_text(encoding="utf-8"))
    assert "wren-eagle reads the same state, and with it an embedding of the last token" in card
    for said in (
        next(each for each in faq().questions if each.name == "thoughts").answer.technical,
        pages()["helps"]["heads"],
    ):
        assert "both read the same state, from the place before the last token" in said
        assert "also reads the embedding of the last token" in said
    assert "last token" in word("Medusa")
    assert "last token" in word("EAGLE")


def test_alpha_is_the_rate_per_judgement_and_the_acceptance_at_one_place_is_beta() -> None:
    for step in steps():
        assert "α" not in step.text.technical, step.name
    assert "β" in next(step for step in steps() if step.picture == "lossless").text.technical
    assert "α" not in re.sub(
        r"/\*.*?\*/", "", (ROOT / "assets/stage/lossless.js").read_text(encoding="utf-8"), flags=re.S
    )
    assert "its expected value" in word("per-judgement rate")


def test_the_words_say_which_p_and_q_are_shown() -> None:
    assert "of temperature 1: at 0 they are 0 or 1" in word("greedy")
    assert "Then p is the leftover, and q is without the failed tokens" in word("sibling")
    traces = plain((ROOT / "docs" / "traces.md").read_text(encoding="utf-8"))
    assert "p becomes (p − q)₊, scaled to sum to 1" in traces
    assert "p and q are those of temperature 1" in traces


def test_a_point_in_the_picture_of_a_roof_is_not_said_to_stop_at_its_corner() -> None:
    assert "up to the corner" not in " ".join(asked.answer.technical for asked in roofline().questions)


def test_an_extreme_run_is_shown_with_the_runs_that_it_was_chosen_from() -> None:
    figures = story_figures()
    assert set(figures.tried_per_call) == set(STORY_RUNS)
    for name, found in figures.tried_per_call.items():
        assert found == sorted(found)
        assert len(found) == figures.tried[name]
        assert round(known(count(story_trace(name).rounds).tokens_per_target_call), 3) in found
    for name in ("pays", "no-gain"):
        step = next(step for step in steps() if step.name == name)
        assert {"{tried_least}", "{tried_middle}", "{tried_most}"} <= set(re.findall(r"{\w+}", step.text.technical))


def test_a_cost_of_a_check_is_told_from_another_studys_where_both_are_read() -> None:
    """Found: v(5) of 1.79 in one step, 1.56 in the next and 1.42 in a plot, for the same model."""
    together = next(step for step in steps() if step.name == "together").text
    assert "{batch_check_alone}" not in together.technical + together.plain
    busy = next(each for each in faq().questions if each.name == "busy").answer.technical
    assert "{check_float32}" in busy
    assert "{pass_step_ms}" in busy
    assert "another figure for the same model" in plain(pages()["helps"]["batches"])
