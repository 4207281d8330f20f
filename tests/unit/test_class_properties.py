"""What a teacher or a student may type or upload, from any text: a value or sentences, nothing else."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from specviz.data.lessons.plan_reader import PlanError, parse_plan
from specviz.service.classes.codes import ALPHABET, LENGTH, new_code, read_code, shown_code
from specviz.service.classes.names import MAX_NAME, tidy_name
from tests.conftest import ROOT
from tests.support.strategies import JSON, assert_one_sentence, changed

PLAN: Any = yaml.safe_load(Path(ROOT, "assets/lessons/ten-minutes.yaml").read_text(encoding="utf-8"))
LINES = [
    "moments:",
    "- title: x",
    "  link: /?run=first",
    "&a",
    "*a",
    "? :",
    "[[[",
    "{",
    "!!python/x",
    "\t",
    "---",
    "'",
]
YAML_LINES = st.lists(st.sampled_from(LINES))


def plan_or_sentences(data: bytes) -> None:
    problems = ["It is a plan."]
    try:
        parse_plan(data, "own")
    except PlanError as refused:
        problems = refused.problems
    assert problems
    for problem in problems:
        assert_one_sentence(problem)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode(errors="surrogatepass")))
def test_any_bytes_are_a_plan_or_sentences(data: bytes) -> None:
    plan_or_sentences(data)


@given(YAML_LINES.map("\n".join) | JSON.map(lambda value: json.dumps(value)) | changed(PLAN).map(json.dumps))
def test_anything_like_a_plan_is_a_plan_or_sentences(text: str) -> None:
    plan_or_sentences(text.encode(errors="surrogatepass"))


@given(st.text() | st.text(ALPHABET + ALPHABET.lower() + " -–", max_size=14))
def test_any_text_is_a_code_or_none(typed: str) -> None:
    code = read_code(typed)
    assert code is None or (len(code) == LENGTH and set(code) <= set(ALPHABET))


@given(st.sampled_from([str.lower, str.upper]), st.sampled_from(["", " ", "\n"]))
def test_a_code_reads_back_however_it_is_typed(case: Any, around: str) -> None:
    code = new_code()
    assert read_code(around + case(shown_code(code)) + around) == code


@given(st.text())
def test_any_name_becomes_short_text_on_one_line_and_stays_so(typed: str) -> None:
    name = tidy_name(typed)
    assert len(name) <= MAX_NAME
    assert name == name.strip()
    assert not any(unicodedata.category(char)[0] == "C" or char in "\n\u2028\u2029" for char in name)
    assert tidy_name(name) == name
