"""The benches that ship: true servers wrote our texts, and accepted what our decoder accepts."""

import pytest

from benchmarks.peers import DRAFT, TARGET, Pair
from specviz.core.files import MEASURED
from specviz.data.prompts.workloads import ALL_WORKLOADS
from specviz.measure.endpoints.result import Answer, BenchResult, read_result
from specviz.measure.sweep.plan import workload_prompts
from specviz.models.loading import load_model
from tests.servers.recording import prompt_ids

TEXTS = {prompt.name: prompt for prompt in workload_prompts(ALL_WORKLOADS, None)}
SOME = 6  # prompts: more take long


def recorded(name: str) -> BenchResult:
    return read_result((MEASURED / f"bench_{name}.json").read_bytes())


@pytest.fixture(scope="module")
def pair() -> Pair:
    return Pair(load_model(TARGET), load_model(DRAFT), 64, 4)


def alone(result: BenchResult) -> list[Answer]:
    first = [answer for answer in result.answers if answer.concurrency == 1 and answer.repeat == 0]
    assert len(first) == 2 * len(result.prompts)
    return [answer for answer in first if answer.side == "with"]


@pytest.mark.parametrize("name", ["vllm", "llama"])
def test_texts_and_accepted_guesses_of_the_recorded_servers_are_ours(name: str, pair: Pair) -> None:
    """vLLM also counts what the limit of tokens cuts off, so its counts are at least ours."""
    result = recorded(name)
    for answer in alone(result)[:: len(result.prompts) // SOME]:
        prompt = result.prompts[answer.prompt]
        assert TEXTS[prompt.name].text_hash == prompt.text_hash
        ids, _, rounds = pair.rounds(prompt_ids(TEXTS[prompt.name].text))
        assert answer.text == pair.target.tokenizer.decode(ids)
        drafted, accepted = (sum(column) for column in zip(*rounds, strict=True))
        counted = answer.accepted
        assert counted is not None
        if name == "vllm":
            assert counted.drafted == 4 * counted.rounds
            assert counted.rounds in (len(rounds) - 1, len(rounds))  # our last round may have no room for a draft
            assert accepted <= counted.accepted <= accepted + 4
        else:
            assert (counted.drafted, counted.accepted) == (drafted, accepted)


@pytest.mark.parametrize("name", ["vllm", "llama"])
def test_what_the_answers_say_is_what_the_servers_counted(name: str) -> None:
    result = recorded(name)
    assert not any(answer.problem for answer in result.answers)
    told = [answer.accepted for answer in result.answers if answer.side == "with"]
    counted = [span.accepted for span in result.spans if span.side == "with" and span.asked]
    assert all(told)
    assert all(counted)
    for figure in ("drafted", "accepted", "rounds"):
        assert sum(getattr(each, figure) for each in told) == sum(getattr(each, figure) for each in counted)
    assert sum(span.others for span in result.spans) == 0
