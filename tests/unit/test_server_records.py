"""What running servers answered is read right, by import, paste and `bench`: as the raw text says."""

import re
from contextlib import suppress

import pytest

from specviz.core.errors import InputError
from specviz.measure.endpoints.reading import BadAnswer, Lines
from specviz.measure.endpoints.result import Accepted, Answer
from specviz.systems import counts_between, counts_in_answer, read_counters
from tests.support import endpoint_checks as checks
from tests.support.endpoint_records import ENDPOINTS, Answered, asked_of
from tests.support.known import known

SERVERS = ("vllm-0.32", "llama.cpp-11434")
BATCHES = asked_of()
GOOD = {answer.file: answer for batches in BATCHES.values() for batch in batches for answer in batch.good}
DRAFTED = [name for name, answer in GOOD.items() if "plain" not in name and answer.rounds]
EVERY_BATCH = [(name, at) for name, batches in BATCHES.items() for at in range(len(batches))]
STREAMS = [name for name in GOOD if name.endswith(".sse") and "native" not in name]


def test_some_answers_have_a_place_for_each_round() -> None:
    assert any(checks.has_a_place_for_each_round(GOOD[name]) for name in DRAFTED)


@pytest.mark.parametrize("name", DRAFTED)
def test_an_answer_becomes_a_run_and_counters_with_the_servers_rounds(name: str) -> None:
    if checks.has_a_place_for_each_round(GOOD[name]):
        checks.check_run(GOOD[name])
    checks.check_pasted_answer(GOOD[name])


@pytest.mark.parametrize(("whole", "streamed"), [("whole.json", "greedy.sse"), ("whole-chat.json", "chat.sse")])
def test_an_answer_and_its_stream_are_the_same_run(whole: str, streamed: str) -> None:
    answer, stream = (GOOD[f"vllm-0.32-draft-{name}"] for name in (whole, streamed))
    assert checks.imported(answer).rounds == checks.imported(stream).rounds
    counters = read_counters(answer.content.decode())
    assert counters == read_counters(stream.content.decode())
    written = sum(each.accepted for each in checks.imported(stream).rounds)
    assert any(f"{written} of them were written" in note for note in counters.notes)


@pytest.mark.parametrize("name", ["vllm-0.32-ngram-greedy", "vllm-0.32-draft-ended", "llama.cpp-11434-ngram-greedy"])
def test_a_run_without_a_draft_is_said_to_be_one(name: str) -> None:
    with pytest.raises(InputError, match=r"^The record says that nothing was drafted"):
        checks.imported(GOOD[f"{name}.sse"])


def test_llama_cpp_counts_the_end_of_a_text_as_the_targets_own_token() -> None:
    """vLLM says of the same run that all four tokens were accepted, of which the third ended the text."""
    vllm, llama = (GOOD[f"{server}-draft-end.sse"] for server in SERVERS)
    assert (vllm.rounds, llama.rounds) == ([(4, 4), (4, 4)], [(4, 4), (4, 2)])
    assert vllm.text == llama.text
    notes = known(checks.imported(llama).imported).notes
    assert any("the end of a text as the target’s own token" in note for note in notes)
    # a seed that the server chose and does not say
    assert "seed" in known(checks.imported(GOOD["llama.cpp-11434-draft-native.sse"]).imported).unknown


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_without_speculation_has_no_counters(server: str) -> None:
    for batch in BATCHES[f"{server}-plain"]:
        for text in (batch.after, *(answer.content.decode() for answer in batch.answers)):
            with pytest.raises(InputError):
                read_counters(text)


@pytest.mark.parametrize("kind", ["draft", "ngram"])
def test_the_logs_of_the_servers(kind: str) -> None:
    vllm, llama = ((ENDPOINTS / f"{server}-{kind}.log").read_text() for server in SERVERS)
    checks.check_log_of_vllm(vllm)
    checks.check_log_of_llama_cpp(llama, [each for batch in BATCHES[f"{SERVERS[1]}-{kind}"] for each in batch.good])


def read(answer: Answered, end: int | None = None) -> Answer:
    """As `bench` reads it, of its first bytes."""
    most = answer.question["body"].get("max_tokens") or 512
    lines = Lines(most)
    for part in re.split(rb"(?<=\n\n)", answer.content[:end]):
        if part and lines.feed(part):
            break
    return lines.answer()


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_read_whole_and_never_taken_for_whole_where_it_is_cut(name: str) -> None:
    answer = GOOD[name]
    found = read(answer)
    usage = next(part["usage"] for part in reversed(answer.parts) if part.get("usage"))
    assert (found.text, found.tokens, found.token_ids) == (answer.text, answer.written, answer.ids)
    assert (found.prompt_tokens, found.finish in ("length", "stop")) == (usage["prompt_tokens"], True)
    assert not answer.ids or len(answer.ids) == answer.written == sum(found.part_tokens)
    counted = found.accepted
    if rounds := [] if "plain" in name else answer.rounds:
        steps = range(1, 1 + max(drafted for drafted, _ in rounds))
        positions = [sum(accepted >= place for _, accepted in rounds) for place in steps]
        assert counted == Accepted(*checks.totals(rounds), len(rounds), positions)
    else:
        assert counted is None or (counted.drafted, counted.accepted, counted.rounds) == (0, 0, 0)
    for end in range(0, len(answer.content) - 20, max(1, len(answer.content) // 12)):
        with suppress(BadAnswer):
            assert read(answer, end).text == answer.text


@pytest.mark.parametrize(("name", "at"), EVERY_BATCH)
def test_the_counters_of_two_pages_are_those_of_the_answers_between(name: str, at: int) -> None:
    batch = BATCHES[name][at]
    if "plain" not in name:
        checks.check_pages(batch)
    if all(answer.file in STREAMS for answer in batch.good):
        written, counts = counts_between(batch.before, batch.after)
        answers = [read(answer) for answer in batch.good]
        assert written == sum(answer.tokens or 0 for answer in answers)
        told = [answer.accepted for answer in answers if answer.accepted]
        for figure in ("drafted", "accepted", "rounds") if told and counts else ():
            assert getattr(counts, figure) == sum(getattr(each, figure) or 0 for each in told)
        assert told or not counts or counts.drafted == 0


def test_tensorrt_counts_tokens_by_position_between_two_readings() -> None:
    def page(rounds: int) -> str:
        return "".join(
            f'trtllm_spec_decode_{name}_tokens_total{{token_position="{place}"}} {count * rounds}\n'
            for name, counts in (("drafted", (1, 1)), ("accepted", (0.5, 0.25)))
            for place, count in enumerate(counts)
        )

    written, counts = counts_between(page(100), page(300))
    assert (written, Accepted.from_counts(counts)) == (None, Accepted(400, 150, 200, [100, 50]))
    assert counts_in_answer([{"timings": 3}, {"timings": ["draft_n"]}]) is None, "something else counts nothing"
    twice = {"timings": {"predicted_n": 64, "draft_n": 60, "draft_n_accepted": 28}}
    assert known(counts_in_answer([twice | {"__verbose": twice}])).drafted == 60


def test_a_server_that_was_started_anew_between_two_readings_is_said() -> None:
    later, earlier = (batch.before for batch in (BATCHES["vllm-0.32-draft"][2], BATCHES["vllm-0.32-draft"][0]))
    with pytest.raises(ValueError, match="is smaller in the second copy"):
        counts_between(later, earlier)
