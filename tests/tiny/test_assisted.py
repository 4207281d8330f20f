"""Assisted runs of transformers, recorded or written down: the same ids as without, and everything that happened."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import transformers
from transformers import StoppingCriteriaList

from specviz import DecodeSettings, InputError, ModelDrafter, Trace, record_assisted_generation, speculative_decode
from specviz.core.metrics import count
from specviz.core.trace import dump_trace, parse_trace
from specviz.player.data import stage_data
from specviz.systems import RecordOptions, import_run
from tests.support.known import known
from tests.support.tiny_models import tiny_model

PROMPT = [1, 2, 3, 1, 2]
TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
GREEDY: dict[str, Any] = {"do_sample": False, "max_new_tokens": 24}
SAMPLED: dict[str, Any] = {"do_sample": True, "temperature": 0.8, "top_k": 5, "top_p": 0.95, "max_new_tokens": 24}


@pytest.fixture(autouse=True)
def fixed_drafts() -> None:
    """Four tokens a round; transformers changes the assistant's own settings while it runs."""
    config = DRAFT.model.generation_config
    config.num_assistant_tokens, config.num_assistant_tokens_schedule = 4, "constant"
    config.assistant_confidence_threshold = 0.0


def generate(**options: Any) -> list[int]:
    """The new tokens of transformers' own loop."""
    torch.manual_seed(7)
    ids = torch.tensor([PROMPT])
    found = TARGET.model.generate(ids, attention_mask=torch.ones_like(ids), **options)
    return list(found[0, len(PROMPT) :].tolist())


def recorded(**options: Any) -> Trace:
    """The trace of that, after a check that recording changes nothing and that the trace can be saved and read."""
    alone = generate(**options)
    with record_assisted_generation(TARGET.model, TARGET.tokenizer) as recording:
        assert generate(**options) == alone
    trace = recording.trace
    assert trace.output.token_ids == alone
    assert parse_trace(dump_trace(trace)) == trace
    stage_data(trace, run_id="recorded", source="recorded", running=False)  # it can be shown
    return trace


def test_a_greedy_run_is_the_targets_own_and_its_rounds_are_those_of_our_loop() -> None:
    trace = recorded(assistant_model=DRAFT.model, **GREEDY)
    assert trace.output.token_ids == generate(**GREEDY), "id for id what the target writes alone"
    settings = DecodeSettings(max_new_tokens=24, draft_length=4)
    assert trace.settings == settings
    ours = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    assert len(trace.rounds) == len(ours.rounds)
    for theirs, own in zip(trace.rounds, ours.rounds, strict=True):
        assert (theirs.emitted.kind, theirs.emitted.id) == (own.emitted.kind, own.emitted.id)
        for one, other in zip(theirs.drafted, own.drafted, strict=True):
            assert (one.id, one.text, one.status) == (other.id, other.text, other.status)
            assert one.target_prob == pytest.approx(other.target_prob, abs=1e-5)
            assert one.draft_prob == pytest.approx(other.draft_prob, abs=1e-5)
            assert (one.accept_prob, one.u) == (other.accept_prob, None)
            assert {each.id for each in one.candidates} == {each.id for each in other.candidates}
    counts = count(trace.rounds)
    assert counts.accepted > 0
    assert counts.rejected > 0
    assert all(round.draft_seconds > 0 for round in trace.rounds if round.drafted)
    assert all(round.verify_seconds > 0 and round.overhead_seconds >= 0 for round in trace.rounds)
    assert (trace.prefill_seconds.target, trace.prefill_seconds.draft, trace.autoregressive) == (None, None, None)
    assert (trace.drafter.kind, trace.drafter.name) == ("model", "LlamaForCausalLM")
    assert (trace.target.parameters, trace.target.dtype) == (TARGET.model.num_parameters(), "float32")
    assert trace.target.forward == trace.drafter.forward == "transformers"
    assert (trace.imported.system, trace.imported.unknown) == (f"transformers {transformers.__version__}", [])
    assert (trace.prompt.token_ids, trace.prompt.tokens) == (PROMPT, ["w1", "w2", "w3", "w1", "w2"])


def test_a_sampled_run_draws_the_same_tokens_and_has_p_q_and_acceptance() -> None:
    trace = recorded(assistant_model=DRAFT.model, **SAMPLED)
    settings = trace.settings
    assert trace.imported.unknown == ["seed"]
    assert (settings.temperature, settings.top_k, settings.top_p) == (0.8, 5, 0.95)
    for round in trace.rounds:
        for token in round.drafted:
            assert token.u is None, "transformers does not report what it drew"
            chance = min(1, known(token.target_prob) / known(token.draft_prob))
            assert token.accept_prob == (None if token.status == "discarded" else pytest.approx(chance, abs=1e-5))
        if round.emitted.kind == "correction":
            [rejected] = [token for token in round.drafted if token.status == "rejected"]
            assert rejected.id != round.emitted.id
            assert sum(each.r for each in round.emitted.residual_top) == pytest.approx(1, abs=0.2)
    assert {round.emitted.kind for round in trace.rounds} == {"correction", "bonus"}


