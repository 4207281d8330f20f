"""What another system did not report: it is drawn as not reported, and no figure is made of it."""

import json
from dataclasses import replace

import pytest

from specviz.core import metrics
from specviz.core.errors import InputError
from specviz.core.intervals import speedup_interval
from specviz.core.rounds import known_seconds
from specviz.core.terms import terms_of
from specviz.core.trace import dump_trace, parse_trace
from specviz.core.verdict import explain_no_verdict, verdict_of_run
from specviz.measure.worksheet.starts import start_of_file
from specviz.systems import RecordOptions, import_run
from tests.support.drawn import drawn_traces
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.support.plain_json import with_value
from tests.support.records import record

GIVEN = RecordOptions(prompt="Tell a story.", target="wren-base", draft="a head")  # the name of a model that is here
TRACE = import_run(record("vllm-0.29-chat.json"), "vllm", GIVEN)


def test_counts_are_exact_and_no_figure_is_made_without_times() -> None:
    assert metrics.count(TRACE.rounds).acceptance_rate == pytest.approx(7 / 12)
    assert [place.judged for place in metrics.count_by_position(TRACE.rounds, 3)] == [4, 3, 2]
    assert all(state.speculative_seconds is None for state in metrics.running(TRACE))
    assert metrics.speedup(TRACE) is metrics.costs(TRACE) is terms_of(TRACE) is None
    assert speedup_interval(TRACE) is verdict_of_run(TRACE) is None
    assert explain_no_verdict(TRACE) == "this run has no run of the target alone beside it"
    plain = replace(fake_trace(tokens=12).autoregressive, alternating=True)  # type: ignore[type-var]
    both = replace(TRACE, autoregressive=plain)
    assert metrics.speedup(both) is metrics.costs(both) is speedup_interval(both) is verdict_of_run(both) is None
    assert explain_no_verdict(both) == "this run has no times"


def test_a_run_of_this_program_is_timed_and_has_costs() -> None:
    (data,) = drawn_traces(fake_trace(tokens=24))
    assert (data["timed"], data["imported"]) == (True, False)
    start = known(start_of_file(fake_trace(tokens=24)))
    assert not start.acceptance_only
    assert start.model.cost_ratio > 0
    assert known_seconds(0.5) == 0.5
    with pytest.raises(InputError, match="This run has no times"):
        known_seconds(None)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rounds.0.emitted.id": 5}, "12 tokens, and 1 of them have an id"),
        ({"imported": None}, r"prompt\.token_ids is empty"),
        ({"rounds.1.index": 7, "output.stopped_by": None}, r"rounds\.1 has index 7; output\.stopped_by is missing"),
    ],
    ids=["ids are all reported or none is", "what is not imported needs them", "all contradictions at once"],
)
def test_what_an_imported_trace_cannot_be_is_named(changes: dict[str, object], says: str) -> None:
    written = json.loads(dump_trace(TRACE))
    for where, value in changes.items():
        written = with_value(written, where, value)
    with pytest.raises(InputError, match=says):
        parse_trace(json.dumps(written))
