"""Whatever is parsed, from any bytes: a value or one sentence, nothing else. And what is written reads back equal."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from specviz.core.csv_cells import marked, unmarked
from specviz.core.outside import check_density, read_outside
from specviz.core.request import RunRequest, prompt_problem
from specviz.core.settings import DecodeSettings
from specviz.core.trace import UPLOAD, dump_trace, parse_trace
from specviz.data.links.page_link import explain_left_out
from specviz.data.links.permalink import RunLink, link_of
from specviz.measure.sweep.prompt_files import MAX_NAME, PromptFile, read_prompts
from specviz.measure.sweep.rows import COLUMNS, dump_frame, frame_of, read_frame
from specviz.models.draft_menu import linked_names
from specviz.systems import RecordOptions, import_run, read_counters
from specviz.ui.race.race_page import RaceEntry
from tests.support.fake_rows import row_at
from tests.support.fake_traces import fake_trace
from tests.support.records import SYSTEM_OF, FakeTokenizer, record
from tests.support.strategies import (
    CELL,
    JSON,
    SETTINGS,
    assert_one_sentence,
    changed,
    refusal,
    value_or_sentence,
)
from tests.unit.test_files_of_before import READERS
from tests.unit.test_serving_counters import LLAMA, LM_STUDIO, SGLANG, TENSORRT_STEPS, TEXTS, VLLM

VALID = json.loads(dump_trace(fake_trace(tokens=8)))
TABLE = dump_frame(frame_of([row_at("story", 4, 1.5), row_at("code", 2, 0.9)])).split("\r\n")
ANY_BYTES = st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode(errors="surrogatepass"))
ANY_JSON = JSON.map(lambda value: json.dumps(value).encode())
GIVEN = {"transformers": RecordOptions(tokenizer=FakeTokenizer())}
PARSERS: dict[str, Callable[[bytes], Any]] = {
    "trace": lambda raw: parse_trace(raw, UPLOAD),
    "sweep": lambda raw: read_frame(raw, "sweep.csv"),
    "rows of a sweep": lambda raw: read_frame(TABLE[0].encode() + b"\r\n" + raw, "sweep.csv"),
    "prompts": read_prompts,
    **{name: partial(import_run, system=system, given=GIVEN.get(system)) for name, system in SYSTEM_OF.items()},
}


@pytest.mark.parametrize("kind", PARSERS)
@given(raw=ANY_BYTES | ANY_JSON | st.lists(ANY_JSON, max_size=4).map(b"\n".join))
def test_any_bytes_are_read_or_refused_in_a_sentence(kind: str, raw: bytes) -> None:
    found = value_or_sentence(lambda: PARSERS[kind](raw))
    for problem in found.problems if isinstance(found, PromptFile) else ():
        assert_one_sentence(problem)


def with_cell(column: int, cell: str) -> bytes:
    """A sweep with another text in this cell."""
    cells = TABLE[1].split(",")
    cells[column] = '"' + cell.replace('"', '""') + '"'
    return "\r\n".join([TABLE[0], ",".join(cells), ""]).encode(errors="surrogatepass")


def parts_of(name: str) -> list[Any]:
    """The objects of a record: lines of JSON, parts of a stream, or one."""
    content = record(name).decode()
    if not name.endswith(("jsonl", "txt")):
        return [json.loads(content)]
    lines = (line.removeprefix("data: ") for line in content.splitlines())
    return [json.loads(line) for line in lines if line.startswith("{")]


NEARLY = {
    "sweep": st.builds(with_cell, st.integers(0, len(COLUMNS) - 1), st.text(max_size=30) | JSON.map(str)),
    "trace": changed(VALID).map(json.dumps).map(str.encode),
    **{
        name: changed(parts_of(name)).map(lambda parts: "\n".join(map(json.dumps, parts)).encode())
        for name in SYSTEM_OF
    },
}


@pytest.mark.parametrize("kind", NEARLY)
@given(data=st.data())
def test_a_file_with_another_part_reads_back_or_is_refused_in_a_sentence(kind: str, data: st.DataObject) -> None:
    raw = data.draw(NEARLY[kind])
    found = value_or_sentence(lambda: PARSERS[kind](raw))
    if found is not None and kind == "sweep":
        assert read_frame(dump_frame(found).encode(), "sweep.csv").equals(found)
    elif found is not None:
        assert parse_trace(dump_trace(found), UPLOAD) == found


@given(CELL | st.text(max_size=20))
def test_a_marked_cell_is_no_formula_and_reads_back(text: str) -> None:
    assert unmarked(marked(text)) == text
    assert not marked(text).lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"))


PROMPT = st.text(max_size=60).filter(lambda text: prompt_problem(text) is None)
WORD = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=MAX_NAME).filter(
    lambda text: bool(text.strip()) and text == text.strip()
)


@given(st.lists(st.tuples(WORD, WORD, PROMPT), min_size=1, max_size=4, unique_by=lambda each: each[0]))
def test_any_prompts_read_back(prompts: list[tuple[str, str, str]]) -> None:
    lines = [json.dumps({"name": name, "workload": workload, "prompt": text}) for name, workload, text in prompts]
    found = read_prompts("\n".join(lines).encode())
    assert [(each.name, each.workload, each.text) for each in found.prompts] == prompts
    assert found.problems == ()


NAMES = ("prompt", "preset", "target", "draft", "gamma", "temperature", "top_k", "top_p", "tokens", "seed", "dtype")
NAMES += ("schedule", "step", "run", "rule", "position", "draws", "repeats", "same_length", "workload", "prompts")
NAMES += ("constrain", "alpha", "c", "v", "o", "batch", "operations", "drafted", "accepted", "set", "mode", "lesson")
NUMBERS = (
    st.integers().map(str) | st.floats().map(str) | st.sampled_from(["9" * 5_000, "1e999", "-0", "٣", "1_0", " 1"])
)
VALUES = (
    st.text(max_size=40) | NUMBERS | st.sampled_from(["story-1", "wren-base", "lookup", "exact", "first", "x" * 9_000])
)
PARAMS = st.dictionaries(st.sampled_from(NAMES), st.lists(VALUES, min_size=1, max_size=60), max_size=8)


@pytest.mark.parametrize("page", READERS)
@given(params=PARAMS)
def test_any_link_is_read_with_a_sentence_for_each_part_that_is_left_out(
    page: str, params: dict[str, list[str]]
) -> None:
    for problem in READERS[page](params)[1]:
        assert_one_sentence(problem)


DRAFTS = ["wren-nano", "lookup", "wren-eagle", "lookup-wren-eagle", "early-exit:3"]
TREES = [RunRequest("a", settings=DecodeSettings(draft_length=3, tree=tree)) for tree in ("4,2,1", "dynamic:16")]
REQUESTS = st.sampled_from(TREES) | st.builds(
    RunRequest, PROMPT, st.just("wren-base"), st.sampled_from(DRAFTS), SETTINGS
)


@given(REQUESTS, st.none() | st.integers(0, 100_000), st.sampled_from([None, "first", "0123456789abcdef"]), st.data())
def test_any_run_and_any_race_is_its_link(
    request: RunRequest, step: int | None, run: str | None, data: st.DataObject
) -> None:
    request = replace(request, settings=replace(request.settings, stop_at_eos=True))
    found, problems = RunLink.read(link_of(request, step, run=run), context=linked_names())
    assert explain_left_out(request.prompt) or found.request() == request
    assert (found.step, found.run, problems) == (step, run, [])
    own = data.draw(st.text(max_size=50).map(lambda text: text if text.strip() else ""))
    entry = RaceEntry.of(request, presets=("story-1",), own=own, repeats=data.draw(st.integers(1, 20)))
    assert RaceEntry.read(entry.parameters(), context=linked_names()) == (entry, [])


PIECES = {piece for text in TEXTS.values() for piece in re.findall(r"[^0-9\n]{6,}", text)}
COUNTER = st.sampled_from(sorted(PIECES))  # what stands between the numbers, as "accept len: "
LABELS = st.sampled_from(["", '{position="0"}', '{position="x', '{a="\\', "{", "}", '{position="99999999999"}', "{,}"])
LINE = st.tuples(COUNTER, LABELS, VALUES | JSON.map(str)).map(lambda parts: f"{parts[0]}{parts[1]} {parts[2]}")
ANSWERS = st.one_of([changed(each).map(json.dumps) for each in (VLLM, SGLANG, LLAMA, TENSORRT_STEPS, LM_STUDIO)])


@given(st.text(max_size=200) | ANY_JSON.map(bytes.decode) | st.lists(LINE, max_size=6).map("\n".join) | ANSWERS)
def test_any_pasted_text_is_counters_or_a_sentence(text: str) -> None:
    found = value_or_sentence(lambda: read_counters(text))
    if found is not None:
        assert found.tokens_per_target_call is None or found.tokens_per_target_call >= 1
        assert 0 <= found.assuming(4).alike_alpha(4) <= 1
        assert all(math.isfinite(value) for value in asdict(found).values() if isinstance(value, float))


@pytest.mark.parametrize("sign", [" ", ",", "{", "[", '"', "\\", '":', "5", "\n", "\u2028", "\x00", "漢"])
def test_a_run_of_single_signs_opens_again(sign: str) -> None:
    """Found: a run of 441 single signs, many of them commas, was refused by the app that had saved it."""
    made = fake_trace(tokens=8)
    rounds = [replace(each, drafted=[replace(token, text=sign) for token in each.drafted]) for each in made.rounds]
    for count in (441, 2_000, 20_000):
        prompt = replace(made.prompt, text=sign * count, tokens=[sign] * count, token_ids=[7] * count)
        trace = replace(made, prompt=prompt, rounds=rounds, output=replace(made.output, text=sign * 8))
        assert parse_trace(dump_trace(trace), UPLOAD) == trace


def test_marks_in_texts_hide_nothing_that_is_outside_of_them() -> None:
    dense = b'{"a":"' + b",[{" * 100_000 + b'","b":[' + b"[]," * 200_000 + b"1]}"
    unclosed = b'{"a":"' + b'\\"' * 100_000 + b"[]," * 400_000
    for read in (
        partial(parse_trace, dense, UPLOAD),
        partial(parse_trace, unclosed, UPLOAD),
        partial(check_density, b': "\n' + b"[]," * 400_000, "trace"),
        partial(check_density, b"[{" * 10_000 + b" " * 20_000, "record"),
        partial(read_outside, TypeAdapter(list[Any]), b"[[]," + b"[]," * 9_000 + b"1]", "record"),
        partial(read_outside, TypeAdapter(list[Any]), b"\xff", "record"),
    ):
        assert re.search(r"not valid at the file: (it has too many values|Invalid JSON)", refusal(read))
