"""The rounds of an answer of vLLM, as it gives its texts and ids. Its counters: `test_serving_counters.py`."""

from dataclasses import asdict
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.systems import RecordOptions, vllm
from specviz.systems.fields import Fields
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


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer(name: str, snapshot: SnapshotAssertion) -> None:
    assert lines_of(vllm.steps(*ANSWERS[name])) == snapshot


REFUSED: dict[str, list[Fields]] = {
    "no steps": answer(WORDS, steps={"num_spec_steps": 0}),
    "no drafted": answer(WORDS, steps={"per_step_accepted": [1]}),
    "tokens without a text": answer({"text": ""}, usage={"completion_tokens": 5}),
    "a day too far": answer(WORDS, created=10**12 + 1, usage={"completion_tokens": 5}),
}


def test_an_answer_that_does_not_say_its_rounds_is_refused(snapshot: SnapshotAssertion) -> None:
    said = {}
    for name, pieces in REFUSED.items():
        with pytest.raises(InputError) as refused:
            vllm.steps(pieces, RecordOptions())
        said[name] = str(refused.value)
    assert said == snapshot


def test_a_benchmark_has_counts_where_something_was_drafted() -> None:
    """Its figures: `test_bench_importers.py`."""
    plain = {"model_id": "a/model", "output_lens": [3], "ttfts": [0.25], "itls": [[0.5]]}
    drafts = {"spec_decode_num_drafts": 10, "spec_decode_draft_tokens": 40, "spec_decode_accepted_tokens": 25}
    files = [Fields("", plain), Fields("", plain | drafts)]
    assert [run.counts and run.counts.drafted for run in vllm.bench(files) or []] == [None, 40]
    assert vllm.bench([*files, Fields("", {"ttfts": [0.25]})]) is None
    assert vllm.bench([*files, Fields("", {"model_id": "a/model"})]) is None
