"""The comparison with other systems: what their answers say, and how it is summed up."""

import json

import httpx2
import pytest
from torch import tensor

from benchmarks.peers import Answer, Clock, agreement, ask_llama, figures, same_rounds


def answer(seconds: float, *ids: int, counts: tuple[int, int] | None = None) -> Answer:
    return Answer(list(ids), seconds, counts)


PROMPTS = [
    {"ours plain": answer(6.0, 1, 2), "ours speculative": answer(3.0, 1, 2, counts=(4, 2))},
    {"ours plain": answer(8.0, 1, 2), "ours speculative": answer(5.0, 1, 3, counts=(8, 2))},
    {"ours plain": answer(9.0, 1, 2), "ours speculative": answer(9.0, 1, 2, counts=(8, 0))},
]


def test_times_are_of_a_token_after_the_first_and_the_gain_is_of_each_prompt():
    ours = figures(PROMPTS, tokens=3)["ours"]

    assert (ours["plain_ms"], ours["speculative_ms"]) == (4000.0, 2500.0)
    assert ours["gain"] == 1.474, "the geometric mean of 2, 1.6 and 1"
    assert ours["interval"][0] < ours["gain"] < ours["interval"][1]


def test_a_system_that_was_not_measured_has_no_row():
    assert list(figures(PROMPTS, tokens=3)) == ["ours"]


def test_texts_and_counts_that_differ_are_counted():
    other = answer(1.0, 1, 2, counts=(4, 2))
    found = agreement([turn | {"llama.cpp speculative": other} for turn in PROMPTS])

    assert found["ours speculative"] == {"prompts": 3, "same_text": 2, "same_as_plain": 2, "same_counts": 3}
    assert found["llama.cpp speculative"] == {"prompts": 3, "same_text": 3, "same_counts": 1}
    assert found["ours plain"] == {"prompts": 3, "same_text": 3, "same_as_plain": 3}


def test_the_clock_starts_with_the_first_token(monkeypatch: pytest.MonkeyPatch):
    times = iter([0.0, 10.0, 12.0, 16.0])  # the prompt; two tokens with the first pass; then three, then two
    monkeypatch.setattr("benchmarks.peers.time.perf_counter", lambda: next(times))
    clock = Clock()
    for handed in (9, 2, 3, 2):
        clock.put(tensor([0] * handed))

    assert clock.seconds_after_the_first(7) == pytest.approx(6.0 * 6 / 5)


@pytest.mark.parametrize(
    ("drafted", "counts"), [({}, None), ({"draft_n": 8, "draft_n_accepted": 3}, (8, 3))], ids=["plain", "speculative"]
)
def test_an_answer_of_llama_cpp_is_read(drafted: dict[str, int], counts: tuple[int, int] | None):
    def respond(request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(request.content)
        assert (asked["prompt"], asked["n_predict"], asked["cache_prompt"]) == ([5, 6], 3, False)
        return httpx2.Response(200, json={"tokens": [1, 2, 3], "timings": {"predicted_ms": 12.5} | drafted})

    with httpx2.Client(base_url="http://peer", transport=httpx2.MockTransport(respond)) as client:
        assert ask_llama(client, 3, [5, 6]) == Answer([1, 2, 3], 0.0125, counts)


def test_rounds_are_the_same_up_to_the_last_token_where_ours_are_shorter():
    ours = [(4, 4), (4, 1), (2, 2)]

    assert same_rounds([(4, 4), (4, 1), (4, 3)], ours, draft_length=4), "vLLM drafts over the limit"
    assert not same_rounds([(4, 4), (4, 2), (4, 3)], ours, draft_length=4)
    assert not same_rounds([(4, 4)], ours, draft_length=4)
