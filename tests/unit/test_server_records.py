"""What running servers answered is read right: the right numbers are worked out here from the raw text."""

import re

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import Trace
from specviz.data.systems.importers import RecordOptions, import_run
from specviz.data.systems.serving_counters import ServingCounters, read_counters
from tests.support.endpoint_records import ENDPOINTS, Answered, Asked, Rounds, asked_of

BATCHES = asked_of()
ANSWERS = [answer for batches in BATCHES.values() for batch in batches for answer in batch.answers]
GOOD = {answer.file: answer for answer in ANSWERS if answer.question["status"] == 200}
DRAFTED = [name for name, answer in GOOD.items() if "plain" not in name and answer.rounds]
WITH_COUNTERS = [(name, number) for name, batches in BATCHES.items() for number in range(len(batches))]


def imported(answer: Answered) -> Trace:
    return import_run(answer.content, answer.system, RecordOptions())


def written_rounds(answer: Answered) -> Rounds:
    """The rounds with a draft, of which the last may have accepted more than there was room for."""
    rounds, room = [], answer.written - 1  # the pass over the prompt wrote one
    for drafted, accepted in answer.rounds:
        rounds.append((drafted, min(accepted, room)))
        room -= min(accepted + 1, room)
    return rounds


def test_the_records_hold_every_kind_of_answer() -> None:
    assert BATCHES.keys() == {
        f"{each}-{kind}" for each in ("vllm-0.32", "llama.cpp-11434") for kind in ("draft", "ngram", "plain")
    }
    assert len(DRAFTED) > 20
    assert all(answer.rounds == [] for name, answer in GOOD.items() if "plain" in name and answer.system != "vllm")
    assert {answer.question["status"] for answer in ANSWERS} == {200, 400, 404}
    for system in ("vllm-0.32", "llama.cpp-11434"):
        cut, end = (written_rounds(GOOD[f"{system}-draft-{name}.sse"]) for name in ("cut", "end"))
        assert (cut[:2], end[0]) == ([(4, 4), (4, 4)], (4, 4))
    assert GOOD["vllm-0.32-draft-end.sse"].ids[-1] == 0, "the end of the text is one of the tokens"


@pytest.mark.parametrize(
    "name", [name for name in DRAFTED if name.endswith(".sse") and not name.startswith("vllm-0.32-ngram-s")]
)
def test_a_stream_becomes_a_run_with_the_servers_rounds(name: str) -> None:
    answer = GOOD[name]
    trace = imported(answer)
    found = [(len(each.drafted), each.accepted) for each in trace.rounds if each.drafted]
    assert found == written_rounds(answer)
    assert sum(each.emits for each in trace.rounds) == answer.written
    assert trace.output.text == answer.text
    if answer.ids:
        assert trace.output.token_ids == answer.ids


@pytest.mark.parametrize("name", [name for name in DRAFTED if name.startswith("vllm-0.32-draft-whole")])
def test_an_answer_and_its_stream_are_the_same_run(name: str) -> None:
    streamed = GOOD[name.replace("whole-chat.json", "chat.sse").replace("whole.json", "greedy.sse")]
    assert imported(GOOD[name]).rounds == imported(streamed).rounds
    whole, stream = (read_counters(each.content.decode()) for each in (GOOD[name], streamed))
    assert whole == stream
    shown = sum(each.accepted for each in imported(streamed).rounds)
    assert any(f"{shown} of them were written" in note for note in whole.notes)


@pytest.mark.parametrize(
    "name", ["vllm-0.32-ngram-greedy.sse", "vllm-0.32-draft-ended.sse", "llama.cpp-11434-ngram-greedy.sse"]
)
def test_a_run_without_a_draft_is_said_to_be_one(name: str) -> None:
    with pytest.raises(InputError, match=r"^The record says that nothing was drafted"):
        imported(GOOD[name])


def test_llama_cpp_counts_the_end_of_a_text_as_the_targets_own_token() -> None:
    """vLLM says of the same run that all four tokens were accepted, of which the third ended the text."""
    vllm, llama = (GOOD[f"{name}-draft-end.sse"] for name in ("vllm-0.32", "llama.cpp-11434"))
    assert (vllm.rounds, llama.rounds) == ([(4, 4), (4, 4)], [(4, 4), (4, 2)])
    assert vllm.text == llama.text
    trace = imported(llama)
    assert trace.imported is not None
    assert any("the end of a text as the target’s own token" in note for note in trace.imported.notes)


