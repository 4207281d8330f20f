"""A trace as data frames: one row a token, one row a round, the same figures as the trace."""

import pytest

from specviz.core.frames import ROUND_COLUMNS, TOKEN_COLUMNS
from specviz.core.metrics import count
from specviz.core.trace import Trace
from tests.support.fake_traces import cut, fake_trace, translated

TRACES = {
    "sampled": fake_trace(),
    "greedy": fake_trace(greedy=True),
    "ended by the end of the text": fake_trace(eos=True),
    "prompt lookup": fake_trace(lookup=True),
    "hostile texts": fake_trace(hostile=True),
    "nothing recorded": fake_trace(record=False),
    "a draft with another tokenizer": translated(fake_trace()),
}


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES.keys())
def test_a_row_for_each_drafted_and_each_added_token(trace: Trace) -> None:
    frame = trace.to_frame()
    counts = count(trace.rounds)
    statuses = frame["status"].value_counts().to_dict()
    assert statuses.get("accepted", 0) == counts.accepted
    assert statuses.get("rejected", 0) == counts.rejected
    assert statuses.get("discarded", 0) == counts.discarded
    assert statuses.get("correction", 0) == sum(round.emitted.kind == "correction" for round in trace.rounds)
    extra = [bool(round.drafted) for round in trace.rounds if round.emitted.kind == "bonus"]
    assert statuses.get("bonus", 0) == sum(extra)
    assert statuses.get("own", 0) == len(extra) - sum(extra)  # without a draft no token is a bonus
    written = frame[frame["status"].isin(["accepted", "correction", "bonus", "own"])]
    assert written["id"].tolist() == trace.output.token_ids
    assert "".join(written["text"]) == trace.output.text


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES.keys())
def test_a_row_has_its_tokens_own_values(trace: Trace) -> None:
    drafted = trace.to_frame().query("status in ['accepted', 'rejected', 'discarded']")
    tokens = [(round, place, token) for round in trace.rounds for place, token in enumerate(round.drafted)]
    assert len(drafted) == len(tokens) > 0
    for row, (round, place, token) in zip(drafted.itertuples(), tokens, strict=True):
        assert (row.round, row.position, row.status) == (round.index, place + 1, token.status)
        assert (row.id, row.text) == (token.id, token.text)
        values = {"p": token.target_prob, "q": token.draft_prob, "u": token.u, "accept_prob": token.accept_prob}
        for name, value in values.items():
            assert getattr(row, name) == (pytest.approx(float("nan"), nan_ok=True) if value is None else value)


def test_a_correction_has_the_position_of_the_token_it_replaces() -> None:
    frame = fake_trace().to_frame().set_index(["round", "status"])["position"]
    corrections = frame.xs("correction", level="status")
    assert len(corrections) > 0
    assert corrections.equals(frame.xs("rejected", level="status"))


def test_a_bonus_follows_the_last_drafted_token() -> None:
    trace = fake_trace()
    bonuses = trace.to_frame().query("status == 'bonus'").set_index("round")["position"]
    assert len(bonuses) > 0
    assert bonuses.to_dict() == {index: len(trace.rounds[index].drafted) + 1 for index in bonuses.index}


def test_the_decision_can_be_checked_from_the_frame() -> None:
    judged = fake_trace().to_frame().dropna(subset=["u"])
    assert len(judged) > 0
    assert ((judged["u"] < judged["accept_prob"]) == (judged["status"] == "accepted")).all()


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES.keys())
def test_a_row_for_each_round(trace: Trace) -> None:
    frame, counts = trace.rounds_frame(), count(trace.rounds)
    assert frame["round"].tolist() == list(range(counts.rounds))
    assert frame[["drafted", "accepted", "rejected", "discarded", "tokens"]].sum().to_list() == [
        counts.drafted, counts.accepted, counts.rejected, counts.discarded, counts.emitted,
    ]  # fmt: skip
    assert frame["emitted"].tolist() == [round.added for round in trace.rounds]
    seconds = frame[["draft_seconds", "verify_seconds", "overhead_seconds"]]
    assert seconds.sum(axis=1).to_list() == pytest.approx([round.seconds for round in trace.rounds])


def test_a_run_without_rounds_has_the_same_columns_and_types() -> None:
    empty = cut(fake_trace(), 0)
    assert {name: str(kind) for name, kind in empty.to_frame().dtypes.items()} == TOKEN_COLUMNS
    assert {name: str(kind) for name, kind in empty.rounds_frame().dtypes.items()} == ROUND_COLUMNS
    assert fake_trace().to_frame().dtypes.equals(empty.to_frame().dtypes)
