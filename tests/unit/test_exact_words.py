"""No text says more than its figures: each sentence here claimed too much once, or could be read in two ways."""

import json
import re
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from specviz.core.judge import ONE_RUN, least_check, widen_for_next_run
from specviz.core.metrics import count
from specviz.core.settings import SETTINGS
from specviz.data.lessons.family import family
from specviz.data.lessons.glossary import glossary
from specviz.data.lessons.questions import faq
from specviz.data.lessons.recorded_runs import STORY_RUNS, story_figures, story_trace
from specviz.data.lessons.story import steps
from specviz.data.prompts.workloads import WORKLOADS
from specviz.data.texts import pages
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
    labelled, said = sum(map(len, labels)), plain(known(widen_for_next_run.__doc__))
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


def test_the_same_systems_are_named_wherever_a_method_is() -> None:
    """Found: EAGLE with four systems in one table and two in the next; TensorRT-LLM's default left out."""
    rows = {member.title.technical: member.used.technical for member in family().methods}
    assert "EAGLE: vLLM, SGLang;" in rows["EAGLE or MTP head"]
    assert rows["EAGLE-3"] == "vLLM, SGLang, llama.cpp, TensorRT-LLM"
    drafts = next(word for word in glossary() if word.name == "argmax draft").says.technical
    answer = next(each for each in faq().questions if each.name == "temperature").answer.technical
    for text in (rows["Most probable drafts"], drafts, SETTINGS["draft_sampling"].help, answer):
        assert re.search(r"vLLM, SGLang, llama\.cpp,? (and )?TensorRT-LLM", text.replace("\n", " ")), text


def test_no_text_calls_a_dated_model_recent_or_an_upper_bound_what_is_none() -> None:
    files = [*(ROOT / "assets").rglob("*.yaml"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    assert len(files) > 20
    for phrase in ("recent models", "the most that could be gained", "always costs more", "always take more time"):
        assert [file.name for file in files if phrase in plain(file.read_text(encoding="utf-8"))] == []


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
    assert "another figure for the same model" in plain(pages()["when_it_helps"]["batches"])