@pytest.mark.parametrize("name", DRAFTED)
def test_the_counters_of_a_pasted_answer(name: str) -> None:
    answer = GOOD[name]
    read, rounds = read_counters(answer.content.decode()), answer.rounds
    drafted, counted = (sum(column) for column in zip(*rounds, strict=True))
    kept = min(counted, answer.written - 1 - len(rounds))  # each round's own token counts as written
    assert (read.drafted, read.written) == (drafted, answer.written)
    if answer.system == "vllm":
        at_limit = any(choice["finish_reason"] == "length" for part in answer.parts for choice in part["choices"])
        assert read.accepted == (counted if at_limit else kept)
        assert read.tokens_per_target_call == pytest.approx(1 + known(read.accepted) / len(rounds))
    else:
        passes = answer.written - 1 - counted
        assert (read.accepted, read.tokens_per_target_call) == (counted, pytest.approx((answer.written - 1) / passes))


def rounds_of(answer: Answered) -> Rounds:
    """Without a stream llama.cpp reports totals alone: the rounds are those of the same run in a stream."""
    if answer.system == "vllm" or answer.file.endswith(".sse"):
        return answer.rounds
    streamed = GOOD["llama.cpp-11434-draft-greedy.sse"].rounds
    assert answer.rounds == [tuple(map(sum, zip(*streamed, strict=True)))]
    return streamed


def known(value: float | None) -> float:
    assert value is not None
    return value


def of_batches(kind: str) -> list[tuple[str, int]]:
    return [(name, number) for name, number in WITH_COUNTERS if kind in name]


def pasted(batch: Asked) -> ServingCounters:
    return read_counters(f"{batch.before}\n{batch.after}")


@pytest.mark.parametrize(("name", "number"), [*of_batches("draft"), *of_batches("ngram")])
def test_the_counters_of_two_pages_are_those_of_the_answers_between(name: str, number: int) -> None:
    batch = BATCHES[name][number]
    good = [answer for answer in batch.answers if answer.question["status"] == 200]
    rounds = [each for answer in good for each in rounds_of(answer)]
    drafted, counted = (sum(column) for column in zip(*rounds, strict=True)) if rounds else (0, 0)
    assert (batch.grown("spec_decode_num_drafts_total"), batch.grown("spec_decode_num_draft_tokens_total")) == (
        len(rounds),
        drafted,
    )
    assert batch.grown("spec_decode_num_accepted_tokens_total") == counted
    if not rounds:
        with pytest.raises(InputError, match="nothing was drafted"):
            pasted(batch)
        return
    written = sum(answer.written for answer in good)
    kept = min(counted, written - len(good) - len(rounds))
    read = pasted(batch)
    assert (read.drafted, read.accepted, read.written) == (drafted, kept, written)
    assert read.tokens_per_target_call == pytest.approx(1 + kept / len(rounds))
    requests = (
        len(good) if batch.system == "vllm" else 0
    )  # llama.cpp does not count them: first tokens look like passes
    passes = written - requests - kept
    assert read.drafting_share == pytest.approx(len(rounds) / passes)


@pytest.mark.parametrize("name", ["vllm-0.32-plain", "llama.cpp-11434-plain"])
def test_a_server_without_speculation_has_no_counters(name: str) -> None:
    for batch in BATCHES[name]:
        for text in (batch.after, *(answer.content.decode() for answer in batch.answers)):
            with pytest.raises(InputError):
                read_counters(text)


def log_of(name: str) -> str:
    return (ENDPOINTS / f"{name}.log").read_text()


def test_the_log_of_vllm_is_read_from_its_last_line_that_counts() -> None:
    for name in ("vllm-0.32-draft", "vllm-0.32-ngram"):
        read = read_counters(log_of(name))
        last = log_of(name).split("SpecDecoding metrics:")[-1]
        drafted, accepted = (int(known_group(rf"{word}: (\d+) tokens", last)) for word in ("Drafted", "Accepted"))
        assert (read.drafted, read.accepted, read.draft_length) == (drafted, accepted, pytest.approx(4))


def known_group(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found
    return found[1]


def test_the_log_of_llama_cpp_is_read_with_the_requests_that_drafted_nothing() -> None:
    for name in ("llama.cpp-11434-draft", "llama.cpp-11434-ngram"):
        answers = [answer for batch in BATCHES[name] for answer in batch.answers if answer.question["status"] == 200]
        rounds = [each for answer in answers for each in rounds_of(answer)]
        drafted, accepted = (sum(column) for column in zip(*rounds, strict=True))
        written = sum(answer.written for answer in answers)
        read = read_counters(log_of(name))
        assert (read.drafted, read.accepted, read.written) == (drafted, accepted, written)
        passes = written - len(answers) - accepted if read.over_all_calls else len(rounds)
        assert read.tokens_per_target_call == pytest.approx(1 + accepted / passes, rel=0.002)
