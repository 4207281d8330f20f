"""The bundled models against transformers' own greedy decoding, id for id; nothing here depends on their weights."""

import json
from functools import cache

import pytest
import torch

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter, load_model
from specviz.core.metrics import count, first_difference
from specviz.core.trace import Trace, dump_trace, parse_trace
from specviz.data.workloads import WORKLOADS
from specviz.decoding import Drafter, autoregressive_decode, speculative_decode
from specviz.measure.compare import quality
from specviz.models.loaded_model import LoadedModel

TOKENS = 32
LENGTHS = (1, 4, 7, 16)
FIRST = [workload.prompts[0].text for workload in WORKLOADS]
PROMPTS = [*FIRST, *(workload.prompts[1].text for workload in WORKLOADS[:4])]
STORY = FIRST[0]


pytestmark = pytest.mark.usefixtures("one_thread")


@cache
def drafter(name: str) -> Drafter:
    return PromptLookupDrafter() if name == "prompt lookup" else ModelDrafter(load_model(name))


def greedy_of_transformers(target: LoadedModel, token_ids: list[int], tokens: int) -> list[int]:
    ids = torch.tensor([token_ids])
    written = target.model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False, use_cache=True
    )
    return list(written[0, len(token_ids) :].tolist())


def test_greedy_output_is_the_targets_own_over_workloads_draft_lengths_and_drafters(target: LoadedModel) -> None:
    """Twelve prompts, three drafters, two draft lengths each. One difference is allowed, between near-equal tokens."""
    ties: list[tuple[str, int, str, str]] = []
    for number, prompt in enumerate(PROMPTS):
        plain = autoregressive_decode(target, prompt, DecodeSettings(max_new_tokens=TOKENS))
        text = plain.prompt.token_ids
        expected = greedy_of_transformers(target, text, TOKENS)
        assert plain.output.token_ids == expected
        for name in ("wren-nano", "wren-mini", "prompt lookup"):
            for length in LENGTHS[number % 2 :: 2]:
                settings = DecodeSettings(max_new_tokens=TOKENS, draft_length=length)
                trace = speculative_decode(target, drafter(name), prompt, settings, record=False)
                at = first_difference(trace.output.token_ids, expected)
                if at is not None:
                    ties.append((name, length, prompt, quality(target, trace, plain)["explained"]))
    assert all(explained == "rounding" for *_, explained in ties), ties
    assert len(ties) <= 1, ties


def untimed(trace: Trace) -> dict[str, object]:
    """The trace file without its clocks and its date."""
    written = json.loads(dump_trace(trace))
    clocks = ("draft_seconds", "verify_seconds", "overhead_seconds")
    rounds = [{key: value for key, value in round.items() if key not in clocks} for round in written["rounds"]]
    stored = {
        key: value for key, value in written.items() if key not in ("created", "prefill_seconds", "autoregressive")
    }
    return stored | {"rounds": rounds}


@pytest.mark.parametrize("name", ["wren-nano", "prompt lookup"])
def test_sampling_with_the_same_seed_writes_the_same_trace(target: LoadedModel, name: str) -> None:
    def run(seed: int) -> Trace:
        settings = DecodeSettings(max_new_tokens=24, temperature=0.8, top_k=50, top_p=0.95, seed=seed)
        return speculative_decode(target, drafter(name), STORY, settings)

    one, same, other = run(7), run(7), run(8)
    assert untimed(one) == untimed(same)
    assert one.output.token_ids != other.output.token_ids


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_bfloat16_runs_write_valid_traces(temperature: float) -> None:
    halves = [load_model(name, "bfloat16") for name in ("wren-base", "wren-nano")]
    settings = DecodeSettings(max_new_tokens=24, temperature=temperature, stop_at_eos=False)
    trace = speculative_decode(halves[0], ModelDrafter(halves[1]), STORY, settings)
    assert parse_trace(dump_trace(trace)) == trace
    assert trace.drafter is not None
    assert (trace.target.dtype, trace.drafter.dtype) == ("bfloat16", "bfloat16")
    assert len(trace.output.token_ids) == 24
    assert count(trace.rounds).accepted > 0


def test_a_bfloat16_target_takes_a_float32_draft(target: LoadedModel) -> None:
    half = load_model("wren-base", "bfloat16")
    trace = speculative_decode(half, drafter("wren-nano"), STORY, DecodeSettings(max_new_tokens=16))
    assert trace.drafter is not None
    assert (trace.target.dtype, trace.drafter.dtype) == ("bfloat16", "float32")
    assert parse_trace(dump_trace(trace)) == trace


def test_every_emitted_token_is_the_targets_most_probable_one_when_greedy(target: LoadedModel) -> None:
    trace = speculative_decode(target, drafter("wren-nano"), STORY, DecodeSettings(max_new_tokens=24))
    assert count(trace.rounds).accepted
    assert count(trace.rounds).rejected
    for round in trace.rounds:
        for token in round.drafted:
            best = max(token.candidates, key=lambda candidate: candidate.p)
            if token.status == "accepted":
                assert best.id == token.id
            if token.status == "rejected":
                assert best.id == round.emitted.id != token.id


def test_end_of_text_ends_the_run_where_transformers_ends_it(target: LoadedModel) -> None:
    endings = ["The end.", "They lived happily ever after. The end.", "She hugged her mom and said thank you. The end."]
    settings = DecodeSettings(max_new_tokens=64)
    traces = [speculative_decode(target, drafter("wren-nano"), prompt, settings) for prompt in endings]
    ended = [trace for trace in traces if trace.output.stopped_by == "eos"]
    assert ended, "none of the endings ended"
    for trace in ended:
        written = trace.output.token_ids
        assert written == greedy_of_transformers(target, trace.prompt.token_ids, 64)
        assert [token in target.end_ids for token in written] == [False] * (len(written) - 1) + [True]
        assert "<|endoftext|>" not in trace.output.text
        assert parse_trace(dump_trace(trace)) == trace
    ignoring = DecodeSettings(max_new_tokens=64, stop_at_eos=False)
    goes_on = speculative_decode(target, drafter("wren-nano"), ended[0].prompt.text, ignoring)
    assert (len(goes_on.output.token_ids), goes_on.output.stopped_by) == (64, "length")


@pytest.mark.parametrize("name", ["wren-nano", "prompt lookup"])
def test_the_context_window_may_be_filled_to_its_last_token(target: LoadedModel, name: str) -> None:
    some = autoregressive_decode(target, STORY, DecodeSettings(max_new_tokens=1)).prompt.token_ids
    long = (some * 512)[: target.context - 12]
    settings = DecodeSettings(max_new_tokens=12, stop_at_eos=False)
    trace = speculative_decode(target, drafter(name), long, settings)
    assert trace.output.token_ids == autoregressive_decode(target, long, settings).output.token_ids
    assert len(long) + len(trace.output.token_ids) == target.context
    with pytest.raises(InputError, match=f"do not fit wren-base.s context window of {target.context} tokens"):
        speculative_decode(target, drafter(name), [*long, 5], settings)
