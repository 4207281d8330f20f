"""What the Watch page makes of its jobs. No engine: a service that says what the test tells it."""

from dataclasses import replace

from specviz.core.metrics import Costs, count, speedup
from specviz.core.request import RunRequest
from specviz.core.trace import Autoregressive, EmittedToken, Round
from specviz.service.protocol import Calibrated, Done, Failed, Rounds, Run, Started
from specviz.service.results import CostsResult, RunResult, tokens_in
from specviz.service.run_store import StoredRun
from specviz.ui.shared.job_slot import beside_line
from specviz.ui.watch.payload import stage_payload
from specviz.ui.watch.state import MAX_RUNS, MAX_TOKENS, Watching, pair_key, recorded_run, run_notice
from tests.support.fake_engine import header, output
from tests.support.fake_service import FakeService
from tests.support.fake_traces import fake_trace

REQUEST = RunRequest("Once")
OTHER = RunRequest("Once", draft="lookup")
COSTS = Costs(0.01, 0.1, {1: 1.0}, 0.05)


def watching() -> Watching:
    made = Watching(request=REQUEST)
    made.run.start(lambda job: Run(job, REQUEST))
    return made


def a_round() -> Round:
    return Round(0, 0.001, 0.002, 0.0, [], EmittedToken("bonus", 0))


def test_a_run_is_shown_from_its_first_round_and_collected_when_done(service: FakeService) -> None:
    page = watching()
    service.tell(Started(1, header(Run(1, REQUEST))))
    page.refresh()
    assert page.notice is None
    assert page.shown is None, "nothing to show before its first round"
    service.tell(Rounds(1, [a_round()], output(1), Autoregressive([0.01], [0], alternating=True)))
    page.refresh()
    assert page.shown
    assert page.shown.run_id == "live-1"
    assert page.shown.trace.autoregressive == Autoregressive([0.01], [0], alternating=True)
    ended = replace(output(1), stopped_by="eos")
    service.tell(Rounds(1, [], ended, Autoregressive([0.01, 0.02], [1, 2], alternating=True)))
    page.refresh()
    assert page.notice == "now only the target alone: 3 tokens", "a sampled text may be longer"
    service.tell(Done(1, "plain"))
    page.refresh()
    assert page.shown.plain_text == "plain"
    assert [run.run_id for run in page.finished] == ["live-1"]
    assert run_notice(page.run) is None


def test_a_failed_run_is_a_message_and_a_lost_one_is_not(service: FakeService) -> None:
    page = watching()
    service.expire("ada")
    page.refresh()
    assert (page.run.state, page.run.message, page.message) == ("lost", "This run has expired.", "")
    page.run.start(lambda job: Run(job, REQUEST))
    service.tell(Failed(page.run.job or 0, "Too long."))
    page.refresh()
    assert page.message == "Too long."


def test_costs_belong_to_the_pair_they_were_measured_for(service: FakeService) -> None:
    """The visitor may choose another pair while they are measured."""
    page = Watching(request=REQUEST)
    page.measure_costs(REQUEST)
    service.tell(Calibrated(1, COSTS))
    page.measure_costs(OTHER)
    assert page.costs == {pair_key(REQUEST): COSTS}
    assert [command.request for command in service.commands] == [REQUEST, OTHER]


def test_costs_that_cannot_be_measured_are_asked_for_once(service: FakeService) -> None:
    page = Watching(request=REQUEST)
    for _ in range(3):
        page.measure_costs(REQUEST)
        if page.costing.busy:
            service.tell(Failed(1, "The pair does not fit in memory."))
    assert len(service.commands) == 1


def test_only_the_newest_runs_stay_in_the_servers_memory() -> None:
    page = Watching()
    for number in range(MAX_RUNS + 3):
        page.finish(recorded_run(fake_trace(), f"live-{number}"))
    assert [run.run_id for run in page.finished] == [f"live-{number}" for number in range(3, MAX_RUNS + 3)]
    assert page.runs == MAX_RUNS + 3


def test_long_runs_of_a_session_take_no_more_memory_than_short_ones() -> None:
    page, long = Watching(), recorded_run(fake_trace(tokens=MAX_TOKENS // 4), "live-1")
    for _ in range(9):
        page.finish(long)
    assert len(page.finished) == MAX_TOKENS // tokens_in(long.trace) < 9
    assert page.runs == 9
    assert not any(token.candidates for run in page.finished for each in run.trace.rounds for token in each.drafted)


def test_a_finished_run_is_made_ready_for_the_stage_once_for_all_visitors(service: FakeService) -> None:
    result = RunResult(fake_trace(), "plain", id="0123456789abcdef")
    pages = [Watching(), Watching()]
    for page in pages:
        page.open_stored(StoredRun("key", REQUEST, result), None)
    one, two = (stage_payload(page, 4) for page in pages)
    assert one
    assert two
    assert one["rounds"] is two["rounds"]
    assert one["stream"] != two["stream"]
    assert one["link"]["run"] == "0123456789abcdef"


def test_costs_measured_while_other_engines_were_busy_say_so(service: FakeService) -> None:
    page = Watching(request=REQUEST)
    page.measure_costs(REQUEST)
    service.tell(Calibrated(1, COSTS))
    ticket = service._sessions.ticket(1)
    assert ticket
    ticket.job.view = replace(ticket.job.view, result=CostsResult(COSTS, ("Why.",), beside=2))
    page.measure_costs(REQUEST)
    assert page.formats[pair_key(REQUEST)] == ("Why.", beside_line(2))
    assert "2 other engines were busy" in (beside_line(2) or "")
    assert beside_line(0) is None


def test_a_run_of_the_session_takes_the_memory_that_its_figures_need() -> None:
    page, trace = Watching(), fake_trace()
    page.finish(recorded_run(trace, "live-1"))
    slim = page.finished[0].trace
    assert not any(token.candidates for round in slim.rounds for token in round.drafted)
    assert (speedup(slim), count(slim.rounds), slim.output) == (speedup(trace), count(trace.rounds), trace.output)


def test_an_opened_run_that_nothing_here_can_run_again_has_no_link() -> None:
    """A link would lead to the run that was on screen before it, with that run's settings."""
    page = Watching(request=REQUEST)
    page.open_trace(fake_trace(), "file-1", linked=False)
    payload = stage_payload(page, 4)
    assert payload
    assert payload["link"] == {}
    page.open_trace(fake_trace(), "file-2")
    payload = stage_payload(page, 4)
    assert payload
    assert payload["link"]["target"] == "wren-base"
