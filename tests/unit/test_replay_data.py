"""What the stage is given for dragging the draft length: compact, exact, and honest about what it does not know."""

import json
from dataclasses import replace
from typing import Any

import pytest

from specviz.core.metrics import Costs, count
from specviz.core.replay import DraftGuesses
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import Trace
from specviz.data.first_run import first_draft_guesses, first_trace
from specviz.player.data import stage_data
from specviz.player.replay import replay_data
from tests.support.fake_traces import fake_trace, translated


@pytest.fixture
def first() -> tuple[Trace, DraftGuesses]:
    trace, draft_guesses = first_trace(), first_draft_guesses()
    assert trace is not None
    assert draft_guesses is not None, "python -m scripts.record_first makes it again"
    return trace, draft_guesses


def unfolded(data: dict[str, Any], length: int) -> list[list[tuple[str | None, str]]]:
    """(text, status) of every token of every round, as the stage's script unfolds them."""
    at, rounds = 0, []
    for accepted, rejected, kind, known, unknown in data["lengths"][str(length)]["rounds"]:
        others = [*known, *[None] * unknown]
        chips = [(text, "accepted") for text in data["tokens"][at : at + accepted]]
        chips += [(text, "rejected" if i < rejected else "discarded") for i, text in enumerate(others)]
        at += accepted
        if kind != "none":
            chips.append((data["tokens"][at], kind))
            at += 1
        rounds.append(chips)
    return rounds


def test_at_its_own_draft_length_the_recorded_run_is_replayed_token_for_token(
    first: tuple[Trace, DraftGuesses],
) -> None:
    trace, draft_guesses = first
    data = replay_data(trace, draft_guesses, None, running=False)
    drawn = stage_data(trace, run_id="first", source="recorded", running=False)["rounds"]
    told = unfolded(data, trace.settings.draft_length)
    assert told == [[(chip["text"], chip["status"]) for chip in round["chips"]] for round in drawn]
    counts, shown = count(trace.rounds), data["lengths"][str(trace.settings.draft_length)]
    assert [shown[name] for name in ("accepted", "rejected", "discarded")] == [
        counts.accepted,
        counts.rejected,
        counts.discarded,
    ]
    assert shown["per_call"] == round(counts.tokens_per_target_call or 0, 2)


def test_every_length_spells_the_same_output_and_unknown_tokens_are_only_discarded_ones(
    first: tuple[Trace, DraftGuesses],
) -> None:
    data = replay_data(*first, None, running=False)
    assert sorted(map(int, data["lengths"])) == list(range(1, MAX_DRAFT_LENGTH + 1))
    unknown = 0
    for length in range(1, MAX_DRAFT_LENGTH + 1):
        chips = [chip for round in unfolded(data, length) for chip in round]
        assert [text for text, status in chips if status in ("accepted", "correction", "bonus", "own")] == data[
            "tokens"
        ]
        assert all(text is not None for text, status in chips if status != "discarded")
        unknown += sum(text is None for text, _ in chips)
    assert unknown > 0, "longer drafts than the run's own go on where no run has been"


def test_it_is_small_and_plain_json(first: tuple[Trace, DraftGuesses]) -> None:
    text = json.dumps(replay_data(*first, None, running=False), allow_nan=False)
    assert len(text) < 20_000


def test_times_are_modelled_from_calibrated_costs_where_there_are_any(first: tuple[Trace, DraftGuesses]) -> None:
    trace, draft_guesses = first
    own = replay_data(trace, draft_guesses, None, running=False)
    free = replay_data(trace, draft_guesses, Costs(0.01, 0.0, {1: 1.0, 17: 1.0}, 0.0), running=False)
    assert own["times"] == "costs as this run showed them"
    assert free["times"] == "costs calibrated on this machine"
    assert all(one["speedup"] == one["per_call"] for one in free["lengths"].values())
    unknown = replay_data(replace(trace, autoregressive=None), draft_guesses, None, running=False)
    assert unknown["times"] == "no costs are known yet"
    assert unknown["lengths"]["4"]["speedup"] is None


def test_where_it_is_impossible_one_line_says_why(first: tuple[Trace, DraftGuesses]) -> None:
    trace, draft_guesses = first

    def why(trace: Trace, draft_guesses: DraftGuesses | None = draft_guesses, running: bool = False) -> str:
        data = replay_data(trace, draft_guesses, None, running)
        assert set(data) == {"why_not"}
        return str(data["why_not"])

    assert "temperature 0" in why(fake_trace())
    assert "after a live run" in why(trace, None)
    assert "once this run is over" in why(trace, None, running=True)
    assert "another tokenizer" in why(translated(fake_trace(greedy=True)), None)
    assert "schedule is heuristic" in why(
        replace(trace, settings=replace(trace.settings, draft_schedule="heuristic")), draft_guesses
    )
    shaped = replace(trace.settings, tree=f"dynamic:{2 * trace.settings.draft_length}")
    assert "What a tree would draft" in why(replace(trace, settings=shaped), draft_guesses)
    other = replace(draft_guesses, token_ids=draft_guesses.token_ids[:-1])
    assert "after a live run" in why(trace, other)


def test_a_rounding_format_is_said(first: tuple[Trace, DraftGuesses]) -> None:
    trace, draft_guesses = first
    assert replay_data(trace, draft_guesses, None, running=False)["exact"] is True
    assert replay_data(trace, replace(draft_guesses, exact=False), None, running=False)["exact"] is False
