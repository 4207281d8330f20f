"""The benches that ship: true servers wrote our texts, and accepted what our decoder accepts."""

import pytest

from benchmarks.peers import DRAFT, TARGET, Pair
from specviz.core.files import MEASURED
from specviz.data.prompts.workloads import ALL_WORKLOADS
from specviz.measure.endpoints.result import read_result
from specviz.measure.sweep.plan import workload_prompts
from specviz.models.loading import load_model
from tests.servers.recording import prompt_ids
from tests.support.known import known

TEXTS = {prompt.name: prompt for prompt in workload_prompts(ALL_WORKLOADS, None)}
SOME = 6  # prompts: more take long


@pytest.fixture(scope="module")
def pair() -> Pair:
    return Pair(load_model(TARGET), load_model(DRAFT), 64, 4)


@pytest.mark.parametrize("name", ["vllm", "llama"])
def test_texts_and_accepted_guesses_of_the_recorded_servers_are_ours_and_their_counters_say_the_same(
    name: str, pair: Pair
) -> None:
    """vLLM also counts what the limit of tokens cuts off, so its counts are at least ours."""
    result = read_result((MEASURED / f"bench_{name}.json").read_bytes())
    drafting = [answer for answer in result.answers if answer.side == "with"]
    alone = [answer for answer in drafting if answer.concurrency == 1 and answer.repeat == 0]
    assert len(alone) == len(result.prompts)
    for answer in alone[:: len(result.prompts) // SOME]:
        prompt, counted = result.prompts[answer.prompt], known(answer.accepted)
        assert TEXTS[prompt.name].text_hash == prompt.text_hash
        ids, _, rounds = pair.rounds(prompt_ids(TEXTS[prompt.name].text))
        assert answer.text == pair.target.tokenizer.decode(ids)
        drafted, accepted = (sum(column) for column in zip(*rounds, strict=True))
        if name == "vllm":
            assert counted.drafted == 4 * known(counted.rounds)
            assert counted.rounds in (len(rounds) - 1, len(rounds))  # our last round may have no room for a draft
            assert accepted <= counted.accepted <= accepted + 4
        else:
            assert (counted.drafted, counted.accepted) == (drafted, accepted)
    assert not any(answer.problem for answer in result.answers)
    spans = [span for span in result.spans if span.side == "with" and span.asked]
    for figure in ("drafted", "accepted", "rounds"):
        told, counts = (sum(getattr(each.accepted, figure) for each in its) for its in (drafting, spans))
        assert told == counts > 0
    assert sum(span.others for span in result.spans) == 0
