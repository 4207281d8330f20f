"""Every figure against one worked by hand, and a trace as data frames."""

import math
from collections import Counter
from dataclasses import replace

import pytest

import specviz
from specviz.core import metrics
from specviz.core.rounds import DraftedToken, EmittedToken, Round, Status
from specviz.core.settings import DecodeSettings
from specviz.core.trace import ROUND_COLUMNS, TOKEN_COLUMNS, Autoregressive, PrefillSeconds, Trace, token_frame
from specviz.core.verdict import verdict_of_run
from tests.support.fake_traces import cut, fake_trace, run_of, translated
from tests.support.fake_trees import fake_tree_trace
from tests.support.known import known

FATES: dict[str, Status] = {"a": "accepted", "r": "rejected", "d": "discarded"}


def a_round(index: int, fates: str, draft: float, verify: float, overhead: float) -> Round:
    """`fates` like "ard": accepted, rejected, discarded. Token ids count up from 10 times the index."""
    drafted = [DraftedToken(10 * index + i, "x", FATES[fate]) for i, fate in enumerate(fates)]
    if "d" in fates and "r" not in fates:  # an accepted end of text
        return Round(index, draft, verify, overhead, drafted, EmittedToken("none"))
    emitted = EmittedToken("correction" if "r" in fates else "bonus", 10 * index + 9, "x")
    return Round(index, draft, verify, overhead, drafted, emitted)


ROUNDS = [
    a_round(0, "aaa", draft=3.0, verify=10.0, overhead=1.0),  # 4 tokens in 14 s
    a_round(1, "ard", draft=6.0, verify=12.0, overhead=2.0),  # 2 tokens in 20 s
    a_round(2, "", draft=0.0, verify=8.0, overhead=0.5),  # 1 token in 8.5 s
    a_round(3, "ad", draft=3.0, verify=11.0, overhead=1.5),  # 1 token in 15.5 s
]
WRITTEN = [0, 1, 2, 9, 10, 19, 29, 30]
STEPS = [8.0, 8.0, 9.0, 7.0, 8.0, 8.0, 20.0, 8.0]  # median 8
PLAIN = Autoregressive(STEPS, WRITTEN)


def a_trace(rounds: list[Round] = ROUNDS, plain: Autoregressive | None = PLAIN) -> Trace:
    settings, slow = DecodeSettings(max_new_tokens=8, draft_length=3), PrefillSeconds(100.0, 100.0)  # in no figure
    return run_of(rounds, plain, settings=settings, prefill_seconds=slow)


def test_counts_are_made_of_fates_and_rates_of_counts() -> None:
    """What is counted by position, speedups and costs: the tables of `test_both.py`."""
    assert [position.rate for position in metrics.count_by_position(ROUNDS, 4)] == [1, 0.5, 1, None]
    counts = metrics.count(ROUNDS)
    assert counts == metrics.Counts(rounds=4, drafted=8, accepted=5, rejected=1, discarded=2, emitted=8)
    assert (counts.acceptance_rate, counts.per_judgement_rate, counts.tokens_per_target_call) == (5 / 8, 5 / 6, 2)
    assert metrics.count(ROUNDS[:1]).plus(ROUNDS[1]) == metrics.count(ROUNDS[:2])
    nothing, undrafted = metrics.count([]), metrics.count(ROUNDS[2:3])
    for counts, per_call in ((nothing, None), (undrafted, 1)):
        assert counts.acceptance_rate is counts.per_judgement_rate is None
        assert counts.tokens_per_target_call == per_call
    all_rejected = metrics.count([a_round(0, "rdd", 1, 1, 1)])
    assert (all_rejected.acceptance_rate, all_rejected.per_judgement_rate) == (0, 0)


def test_costs_and_speedups_that_were_not_measured_are_none() -> None:
    assert metrics.speedup(a_trace(rounds=[a_round(0, "a", 0.0, 0.0, 0.0)])) is None
    no_steps, too_short = Autoregressive([], []), Autoregressive([0.0] * 8, WRITTEN)
    for plain in (None, no_steps, too_short):
        assert metrics.costs(a_trace(plain=plain)) is None
    for rounds in ([], [ROUNDS[2]]):  # the second drafted nothing
        assert metrics.costs(a_trace(rounds=rounds)) is None


