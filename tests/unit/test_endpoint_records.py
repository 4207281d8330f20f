"""True answers of vLLM 0.32 and llama.cpp 11434, read as `bench` reads them, against counts of the raw files."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from specviz.measure.endpoints.reading import BadAnswer, Lines, StreamedAnswer
from specviz.measure.endpoints.result import Accepted
from specviz.systems import counts_between, counts_in_answer

RECORDS = Path(__file__).parents[1] / "fixtures" / "records" / "endpoints"
STREAMS = sorted(path.name for path in RECORDS.glob("*.sse"))
SETUPS = {
    path.name: json.loads(path.read_text())
    for path in sorted(RECORDS.glob("*.json"))
    if '"batches"' in path.read_text()
}
BATCHES = [(name, number) for name, setup in SETUPS.items() for number in range(len(setup["batches"]))]


def question_of(stream: str) -> dict[str, Any]:
    questions = (each for setup in SETUPS.values() for batch in setup["batches"] for each in batch["questions"])
    return next(each for each in questions if each["file"] == stream)


def read(stream: str) -> StreamedAnswer:
    body = question_of(stream)["body"]
    asked = body.get("max_tokens") or body.get("n_predict") or 512
    lines = Lines(asked)
    for part in re.split(rb"(?<=\n\n)", (RECORDS / stream).read_bytes()):
        if part and lines.feed(part):
            break
    answer = StreamedAnswer(asked, 0.0)
    answer.read(lines.came)
    answer.check()
    return answer


def raw_pieces(stream: str) -> list[dict[str, Any]]:
    lines = (RECORDS / stream).read_text().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def raw_text(piece: dict[str, Any]) -> str:
    choice = next(iter(piece.get("choices", [])), {})
    return choice.get("text") or (choice.get("delta") or {}).get("content") or piece.get("content") or ""


OPENAI = [stream for stream in STREAMS if "native" not in stream]


def test_there_are_records_of_both_systems_with_and_without_speculation() -> None:
    for setup in (
        "vllm-0.32-draft",
        "vllm-0.32-ngram",
        "vllm-0.32-plain",
        "llama.cpp-11434-draft",
        "llama.cpp-11434-plain",
    ):
        assert any(stream.startswith(setup) for stream in OPENAI)


@pytest.mark.parametrize("stream", OPENAI)
def test_a_stream_is_read_whole(stream: str) -> None:
    answer, pieces = read(stream), raw_pieces(stream)
    assert answer.text == "".join(map(raw_text, pieces))
    usage = next(piece["usage"] for piece in reversed(pieces) if piece.get("usage"))
    assert (answer.tokens, answer.prompt_tokens) == (usage["completion_tokens"], usage["prompt_tokens"])
    assert answer.finish in ("length", "stop")
    ids = [i for piece in pieces for choice in piece.get("choices", []) for i in choice.get("token_ids") or []]
    assert answer.token_ids == ids
    if ids:
        assert len(ids) == answer.tokens
        assert sum(answer.part_tokens) == answer.tokens


@pytest.mark.parametrize("stream", OPENAI)
def test_what_was_accepted_is_what_the_server_says(stream: str) -> None:
    found, last = Accepted.from_counts(counts_in_answer(read(stream).pieces)), raw_pieces(stream)[-1]
    told = (last.get("metrics") or {}).get("speculative_decoding")
    timings = last.get("timings") or {}
    if told:
        assert (found.drafted, found.accepted) == (told["num_draft_tokens"], told["num_accepted_draft_tokens"])
        assert found.rounds == told["num_spec_steps"]
        steps = told.get("per_step_accepted") or []
        assert found.per_position == [
            sum(step >= place for step in steps) for place in range(1, len(told["acceptance_histogram"]))
        ]
    elif "draft_n" in timings:
        assert (found.drafted, found.accepted) == (timings["draft_n"], timings["draft_n_accepted"])
        grown = [(piece.get("timings") or {}).get("draft_n", 0) for piece in raw_pieces(stream)]
        assert found.rounds == len({count for count in grown if count})
    else:
        assert found is None


@pytest.mark.parametrize(("setup", "number"), BATCHES)
def test_the_counters_of_a_batch_are_those_of_its_answers(setup: str, number: int) -> None:
    """A server counts as many tokens as its answers have, and as many drafted and accepted ones."""
    batch = SETUPS[setup]["batches"][number]
    written, accepted = counts_between(*((RECORDS / batch[when]).read_text() for when in ("before", "after")))
    answered = [each for each in batch["questions"] if each["status"] == 200]
    if not all(each["file"] in OPENAI for each in answered):
        pytest.skip("answers that are no stream stand between these counters")
    answers = [read(each["file"]) for each in answered]
    assert written == sum(answer.tokens or 0 for answer in answers)
    told = [found for answer in answers if (found := counts_in_answer(answer.pieces))]
    if told and accepted:
        assert accepted.drafted == sum(each.drafted for each in told)
        assert accepted.accepted == sum(each.accepted for each in told)
        assert accepted.rounds == sum(each.rounds or 0 for each in told)
    elif accepted:
        assert accepted.drafted == 0


def test_tensorrt_counts_tokens_by_position_between_two_readings() -> None:
    def page(rounds: int) -> str:
        return "".join(
            f'trtllm_spec_decode_{name}_tokens_total{{token_position="{place}"}} {count * rounds}\n'
            for name, counts in (("drafted", (1, 1)), ("accepted", (0.5, 0.25)))
            for place, count in enumerate(counts)
        )

    written, counts = counts_between(page(100), page(300))
    assert written is None
    assert Accepted.from_counts(counts) == Accepted(400, 150, 200, [100, 50])


def test_an_answer_whose_timings_are_something_else_counts_nothing() -> None:
    assert counts_in_answer([{"timings": 3}, {"timings": ["draft_n"]}]) is None


def test_a_server_that_was_started_anew_between_two_readings_is_said() -> None:
    before = (RECORDS / "vllm-0.32-draft-metrics-2.txt").read_text()
    with pytest.raises(ValueError, match="is smaller in the second copy"):
        counts_between(before, (RECORDS / "vllm-0.32-draft-metrics-0.txt").read_text())


@pytest.mark.parametrize("stream", OPENAI)
def test_a_stream_that_is_cut_anywhere_is_never_taken_for_whole(stream: str) -> None:
    raw = (RECORDS / stream).read_bytes()
    whole = read(stream)
    for end in range(0, len(raw) - 20, max(1, len(raw) // 12)):
        lines = Lines(512)
        lines.feed(raw[:end])
        answer = StreamedAnswer(512, 0.0)
        try:
            answer.read(lines.came)
            answer.check()
        except BadAnswer:
            continue
        assert answer.text == whole.text
