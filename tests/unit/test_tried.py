"""What a session tried: the run before beside the run on screen, and the list of all runs."""

from dataclasses import replace
from unittest.mock import Mock

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.judge import judge
from specviz.core.metrics import Costs
from specviz.core.request import RunRequest
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict
from specviz.data.measured.measured_methods import Quiet
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts
from specviz.service.job import RunResult, tokens_in
from specviz.service.run_store import StoredRun
from specviz.ui.watch import tried
from specviz.ui.watch.tried import shown_row, tried_csv, tried_figure, tries
from specviz.ui.watch.watch_state import FIRST, LIST_BYTES, MAX_RUNS, MAX_TOKENS, ShownRun, WatchState
from tests.support.fake_traces import fake_run, fake_trace
from tests.support.figures import lines_of, rounded
from tests.support.known import known
from tests.unit.test_verdict import BUSY, CALIBRATED, in_turns

REQUEST = RunRequest("Once upon a time", "wren-base", "wren-nano")
RUN = fake_run(REQUEST)


@pytest.fixture(autouse=True)
def nothing_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No quiet costs come with the app: only a calibration says what a pair costs."""
    monkeypatch.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, []))


def watching_of(*requests: RunRequest) -> WatchState:
    watching = WatchState()
    for number, request in enumerate(requests, start=1):
        watching.past.finish(shown(request, number))
    return watching


def shown(request: RunRequest, number: int) -> ShownRun:
    return ShownRun(fake_run(request), f"live-{number}", "live", None, stored_id=f"id{number}", asked=request)


FORMULA = replace(REQUEST, prompt="=1+1", draft="prompt-lookup")


def test_the_list_on_screen_and_saved_has_each_run_of_the_session(snapshot: SnapshotAssertion) -> None:
    """A speed that is not trusted says so, its estimate stands beside it, and no cell is a formula."""
    first, own, lookup = tries(watching_of(REQUEST, FORMULA))
    quietly = judge(1.75, (1.7, 1.81), modelled=True)
    busy = Verdict("helps", 1.5, "interval", (1.25, 1.6), trusted=False)
    runs = [
        replace(own, verdict=Verdict("helps", 1.52, "interval", (1.26, 1.61)), estimated=judge(1.65, None)),
        replace(own, number=2, verdict=busy, estimated=quietly, costs_of="AMD EPYC"),
        replace(lookup, number=3, verdict=None),
    ]
    assert (first.number, first.shown.run_id, first.link) == (0, FIRST, f"./?run={FIRST}")
    assert [saved.partition(",")[0] for saved in tried_csv([first], "").splitlines()] == ["run", '"0']
    parts = [
        *map(shown_row, runs),
        *tried_csv(runs, "https://specviz.test/").splitlines(),
        lines_of(tried_figure(runs)),
    ]
    assert rounded("\n".join(map(str, [own.name, *parts]))) == snapshot


def test_costs_speak_for_runs_until_a_trusted_run_refutes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that come with the app speak too; a busy run refutes nothing."""
    drafts = {known(RUN.drafter).asked_as: Costs.from_blocks([CALIBRATED] * 9)}
    here = MachineCosts("2026-11-26", "here", RUN.recorded_on, RUN.target.name, RUN.target.dtype, Quiet(3.0), drafts)
    with monkeypatch.context() as patched:
        patched.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, [here]))
        own = tries(watching_of(REQUEST))[1]
    assert (known(own.estimated).interval is None, own.costs_of) == (False, "here")
    watching = watching_of(REQUEST)
    busy, steady = (replace(shown(REQUEST, number), trace=trace) for number, trace in ((2, BUSY), (3, in_turns())))
    costs = {run.run_id: replace(CALIBRATED, cost_ratio=0.35) for run in (busy, steady)}
    monkeypatch.setattr(WatchState, "costs_of", lambda self, run: costs.get(run.run_id))
    watching.past.finish(busy)
    assert tries(watching)[2].estimated
    watching.past.finish(steady)
    assert [run.estimated for run in tries(watching)] == [None] * 4


def test_a_run_that_is_shown_again_is_no_second_row() -> None:
    past = watching_of(REQUEST, FORMULA).past
    past.finish(replace(shown(REQUEST, 1), run_id="live-3", source="stored"))
    assert ([run.run_id for run in past.finished], past.count) == (["live-1", "live-2"], 2)
    for _ in range(2):
        past.finish(replace(shown(REQUEST, 3), stored_id=""))
    assert past.count == 4, "runs that no store has are different runs"


RUN_IDS = [f"{number:016x}" for number in range(10_000)]


def engine_with(*ids: str, run: Trace | None = None) -> Mock:
    """An engine that has finished runs of these ids. `found` notes which are asked for."""
    results = {name: RunResult(run or fake_run(replace(REQUEST, prompt=name)), id=name) for name in ids}
    runs = {name: StoredRun("key", REQUEST, result) for name, result in results.items()}
    found = Mock(side_effect=runs.get)
    return Mock(found=found, store=Mock(each=Mock(side_effect=lambda ids, most_bytes: map(found, ids))))


def test_runs_of_before_a_reload_come_back_in_front_of_those_since(monkeypatch: pytest.MonkeyPatch) -> None:
    seven, eight, nine = RUN_IDS[7:10]
    monkeypatch.setattr(tried, "engine", lambda: engine_with(seven, eight))
    watching = watching_of(FORMULA)
    tried.restore_list(watching, f"{seven} {nine} {eight} {seven}")
    assert (watching.past.ids, watching.past.count, watching.past.gone) == ([seven, eight, "id1"], 3, 1)
    watching.past.open(RUN)  # a file: it gets no number
    assert [run.shown.asked for run in tries(watching)[1:3]] == [REQUEST] * 2
    assert [run.number for run in tries(watching)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("sent", "most"),
    [("", 0), ("../../etc/passwd <script> id1 \x00", 0), (" ".join(RUN_IDS), MAX_RUNS), ("f" * 100_000, MAX_RUNS + 3)],
)
def test_whatever_a_browser_sends_only_so_many_runs_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, sent: str, most: int
) -> None:
    engine = engine_with()
    monkeypatch.setattr(tried, "engine", lambda: engine)
    watching = watching_of(REQUEST)
    tried.restore_list(watching, sent)
    assert engine.found.call_count <= most
    assert [run.run_id for run in watching.past.finished] == ["live-1"]


def test_a_list_comes_back_once_and_only_to_a_visitor_who_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: each message had all runs read again, also where its sender was gone."""
    held = " ".join(RUN_IDS[:MAX_RUNS])
    engine = engine_with(*RUN_IDS[:MAX_RUNS], run=fake_trace(tokens=MAX_TOKENS // 8))
    monkeypatch.setattr(tried, "engine", lambda: engine)
    watching = watching_of(REQUEST)
    for _ in range(3):
        tried.restore_list(watching, held)
    here = len(watching.past.ids)
    assert watching.past.ids == [*RUN_IDS[MAX_RUNS - here + 1 : MAX_RUNS], "id1"], "the newest, in their order"
    assert 3 < here < 10
    assert sum(tokens_in(run.trace) for run in watching.past.finished) <= MAX_TOKENS
    assert (engine.found.call_count, watching.past.gone) == (MAX_RUNS, 0), "asked for once"
    assert engine.store.each.call_args.args[1] == LIST_BYTES
    engine.found.reset_mock()
    monkeypatch.setattr(tried, "visitor_left", lambda: engine.found.call_count == 2)
    watching = watching_of(REQUEST)
    tried.restore_list(watching, held)
    assert engine.found.call_count == 2