def test_repetition_is_the_share_of_4_grams_that_occurred_before() -> None:
    for tokens, share in (
        ([1, 2, 3], None),  # no 4-gram
        ([1, 2, 3, 4], 0.0),
        ([1, 2, 3, 4, 1, 2, 3, 4], 1 / 5),  # one of five 4-grams occurred before
        ([7] * 10, 6 / 7),
    ):
        assert metrics.repetition(tokens) == (share if share is None else pytest.approx(share))


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
def test_a_row_for_each_token_and_each_round(trace: Trace) -> None:
    frame = trace.to_frame()
    counts = metrics.count(trace.rounds)
    extra = [bool(round.drafted) for round in trace.rounds if round.emitted.kind == "bonus"]
    statuses = Counter({name: getattr(counts, name) for name in ("accepted", "rejected", "discarded")})
    statuses["correction"] = counts.rounds - len(extra) - sum(round.emitted.kind == "none" for round in trace.rounds)
    statuses["bonus"], statuses["own"] = sum(extra), len(extra) - sum(extra)  # without a draft no token is a bonus
    assert Counter(frame["status"]) == statuses
    written = frame[frame["status"].isin(["accepted", "correction", "bonus", "own"])]
    assert written["id"].tolist() == trace.output.token_ids
    assert "".join(written["text"]) == trace.output.text
    last = frame.groupby("round").tail(1).query("status in ['correction', 'bonus', 'own']")["position"]
    assert last.tolist() == [round.accepted + 1 for round in trace.rounds if round.emitted.kind != "none"]
    frame = trace.rounds_frame()
    assert frame["round"].tolist() == list(range(counts.rounds))
    assert frame[["drafted", "accepted", "rejected", "discarded", "tokens"]].sum().to_list() == [
        counts.drafted, counts.accepted, counts.rejected, counts.discarded, counts.emitted,
    ]  # fmt: skip
    assert frame["emitted"].tolist() == [round.added for round in trace.rounds]
    seconds = frame[["draft_seconds", "verify_seconds", "overhead_seconds"]]
    assert seconds.sum(axis=1).to_list() == pytest.approx([round.seconds for round in trace.rounds])
    drafted = trace.to_frame().query("status in ['accepted', 'rejected', 'discarded']")
    tokens = [(round, place, token) for round in trace.rounds for place, token in enumerate(round.drafted)]
    assert len(drafted) == len(tokens) > 0
    for row, (round, place, token) in zip(drafted.itertuples(), tokens, strict=True):
        found = (row.round, row.position, row.status, row.id, row.text, row.p, row.q, row.u, row.accept_prob)
        values = [token.target_prob, token.draft_prob, token.u, token.accept_prob]
        numbers = [math.nan if value is None else value for value in values]
        assert found[:5] == (round.index, place + 1, token.status, token.id, token.text)
        assert list(found[5:]) == pytest.approx(numbers, abs=0, rel=0, nan_ok=True)


def test_in_a_tree_each_token_names_its_parent() -> None:
    tree = fake_tree_trace().rounds[0]
    frame = token_frame([tree])
    drafted = frame.iloc[: len(tree.drafted)]
    assert drafted["parent"].tolist() == [token.parent for token in tree.drafted]
    assert (drafted["parent"] == -1).any()
    assert frame.iloc[len(tree.drafted) :]["parent"].isna().all()
    assert fake_trace().to_frame()["parent"].isna().all()


def test_the_summary_of_a_run_has_its_counts_and_its_verdict() -> None:
    assert set(specviz.__all__) <= set(dir(specviz)), "also before they are imported"
    trace = fake_trace()
    found, counts = specviz.summary(trace), metrics.count(trace.rounds)
    assert (found["accepted"], found["emitted"]) == (counts.accepted, counts.emitted)
    assert found["tokens_per_target_call"] == counts.tokens_per_target_call
    verdict = known(verdict_of_run(trace))
    assert (found["speedup"], found["verdict"]) == (metrics.speedup(trace), f"{verdict.headline}. {verdict.reason}")
    alone = specviz.summary(replace(trace, autoregressive=None))
    assert alone["speedup"] is None
    assert alone["verdict"].startswith("No verdict: ")


def test_a_run_without_rounds_has_the_same_columns_and_types() -> None:
    empty = cut(fake_trace(), 0)
    assert {name: str(kind) for name, kind in empty.to_frame().dtypes.items()} == TOKEN_COLUMNS
    assert {name: str(kind) for name, kind in empty.rounds_frame().dtypes.items()} == ROUND_COLUMNS
    assert fake_trace().to_frame().dtypes.equals(empty.to_frame().dtypes)
