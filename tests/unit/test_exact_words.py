"""No text says more than its figures: each sentence here claimed too much once, or could be read in two ways."""

import json
import re
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from specviz.core.drafters import METHODS
from specviz.core.judge import ONE_RUN, if_timed_again, least_check
from specviz.core.settings import SETTINGS
from specviz.data.lessons.family import family
from specviz.data.lessons.glossary import glossary
from specviz.data.lessons.questions import faq
from specviz.data.lessons.roofline import roofline
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
    menu = next(method.used for method in METHODS if method.kind == "eagle")
    assert "EAGLE: vLLM, SGLang;" in rows["EAGLE or MTP head"]
    assert "EAGLE heads with vLLM and SGLang, EAGLE-3 heads also with llama.cpp and TensorRT-LLM;" in menu
    assert rows["EAGLE-3"] == "vLLM, SGLang, llama.cpp, TensorRT-LLM"
    drafts = next(word for word in glossary() if word.name == "argmax draft").says.technical
    answer = next(each for each in faq().questions if each.name == "temperature").answer.technical
    for text in (rows["Most probable drafts"], drafts, SETTINGS["draft_sampling"].help, answer):
        assert re.search("vLLM, SGLang, llama.cpp (and )?TensorRT-LLM", text.replace("\n", " ")), text


def test_a_row_that_is_lossless_says_where_a_project_in_it_is_not() -> None:
    for member in family().methods:
        if "the Medusa project" in member.used.technical and member.lossless.technical == "yes":
            assert "not lossless above temperature 0" in member.used.technical


def test_no_text_calls_a_dated_model_recent_or_an_upper_bound_what_is_none() -> None:
    files = [*(ROOT / "assets").rglob("*.yaml"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    assert len(files) > 20
    for phrase in ("recent models", "the most that could be gained", "always costs more", "always take more time"):
        assert [file.name for file in files if phrase in plain(file.read_text(encoding="utf-8"))] == []
