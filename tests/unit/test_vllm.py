"""All that is read from an answer, a log, a page of counters and a benchmark of vLLM."""

from dataclasses import asdict
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.systems import RecordOptions, vllm
from specviz.systems.fields import Fields
from specviz.systems.metrics import Metrics
from tests.support.records import FakeTokenizer

STEPS = {"num_spec_tokens": 4, "per_step_drafted": [3, 2], "per_step_accepted": [2, 0]}  # 1 + 3 + 1 tokens


def answer(*choices: dict[str, Any], steps: dict[str, Any] = STEPS, **fields: Any) -> list[Fields]:
    """The pieces of a stream, one choice each; the last piece has the usage and the steps."""
    pieces = [{"model": "a/model", "created": 1795000000, "choices": [{"index": 0} | each]} for each in choices]
    pieces[-1] |= {"metrics": {"speculative_decoding": steps}} | fields
    return [Fields(f"line {number}", each) for number, each in enumerate(pieces, start=1)]


WORDS = {"logprobs": {"tokens": ["One", " two", ",", " 3", "!"]}, "text": "One two, 3!"}
IDS = {"text": "One two, 3!", "token_ids": [9241, 5304, 264, 882, 11]}
KNOWN = RecordOptions(tokenizer=FakeTokenizer())
ANSWERS: dict[str, tuple[list[Fields], RecordOptions]] = {
    "texts of tokens": (answer(WORDS | {"finish_reason": "length"}, usage={"completion_tokens": 5}), RecordOptions()),
    "texts and ids, a known tokenizer": (answer(WORDS | IDS | {"finish_reason": "stop"}), KNOWN),
    "a text without an end": (answer({"text": WORDS["text"]}, usage={"completion_tokens": 5}), RecordOptions()),
    "ids, a known tokenizer": (answer(IDS | {"finish_reason": "stop", "prompt_token_ids": [7, 8]}), KNOWN),
    "a text, at a string": (
        answer({"text": WORDS["text"], "finish_reason": "stop", "stop_reason": "!"}, usage={"completion_tokens": 5}),
        RecordOptions(),
    ),
    "in pieces, inside the last step": (
        answer(
            {"text": "One two", "logprobs": {"tokens": ["One", " two"]}, "token_ids": [9241, 5304]},
            {"text": ",", "logprobs": {"tokens": [","]}, "token_ids": [264], "finish_reason": "length"},
            {"text": "", "token_ids": []},
            steps={"per_step_drafted": [4], "per_step_accepted": [4], "num_spec_steps": 1},
            prompt_token_ids=[5, 6],
        ),
        RecordOptions(),
    ),
}


def lines_of(read: Any) -> list[str]:
    """A line for each field that is not empty."""
    fields = {name: value for name, value in asdict(read).items() if value not in (None, (), [], "", 0.0, False)}
    return [f"{name}: {value!r}" for name, value in fields.items()]


def read_or_said(read: Any, *given: Any) -> object:
    try:
        found = read(*given)
    except InputError as error:
        return str(error)
    return found if isinstance(found, dict) else found and lines_of(found)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer(name: str, snapshot: SnapshotAssertion) -> None:
    assert lines_of(vllm.steps(*ANSWERS[name])) == snapshot


REFUSED: dict[str, list[Fields]] = {
    "no steps": answer(WORDS, steps={"num_spec_steps": 0}),
    "no lists": answer(WORDS, steps={"num_spec_steps": 2}),
    "no drafted": answer(WORDS, steps={"per_step_accepted": [1]}),
    "no metrics": answer(WORDS, steps={}),
    "lists of two lengths": answer(WORDS, steps=STEPS | {"per_step_drafted": [3]}),
    "no tokens": answer({"text": ""}),
    "no tokens with a text": answer({"text": "One"}, usage={"completion_tokens": 0}),
    "tokens without a text": answer({"text": ""}, usage={"completion_tokens": 5}),
    "another number of ids": answer(IDS, usage={"completion_tokens": 6}),
    "a day too far": answer(WORDS, created=10**12 + 1, usage={"completion_tokens": 5}),
    "a second answer": answer(WORDS | {"index": 1}),
    "steps without a draft": answer(WORDS, steps=STEPS | {"per_step_accepted": [1, 0]}, usage={"completion_tokens": 5}),
}