def test_prompt_lookup_is_recorded_too() -> None:
    trace = recorded(prompt_lookup_num_tokens=3, max_matching_ngram_size=2, **GREEDY)
    assert trace.output.token_ids == generate(**GREEDY)
    assert (trace.drafter.kind, trace.drafter.name) == ("prompt-lookup", "prompt lookup, n-grams up to 2")
    assert (trace.drafter.parameters, trace.settings.draft_length) == (None, 3)
    assert {token.draft_prob for round in trace.rounds for token in round.drafted} == {1.0}
    sampled = recorded(prompt_lookup_num_tokens=3, **SAMPLED)
    judged = [token for round in sampled.rounds for token in round.drafted if token.status != "discarded"]
    assert judged
    assert all(token.accept_prob == pytest.approx(token.target_prob) for token in judged)


@pytest.mark.parametrize("position", [0, 3, 6])
def test_an_end_of_text_ends_the_run_wherever_it_stands_in_a_round(position: int) -> None:
    end = generate(**GREEDY)[position]
    trace = recorded(assistant_model=DRAFT.model, eos_token_id=end, pad_token_id=0, **GREEDY)
    written = trace.output.token_ids
    assert (written[-1], written.count(end), trace.output.stopped_by) == (end, 1, "eos")
    assert trace.settings.max_new_tokens == 24
    last = trace.rounds[-1]
    if last.emitted.kind == "none":
        assert [token.id for token in last.drafted if token.status == "accepted"][-1] == end


def test_a_run_that_a_criterion_of_the_call_stops_says_so() -> None:
    stop = StoppingCriteriaList([lambda ids, *_, **__: torch.tensor([ids.shape[1] >= len(PROMPT) + 6])])
    trace = recorded(assistant_model=DRAFT.model, stopping_criteria=stop, **GREEDY)
    assert 6 <= len(trace.output.token_ids) < 24
    assert trace.output.stopped_by == "other"


def test_every_call_of_generate_is_a_trace_and_plain_ones_are_none() -> None:
    with record_assisted_generation(TARGET.model, TARGET.tokenizer) as recording:
        for length in (5, 9):
            generate(assistant_model=DRAFT.model, do_sample=False, max_new_tokens=length)
            generate(**GREEDY)
    assert [len(trace.output.token_ids) for trace in recording.traces] == [5, 9]
    assert recording.trace == recording.traces[-1]
    with record_assisted_generation(TARGET.model, TARGET.tokenizer) as nothing:
        generate(**GREEDY)
    with pytest.raises(InputError, match="Nothing was recorded"):
        _ = nothing.trace
    with pytest.raises(InputError, match="Linear has no _get_candidate_generator"):
        record_assisted_generation(torch.nn.Linear(1, 1), TARGET.tokenizer).__enter__()


def test_nothing_is_left_behind_even_after_an_error_and_one_recording_inside_another_ends_alone() -> None:
    model, forward = TARGET.model, TARGET.model.forward

    def listened_to() -> tuple[bool, int, int]:
        return "_get_candidate_generator" in vars(model), len(model._forward_hooks), len(model._forward_pre_hooks)

    with suppress(ZeroDivisionError), record_assisted_generation(TARGET.model, TARGET.tokenizer) as outer:
        with record_assisted_generation(TARGET.model, TARGET.tokenizer) as inner:
            generate(assistant_model=DRAFT.model, **GREEDY)
        assert listened_to() == (True, 1, 1)
        assert TARGET.model.forward == forward, "forward is not replaced"
        generate(assistant_model=DRAFT.model, **GREEDY)
        raise ZeroDivisionError
    assert (len(inner.traces), len(outer.traces)) == (1, 2)
    assert listened_to() == (False, 0, 0)


DOCUMENT = Path(__file__).parents[2] / "docs/traces.md"


@pytest.mark.parametrize("lookup", [False, True], ids=["assistant model", "prompt lookup"])
def test_the_documents_lines_record_what_generate_writes(tmp_path: Path, lookup: bool) -> None:
    target, draft = tiny_model(1, vocabulary=12).model, tiny_model(2, vocabulary=12).model
    [lines] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(lines, names)  # our own document
    path, ids = tmp_path / "rounds.jsonl", torch.tensor([PROMPT])
    names["write_rounds"](target, path, transformers="5.23.0", do_sample=False, max_new_tokens=20)
    options: dict[str, Any] = {"prompt_lookup_num_tokens": 3} if lookup else {"assistant_model": draft}
    options |= {"attention_mask": torch.ones_like(ids), "do_sample": False, "max_new_tokens": 20, "pad_token_id": 0}
    written = target.generate(ids, **options)[0, len(PROMPT) :].tolist()
    trace = import_run(
        path.read_bytes(),
        "transformers",
        RecordOptions(tokenizer=Mock(texts=lambda ids: [f" {token}" for token in ids])),
    )
    assert trace.output.token_ids == written
    assert trace.prompt.token_ids == PROMPT
    assert trace.output.stopped_by == "length"
    assert sum(len(round.drafted) for round in trace.rounds) > 0
    assert all(token.id is not None for round in trace.rounds for token in round.drafted)
