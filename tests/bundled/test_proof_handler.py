"""The engine's work for the proof: batches that continue after a break, greedy rows, nearly equal tokens."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.measure.proof.findings import finding
from specviz.measure.proof.rows import BATCHES, PATH, RULES, GreedyRow, dump_proof, recorded_proof
from specviz.models.catalogue import bundled_names
from specviz.models.loading import load_model
from specviz.service import protocol as wire
from specviz.service.handlers.long import compare_greedy_steps, enumerate_rules_steps, prove_steps
from specviz.service.workshop import Workshop
from tests.support.fake_workshop import workshop_with
from tests.support.known import known

SAMPLING = RunRequest("The cat sat on the", settings=DecodeSettings(temperature=1.0, draft_length=2))


@pytest.fixture(scope="module")
def workshop() -> Workshop:
    return workshop_with(load_model("wren-base"), load_model("wren-nano"))


def found(steps: wire.JobSteps) -> list[Any]:
    """The results as the server has them: after their way through the pipe."""
    events = [wire.parse_event(wire.dump_event(event)) for event in steps if event]
    assert isinstance(events[0], wire.RunStarted)
    return [event.item for event in events if isinstance(event, wire.JobItem)]


def compared(workshop: Workshop, request: RunRequest, presets: list[str], **more: Any) -> list[GreedyRow]:
    return found(compare_greedy_steps(wire.CompareGreedy(1, request, presets, **more), workshop))


def test_commands_travel_and_trust_nothing() -> None:
    prove = wire.Prove(3, SAMPLING, "lossless", "after", 500, done=4)
    compare = wire.CompareGreedy(4, SAMPLING, ["story-1"], half=True)
    assert wire.parse_command(wire.dump_command(prove)) == prove
    assert wire.parse_command(wire.dump_command(compare)) == compare
    right = wire.dump_command(prove)
    for old, wrong in ((b":500", b":5"), (b":500", b":9999999"), (b'"lossless"', b'"anything"')):
        with pytest.raises(ValidationError):
            wire.parse_command(right.replace(old, wrong))


def test_a_proof_that_gave_way_ends_as_it_would_have(workshop: Workshop) -> None:
    command = wire.Prove(1, SAMPLING, "lossless", "first", 50)
    whole, rest = (found(prove_steps(replace(command, done=done), workshop)) for done in (0, 8))
    assert [batch.draws for batch in whole] == [5] * BATCHES
    assert [(b.speculative, b.plain) for b in rest] == [(b.speculative, b.plain) for b in whole[8:]]


def test_greedy_rows_come_prompt_by_prompt_and_go_on_after_a_break(workshop: Workshop) -> None:
    request = RunRequest("The cat sat", settings=DecodeSettings(max_new_tokens=12))
    (row,) = compared(workshop, request, ["story-1", "copy-2"], done=1)
    assert (row.preset, row.same, row.tokens, row.identical) == ("copy-2", 12, 12, True)
    (row,) = compared(workshop, request, [])
    assert (row.preset, row.prompt) == ("", "The cat sat")


def test_a_cache_that_forgets_one_row_fails_and_the_real_one_does_not(workshop: Workshop) -> None:
    request = RunRequest("", settings=DecodeSettings(max_new_tokens=32))
    (broken,) = compared(workshop, request, ["story-1"], forgets=True)
    judged = known(broken.judged)
    assert judged.state == "fails"
    assert judged.sentence.startswith("FAILS: this difference is larger than rounding explains")
    assert known(broken.near_tie).ways[2].gap > 0, "in float32 the plain token leads: it is the right one"
    (real,) = compared(workshop, request, ["story-1"])
    assert real.identical


def test_bad_requests_get_a_sentence(workshop: Workshop) -> None:
    with pytest.raises(InputError, match="not among those"):
        compared(workshop, SAMPLING, ["nothing-7"])
    with pytest.raises(InputError, match="bundled models only"):
        compared(workshop, RunRequest("Hello", target="gpt2"), [], half=True)


def test_the_recorded_proof_holds_every_rule_and_comes_out_as_it_should() -> None:
    proof = known(recorded_proof())
    assert [draws.rule for draws in proof.draws] == [rule.name for rule in RULES]
    for rule, draws in zip(RULES, proof.draws, strict=True):
        assert finding(draws.batches).state == ("passes" if rule.lossless else "fails"), rule.name
    assert set(proof.weights) <= set(bundled_names())
    assert PATH.read_bytes() == dump_proof(proof)
    # rounding parted the two: the scores are within two steps of bfloat16 there, and nearer yet in float32
    tie, forgotten = known(proof.near_tie.near_tie), known(proof.forgotten_row)
    assert [way.way for way in tie.ways] == ["one token", "batched", "float32"]
    one, batched, exact = tie.ways
    assert one.gap >= 0 >= batched.gap != one.gap  # each pass took its own most probable token
    assert max(abs(one.gap), abs(batched.gap), abs(exact.gap)) <= 2 * 2**-7 * abs(one.plain)
    assert 2 <= tie.batch <= proof.near_tie.draft_length + 1
    assert [row.judged.state for row in (forgotten, proof.near_tie) if row.judged] == ["fails", "rounding"]
    assert all(row.identical for row in proof.greedy)


def test_what_is_stored_follows_from_both_models_and_a_tree_is_refused(workshop: Workshop) -> None:
    proof = known(recorded_proof())
    if proof.changed_weights:
        pytest.skip("recorded with other weights: run python -m scripts.record proof")
    command = wire.EnumerateRules(4, proof.request)
    assert wire.parse_command(wire.dump_command(command)) == command
    (again,) = found(enumerate_rules_steps(command, workshop))
    stored = known(proof.enumerated)
    assert again.guesses == stored.guesses
    for name, places in (stored.judged | stored.bonus).items():
        other = (again.judged | again.bonus)[name]
        assert other.distances == pytest.approx(places.distances, abs=1e-4), name
    assert found(enumerate_rules_steps(replace(command, done=1), workshop)) == []
    grown = replace(proof.request, settings=replace(proof.request.settings, tree="2,2", draft_length=2))
    with pytest.raises(InputError, match="leave out the tree"):
        found(enumerate_rules_steps(replace(command, request=grown), workshop))