def test_an_answer_that_does_not_say_its_rounds_is_refused(snapshot: SnapshotAssertion) -> None:
    assert {name: read_or_said(vllm.steps, pieces, RecordOptions()) for name, pieces in REFUSED.items()} == snapshot


DRAFTS = "spec_decode_num_drafts_total 40\nspec_decode_num_draft_tokens_total 120\n"
ACCEPTED, PLACES = "spec_decode_num_accepted_tokens_total 57\n", "spec_decode_num_accepted_tokens_per_pos_total"
PAGES = {
    "all": f"vllm:{DRAFTS}{ACCEPTED}request_success_total 9\ngeneration_tokens_total 106\nnum_requests_running 3\n",
    "places": f'{DRAFTS}{PLACES}{{position="0"}} 30\n{PLACES}{{position="1"}} 20\n',
    "before the first draft": f'vllm:spec_decode_num_drafts_total 0\n{PLACES}{{position="0"}} 0\n',
    "another page": "generation_tokens_total 5\n",
}
LINE = "SpecDecodingmetrics:Meanacceptancelength:{},Accepted:{}tokens,Drafted:{}tokens,"
LOGS = {
    "the last line": [
        LINE.format("2.40", 14, 30),
        f"Running:4reqs,{LINE.format('2.43', 143, 300)}Per-positionacceptancerate:0.810,0.620,",
    ],
    "a quiet end": [LINE.format("1.50", 50, 300), LINE.format("nan", 0, 0)],
    "nothing accepted": [LINE.format("1.00", 0, 300)],
    "not a whole number": [LINE.format("1.50", 50, 333)],
    "more tokens than places": [f"{LINE.format('2.02', 5, 9)}Per-positionacceptancerate:0.810,"],
    "more requests than can be": [f"Running:{'9' * 400}reqs,{LINE.format('1.50', 50, 300)}"],
    "another log": ["Running:4reqs"],
}


def test_counters(snapshot: SnapshotAssertion) -> None:
    """Others, and what is refused: `test_serving_counters.py`."""
    pages = {
        name: read_or_said(vllm.counts_in_metrics, Metrics(page, [], vllm.METRICS)) for name, page in PAGES.items()
    }
    logs = {name: read_or_said(vllm.counts_in_log, log) for name, log in LOGS.items()}
    assert {"pages": pages, "logs": logs} == snapshot
    assert vllm.add_up_steps({"per_step_accepted": [1, 2]})["num_accepted_draft_tokens"] == 3, "and none drafted"
    assert len(vllm.add_up_steps({"per_step_accepted": [64]})["acceptance_histogram"]) == 65
    for too_long in ({"num_spec_tokens": 10**6}, {"per_step_drafted": [10**6]}, {"per_step_accepted": [10**6]}):
        with pytest.raises(InputError):
            vllm.add_up_steps({"per_step_accepted": [1]} | too_long)


def test_a_benchmark(snapshot: SnapshotAssertion) -> None:
    plain = {"model_id": "a/model", "date": "20261126-223900", "output_lens": [3], "ttfts": [0.25], "itls": [[0.5]]}
    drafts = {"spec_decode_num_drafts": 10, "spec_decode_draft_tokens": 40, "spec_decode_accepted_tokens": 25}
    files = [Fields("", plain), Fields("", plain | drafts | {"spec_decode_acceptance_length": 3.5, "completed": 1})]
    runs = vllm.bench(files)
    assert runs
    assert [lines_of(run) for run in runs] == snapshot
    assert vllm.bench([*files, Fields("", {"ttfts": [0.25]})]) is None
    assert vllm.bench([*files, Fields("", {"model_id": "a/model"})]) is None
