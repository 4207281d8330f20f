"""What running servers answered is read right: as the raw text says."""

import pytest

from specviz.core.errors import InputError
from specviz.systems import read_counters
from tests.support.endpoint_checks import (
    check_log_of_llama_cpp,
    check_log_of_vllm,
    check_pages,
    check_pasted_answer,
    check_run,
    has_a_place_for_each_round,
    imported,
)
from tests.support.endpoint_records import ENDPOINTS, asked_of
from tests.support.known import known

SERVERS = ("vllm-0.32", "llama.cpp-11434")
BATCHES = asked_of()
GOOD = {answer.file: answer for batches in BATCHES.values() for batch in batches for answer in batch.good}
DRAFTED = [name for name, answer in GOOD.items() if "plain" not in name and answer.rounds]
WITH_ROUNDS = [name for name in DRAFTED if has_a_place_for_each_round(GOOD[name])]
SPECULATIVE = [(name, at) for name, batches in BATCHES.items() if "plain" not in name for at in range(len(batches))]


@pytest.mark.parametrize("name", WITH_ROUNDS)
def test_an_answer_becomes_a_run_with_the_servers_rounds(name: str) -> None:
    check_run(GOOD[name])


@pytest.mark.parametrize(("whole", "streamed"), [("whole.json", "greedy.sse"), ("whole-chat.json", "chat.sse")])
def test_an_answer_and_its_stream_are_the_same_run(whole: str, streamed: str) -> None:
    answer, stream = (GOOD[f"vllm-0.32-draft-{name}"] for name in (whole, streamed))
    assert imported(answer).rounds == imported(stream).rounds
    counters = read_counters(answer.content.decode())
    assert counters == read_counters(stream.content.decode())
    written = sum(each.accepted for each in imported(stream).rounds)
    assert any(f"{written} of them were written" in note for note in counters.notes)


@pytest.mark.parametrize("name", ["vllm-0.32-ngram-greedy", "vllm-0.32-draft-ended", "llama.cpp-11434-ngram-greedy"])
def test_a_run_without_a_draft_is_said_to_be_one(name: str) -> None:
    with pytest.raises(InputError, match=r"^The record says that nothing was drafted"):
        imported(GOOD[f"{name}.sse"])


def test_llama_cpp_counts_the_end_of_a_text_as_the_targets_own_token() -> None:
    """vLLM says of the same run that all four tokens were accepted, of which the third ended the text."""
    vllm, llama = (GOOD[f"{server}-draft-end.sse"] for server in SERVERS)
    assert (vllm.rounds, llama.rounds) == ([(4, 4), (4, 4)], [(4, 4), (4, 2)])
    assert vllm.text == llama.text
    notes = known(imported(llama).imported).notes
    assert any("the end of a text as the target’s own token" in note for note in notes)


@pytest.mark.parametrize("name", DRAFTED)
def test_the_counters_of_a_pasted_answer(name: str) -> None:
    check_pasted_answer(GOOD[name])


@pytest.mark.parametrize(("name", "at"), SPECULATIVE)
def test_the_counters_of_two_pages_are_those_of_the_answers_between(name: str, at: int) -> None:
    check_pages(BATCHES[name][at])


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_without_speculation_has_no_counters(server: str) -> None:
    for batch in BATCHES[f"{server}-plain"]:
        for text in (batch.after, *(answer.content.decode() for answer in batch.answers)):
            with pytest.raises(InputError):
                read_counters(text)


@pytest.mark.parametrize("kind", ["draft", "ngram"])
def test_the_logs_of_the_servers(kind: str) -> None:
    vllm, llama = (f"{server}-{kind}" for server in SERVERS)
    check_log_of_vllm((ENDPOINTS / f"{vllm}.log").read_text())
    check_log_of_llama_cpp(
        (ENDPOINTS / f"{llama}.log").read_text(), [each for batch in BATCHES[llama] for each in batch.good]
    )
