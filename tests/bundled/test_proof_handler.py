"""The proof's engine tasks: batches that go on after a break, greedy rows, near-ties; on the bundled models."""

from collections.abc import Iterator

import pytest
import torch
from pydantic import TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.measure.proof.recorded import PATH, dump_proof, recorded_proof
from specviz.measure.proof.rows import BATCHES, DrawBatch, GreedyRow
from specviz.measure.proof.rule_names import RULES
from specviz.measure.proof.statistics import finding, looks
from specviz.models.catalogue import bundled_names
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from specviz.service.handlers.proof import greedy_steps, prove_steps
from specviz.service.protocol import CompareGreedy, Finished, Prove, Results, Started, dump_command, parse_command

SAMPLING = RunRequest("The cat sat on the", settings=DecodeSettings(temperature=1.0, draft_length=2))
ROWS, BATCH = TypeAdapter(list[GreedyRow]), TypeAdapter(list[DrawBatch])


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    return load_model("wren-base")


@pytest.fixture(scope="module")
def draft() -> LoadedModel:
    return load_model("wren-nano")


def proved(command: Prove, target: LoadedModel, draft: LoadedModel) -> list[DrawBatch]:
    events = [event for event in prove_steps(command, target, draft) if event]
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    results = [event for event in events if isinstance(event, Results)]
    assert {event.total for event in results} == {BATCHES}
    return BATCH.validate_python([item for event in results for item in event.items])


def test_commands_travel_and_trust_nothing() -> None:
    prove = Prove(3, SAMPLING, "lossless", "after", 500, done=4)
    compare = CompareGreedy(4, SAMPLING, ["story-1"], half=True)
    assert parse_command(dump_command(prove)) == prove
    assert parse_command(dump_command(compare)) == compare
    for wrong in (b'"draws":5', b'"draws":9999999'):
        with pytest.raises(ValidationError):
            parse_command(dump_command(prove).replace(b'"draws":500', wrong))
    with pytest.raises(ValidationError):
        parse_command(dump_command(prove).replace(b'"lossless"', b'"anything"'))


def test_a_proof_that_gave_way_ends_as_it_would_have(target: LoadedModel, draft: LoadedModel) -> None:
    whole = proved(Prove(1, SAMPLING, "lossless", "first", 50), target, draft)
    rest = proved(Prove(1, SAMPLING, "lossless", "first", 50, done=8), target, draft)
    assert len(whole) == BATCHES
    assert [batch.draws for batch in whole] == [5] * BATCHES
    assert [(b.speculative, b.plain) for b in rest] == [(b.speculative, b.plain) for b in whole[8:]]


def test_greedy_rows_come_prompt_by_prompt_and_go_on_after_a_break(target: LoadedModel, draft: LoadedModel) -> None:
    request = RunRequest("The cat sat", settings=DecodeSettings(max_new_tokens=12))
    events = [e for e in greedy_steps(CompareGreedy(1, request, ["story-1", "copy-2"], done=1), target, draft) if e]
    (row,) = ROWS.validate_python([item for e in events if isinstance(e, Results) for item in e.items])
    assert row.preset == "copy-2"
    assert row.same == row.tokens == 12
    assert row.identical
    own = [e for e in greedy_steps(CompareGreedy(1, request, []), target, draft) if isinstance(e, Results)]
    (row,) = ROWS.validate_python([item for e in own for item in e.items])
    assert (row.preset, row.prompt) == ("", "The cat sat")


def test_bad_requests_get_a_sentence(target: LoadedModel, draft: LoadedModel) -> None:
    with pytest.raises(InputError, match="not among those"):
        list(greedy_steps(CompareGreedy(1, SAMPLING, ["nothing-7"]), target, draft))
    hub = RunRequest("Hello", target="gpt2")
    with pytest.raises(InputError, match="bundled models only"):
        list(greedy_steps(CompareGreedy(1, hub, [], half=True), target, draft))
    with pytest.raises(InputError, match="temperature above 0"):
        list(prove_steps(Prove(1, RunRequest("Hello"), "lossless", "first", 50), target, draft))


# ---- what was recorded


def test_the_recorded_proof_holds_every_rule_and_comes_out_as_it_should() -> None:
    proof = recorded_proof()
    assert proof is not None
    assert [draws.rule for draws in proof.draws] == [rule.name for rule in RULES]
    for rule, draws in zip(RULES, proof.draws, strict=True):
        assert finding(looks(draws.batches)).state == ("passes" if rule.lossless else "fails"), rule.name
    assert set(proof.weights) <= set(bundled_names())
    assert PATH.read_bytes() == dump_proof(proof)


def test_the_recorded_near_tie_is_one() -> None:
    """Rounding parted the two: the scores are within two steps of bfloat16 there, and nearer yet in float32."""
    proof = recorded_proof()
    assert proof is not None
    tie = proof.near_tie.near_tie
    assert tie is not None
    assert proof.near_tie.dtype == "bfloat16"
    one, batched, exact = tie.ways
    assert [way.way for way in tie.ways] == ["one token", "batched", "float32"]
    assert one.gap >= 0 >= batched.gap  # each pass took its own likeliest
    assert one.gap - batched.gap > 0
    assert max(abs(one.gap), abs(batched.gap), abs(exact.gap)) <= 2 * 2**-7 * abs(one.plain)
    assert 2 <= tie.batch <= proof.near_tie.draft_length + 1


def test_the_near_tie_is_found_again_where_the_weights_are_those_recorded(
    target: LoadedModel, draft: LoadedModel
) -> None:
    proof = recorded_proof()
    assert proof is not None
    if proof.changed_weights:
        pytest.skip("recorded with other weights: run python -m scripts.record_proof")
    row = proof.near_tie
    request = RunRequest(row.prompt, settings=DecodeSettings(draft_length=row.draft_length))
    events = greedy_steps(CompareGreedy(1, request, [row.preset], half=True), target, draft)
    (again,) = ROWS.validate_python([item for e in events if isinstance(e, Results) for item in e.items])
    assert again.dtype == "bfloat16"
    assert again.near_tie is not None or again.identical  # another processor may round otherwise
