"""The engine's jobs at work, without models; the server's one service; the address of a cluster."""

import re
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count, pairwise
from queue import Empty, SimpleQueue
from typing import Any

import pytest
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.ray_address import parse_ray_address
from specviz.core.request import RunRequest
from specviz.core.trace import Output
from specviz.data.measured.first_run import first_trace
from specviz.measure.race import RacePrompt
from specviz.service import EngineService
from specviz.service import protocol as wire
from specviz.service.bench import CYCLE, LONG_SHARE, LOOK, SILENT, STAY, TURN, AtWork, Bench, say
from specviz.service.job import Job, JobView
from specviz.service.limits import BudgetSpent
from specviz.service.sessions import Sessions, address_block
from specviz.ui.shared.engine import engine, start_engine
from tests.support.known import known
from tests.support.strategies import refusal

REQUEST = RunRequest("")
MARKS = {wire.RunStarted: "b", wire.Rounds: "r", wire.JobFinished: "f", wire.JobStopped: "s", wire.JobFailed: "x"}


def rounds(job: int) -> wire.Rounds:
    return wire.Rounds(job, [], Output([], "", None))


def run(number: int, owner: int | None = None) -> wire.Run:
    first = number if owner is None else owner
    return wire.Run(number, REQUEST, owners=(first, first, number))


def long_of(*numbers: int) -> list[wire.JobCommand]:
    return [wire.Calibrate(number, REQUEST, owners=(number,) * 3) for number in numbers]


class Script:
    """Stands in for the handlers and for the server, which sends commands, and a stop after so many steps of a job.

    Runs have five steps, or `endless` ones; all other jobs are at work for ever, a step each tenth of a second.
    """

    def __init__(self, *commands: wire.JobCommand, endless: bool = False, stops: Mapping[int, int] | None = None):
        self.commands, self.endless, self.stops = list(commands), endless, dict(stops or {})
        self.last: type[wire.JobFinished] | Exception | None = wire.JobFinished
        self.done, self.patience, self.sent = Counter[int](), list[float | None](), list[wire.Event]()
        self.now, self.worked = 0.0, ""

    def bench(self, **options: Any) -> Bench:
        return Bench(self.steps, self, self.sent.append, **{"clock": lambda: self.now} | options)

    def get(self, timeout: float | None) -> wire.JobCommand | wire.Stop:
        self.patience.append(timeout)
        for job, steps in self.stops.items():
            if self.done[job] >= steps:
                del self.stops[job]
                return wire.Stop(job)
        if self.commands:
            return self.commands.pop(0)
        raise Empty

    def steps(self, command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        job = command.job
        if isinstance(command, wire.Run) and not self.endless:
            for event in (wire.RunStarted(job), rounds(job), None, rounds(job)):
                self.done[job] += 1
                yield event
            self.done[job] += 1
            if isinstance(self.last, Exception):
                raise self.last
            if self.last:
                yield self.last(job)
            return
        yield rounds(job) if isinstance(command, wire.Run) else wire.Loading(job, "wren-base")
        yield None
        yield wire.RunStarted(job)
        try:
            while True:
                self.done[job] += 1
                self.now, self.worked = self.now + 0.1, self.worked + str(job)
                yield None
        except BudgetSpent:
            yield rounds(job)
            raise

    def said(self) -> str:
        """A letter and the job of each message, without a word of jobs that are only alive."""
        return " ".join(f"{MARKS[type(event)]}{event.job}" for event in self.sent if type(event) in MARKS)


def work(bench: Bench, times: int) -> None:
    for _ in range(times):
        bench.work()


ORDERS = {
    "a run goes to its end": (Script(run(5)), "b5 r5 r5 f5"),
    "a class sees its first rounds before any goes on, then the oldest goes on to its end": (
        Script(run(1), run(2), run(3)), "b1 r1 b2 r2 b3 r3 r1 f1 r2 f2 r3 f3",
    ),
    "an owner with many runs has as many turns as one with one": (
        Script(*(run(number, 1) for number in (1, 2, 3, 4)), run(5), run(6)),
        "b1 r1 b5 r5 b6 r6 b2 r2 b3 r3 b4 r4 r5 f5 r6 f6 r1 f1 r2 f2 r3 f3 r4 f4",
    ),
    "a run is stopped while it waits": (Script(run(1), run(2), stops={2: 2}), "b1 r1 b2 r2 s2 r1 f1"),
    "a run is stopped at work": (Script(run(5), stops={5: 3}), "b5 r5 s5"),
    "too late: a job has one last word": (Script(run(5), stops={5: 5}), "b5 r5 r5 f5"),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_jobs_have_their_turns(name: str) -> None:
    script, order = ORDERS[name]
    work(script.bench(), 60)
    assert script.said() == order


def test_the_last_that_is_said_before_a_step_is_of_the_job_whose_step_it_is() -> None:
    """Should the step end the engine, the server knows whose it was, and the others lose nothing."""
    sent = list[wire.Event]()

    def steps(command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        for _ in range(50):
            assert known(sent[-1]).job == command.job
            yield rounds(command.job) if len(sent) % 3 else None
        yield wire.JobFinished(command.job)

    seconds = count(step=0.3)
    script = Script(*long_of(1, 2, 3), run(4), run(5))
    work(Bench(steps, script, sent.append, clock=lambda: next(seconds)), 300)
    assert sum(isinstance(event, wire.JobFinished) for event in sent) == 5


def test_only_after_a_crowd_memory_is_given_back_and_only_once() -> None:
    for runs, times in ((1, 0), (3, 0), (4, 1)):
        given_back: list[bool] = []
        work(Script(*map(run, range(runs))).bench(after_crowd=partial(given_back.append, True)), 60)
        assert len(given_back) == times


@pytest.mark.parametrize(
    ("last", "message"),
    [(InputError("Too long."), "Too long."), (MemoryError(), say("no_memory")), (RuntimeError("secret"), say("broken")),
     (None, say("broken"))],
    ids=repr,
)  # fmt: skip
def test_a_jobs_failure_is_one_sentence_and_the_others_go_on(
    last: Exception | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found: the server waited for ever for the last word of a handler that ended without one."""
    script = Script(run(1), run(2))
    script.last = last
    work(script.bench(), 60)
    assert [event for event in script.sent if isinstance(event, wire.JobFailed)] == [
        wire.JobFailed(job, message) for job in (1, 2)
    ]
    assert ("secret" in capsys.readouterr().err) == isinstance(last, RuntimeError)  # what nobody foresaw is logged


def test_an_engine_at_work_is_never_silent_for_long_whatever_its_jobs_have_to_say() -> None:
    """Before: a race, a sweep and a calibration sent nothing for minutes, and the engine was ended for that."""
    ticks, times = count(), list[float]()

    def now() -> float:
        return next(ticks) * SILENT / 8  # a step looks at the clock a few times

    script = Script(wire.Calibrate(5, REQUEST), wire.Calibrate(6, REQUEST))
    work(Bench(script.steps, script, lambda _: times.append(now()), clock=now), 400)
    pauses = [later - sooner for sooner, later in pairwise(times)]
    assert len(pauses) > 50
    assert max(pauses) < 2 * SILENT
    assert min(pauses[10:]) > SILENT / 2, "and says no more than it has to"


MOST = int(10 * TURN) + 1  # tenths of a second
ONE_OWNER = [replace(command, owners=(1, 1, 1)) for command in long_of(1, 2)]
# Of some jobs the share, and the longest turn in tenths of a second. A run that is job 9 is only there beside them.
SHARES: dict[str, tuple[list[wire.JobCommand], dict[str, tuple[float, int]]]] = {
    "a long job beside a run": ([*long_of(1), run(5)], {"1": (LONG_SHARE / CYCLE, 6), "5": (3 / 4, 16)}),
    "long jobs": (long_of(1, 2, 3), {"3": (1 / 3, MOST)}),
    "long jobs beside a run": ([*long_of(1, 2, 3), run(9)], {"3": (1 / 3, MOST)}),
    "two long jobs of one owner": ([*ONE_OWNER, *long_of(3)], {"3": (1 / 2, MOST)}),
    "two long jobs of one owner beside a run": ([*ONE_OWNER, *long_of(3), run(9)], {"3": (1 / 2, MOST)}),
    "runs of a large model": ([run(5), run(6)], {"5": (1 / 2, MOST), "6": (1 / 2, MOST)}),
}


@pytest.mark.parametrize("name", SHARES)
def test_jobs_have_equal_shares_in_turns_and_no_owner_more_than_another(name: str) -> None:
    commands, shares = SHARES[name]
    script = Script(*commands, endless=True)
    bench = script.bench()
    while script.now < 480:
        bench.work()
    turns = script.worked.replace("9", "")
    for job, (share, longest) in shares.items():
        assert turns.count(job) / len(turns) == pytest.approx(share, abs=0.05)
        assert max(map(len, re.findall(f"{job}+", turns))) <= longest


def test_first_rounds_come_at_once_beside_thirty_long_jobs() -> None:
    script = Script(*long_of(*range(30)))
    bench = script.bench()
    work(bench, 400)
    script.sent.clear()
    script.commands.append(run(50))
    work(bench, 3)
    assert script.said() == "b50 r50"
    work(bench, 30)
    assert "f50" in script.said()


def test_what_waits_for_a_download_takes_no_time_from_others_and_no_processor() -> None:
    script, here = Script(run(1)), list[bool]()

    def steps(command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        while command.job == 1 and not here:
            script.done[1] += 1
            yield wire.EngineAlive(1)
        yield from script.steps(command)

    bench = Bench(steps, script, script.sent.append, clock=lambda: 0.0)
    work(bench, 5)
    assert set(script.patience[2:]) == {LOOK}, "it pauses between two looks"
    asked = script.done[1]
    script.commands.append(run(2))
    work(bench, 8)
    assert script.said() == "b2 r2 r2 f2"
    assert script.done[1] > asked + 5, "it is asked as before"
    here.append(True)
    work(bench, 8)
    assert script.sent[-1] == wire.JobFinished(1)


@pytest.mark.parametrize(("before", "steps"), [(0.0, 9), (0.5, 4)], ids=["at first", "goes on later"])
def test_a_job_has_its_time_and_no_more_where_it_goes_on_later(before: float, steps: int) -> None:
    """The steps that load models are not counted."""
    command = wire.Calibrate(1, REQUEST, seconds=before)
    script, stopped = Script(command), Script(command, stops={1: 3})
    work(script.bench(budget=0.85), 30)
    *_, has, failed = script.sent
    assert (has, script.done[1]) == (rounds(1), steps)
    assert isinstance(failed, wire.JobFailed)
    assert failed.message.startswith("This job had its 1 seconds")
    work(stopped.bench(budget=0.85), 30)
    assert stopped.sent[-1] == wire.JobStopped(1, pytest.approx(before + 0.3))


# ---- which jobs an engine begins

HUB, OTHER_HUB = (f"EleutherAI/pythia-{size}m" for size in (70, 14))  # neither ships with the app
NUMBERS = count(1)


def from_address(session: str, address: str = "") -> wire.JobCommand:
    sessions = Sessions()
    sessions.arrive(session, address)
    return replace(a_run(), owners=sessions.owners(session))


def a_run(target: str = "wren-base", prompt: str = "w", draft: str = "lookup") -> wire.Run:
    return wire.Run(next(NUMBERS), RunRequest(prompt, target, draft))


def a_race(target: str = "wren-base") -> wire.JobCommand:
    return wire.Race(next(NUMBERS), RunRequest("", target), [RacePrompt("a", "w")])


class Line:
    """A bench whose jobs begin and do nothing."""

    def __init__(self, *commands: wire.JobCommand, **options: Any) -> None:
        self.now, self.sent = 0.0, list[wire.Event]()
        self.bench = Bench(lambda _: iter([]), SimpleQueue(), self.sent.append, clock=lambda: self.now, **options)
        self.put(*commands)

    def put(self, *commands: wire.JobCommand) -> list[wire.JobCommand]:
        """The jobs that have begun, once these are in line too."""
        self.bench._line += map(AtWork, commands)
        for _ in range(1 + len(self.bench._line)):
            if gives := self.bench._begin_next():
                self.bench._end(gives, wire.JobStopped(gives.job))
        return [task.command for task in self.bench._line if task.steps]

    def shows(self, command: wire.JobCommand, shown: bool = True) -> None:
        next(task for task in self.bench._line if task.command is command).shown = shown

    def end(self, command: wire.JobCommand) -> list[wire.JobCommand]:
        self.bench._take_in(wire.Stop(command.job))
        return self.put()

    def given_way(self, after: float = 0.0) -> list[int]:
        self.now, self.sent[:] = self.now + after, []
        self.put()
        return [event.job for event in self.sent if isinstance(event, wire.JobStopped)]


def test_turns_go_to_networks_then_to_their_addresses_then_to_sessions() -> None:
    greedy = [from_address(f"tab {number}", "203.0.113.7") for number in range(3)]
    neighbour, stranger = from_address("bob", "203.0.113.9"), from_address("cleo", "198.51.100.1")
    again, unknown = from_address("cleo", "198.51.100.1"), from_address("dan")
    line, order = Line(*greedy, neighbour, stranger, again, unknown, room=0), list[wire.JobCommand]()
    while line.bench._line:
        order += line.put()
        line.end(order[-1])
    assert order == [greedy[0], stranger, unknown, neighbour, again, greedy[1], greedy[2]]
    assert address_block("203.0.113.7") == address_block("203.0.113.207") != address_block("203.0.112.7")
    assert address_block("2001:db8:1:2::") == address_block("2001:db8:1:f003::") != address_block("2001:db8:0:2::")
    assert address_block("") == ""


@pytest.mark.parametrize("jobs", [[a_run(prompt="w" * 100) for _ in range(150)], [a_race() for _ in range(30)]])
def test_a_class_with_runs_or_with_long_work_is_at_once_in_the_engine(jobs: list[wire.JobCommand]) -> None:
    """So each of them sees something soon: the engine begins what it has."""
    assert len(Line().put(*jobs, a_run())) == len(jobs) + 1


def test_what_waits_for_memory_is_not_overtaken_and_watched_jobs_go_before_long_ones() -> None:
    line, few, large, small, long = Line(room=4 * 64), [a_run(), a_run()], a_run(prompt="w" * 400), a_run(), a_race()
    assert line.put(*few) == few
    assert line.put(long, large, small) == few
    line.end(few[0])
    assert line.end(few[1]) == [large], "an engine that has nothing takes any job"
    assert line.end(large) == [small]
    assert line.end(small) == [long]
    assert AtWork(a_run(prompt="w" * 100_000)).tokens == 2 * 512 + 64, "no bundled model reads more"


def test_bundled_models_are_beside_everything_and_other_models_are_those_of_one_kind_of_job() -> None:
    """As in a class that asks one chat model: nobody waits for another's run, or for what measures its costs."""
    line, race, alike, bundled = Line(), a_race(HUB), [a_run(HUB), a_run(HUB)], [a_run(), a_race(), a_run(draft=HUB)]
    assert line.put(bundled[0], *alike, bundled[1]) == [bundled[0], *alike, bundled[1]]
    assert line.put(other := a_run(OTHER_HUB), late := a_run(HUB), *bundled[2:]) == [bundled[0], *alike, bundled[1]]
    assert AtWork(alike[0]).tokens > 3 * AtWork(a_run()).tokens, "its keys and values are larger"
    line.end(alike[0])
    assert other in line.end(alike[1])
    assert line.end(other)[-3:] == [bundled[1], late, bundled[2]]
    assert race in Line().put(bundled[2], race), "the same models, as a draft or a target"


def test_long_work_gives_its_place_once_it_got_on_to_what_does_not_fit_beside_it() -> None:
    """To a watched job at once, to a long one after a while. It is sent again then, and waits behind the other."""
    race, watched, other = a_race(HUB), a_run(OTHER_HUB), a_race(OTHER_HUB)
    line = Line(race, a_run())
    line.shows(race)
    assert line.given_way(2 * STAY) == [], "nobody waits"
    line.shows(race, False)
    line.put(watched)
    assert line.given_way(2 * STAY) == [], "it would lose all"
    line.shows(race)
    assert line.given_way() == [race.job]
    assert watched in line.put(race)
    line.end(watched)
    line.put(other)
    line.shows(race)
    assert line.given_way(STAY - 1) == []
    assert line.given_way(1) == [race.job]
    assert other in line.put(race)


def test_two_long_jobs_with_the_same_models_do_not_let_each_other_in_before_who_waits() -> None:
    races, watched = [a_race(HUB), a_race(HUB)], a_run(OTHER_HUB)
    line = Line(*races)
    for race in races:
        line.shows(race)
    line.bench._line.append(AtWork(watched))
    for race in races:
        gives = known(line.bench._begin_next())
        assert gives.command is race
        line.bench._line.remove(gives)
        line.bench._line.append(AtWork(race))
    assert line.put() == [watched]


def test_an_engine_for_several_servers_lets_jobs_in_that_are_not_seen_here() -> None:
    line = Line(sweep := a_race(), shared=True)
    assert line.given_way(STAY) == []
    line.shows(sweep)
    assert line.given_way() == [sweep.job]


def test_a_job_that_goes_on_later_keeps_what_it_found_and_a_run_begins_again() -> None:
    race, run = (Job(JobView(command.job), command) for command in (a_race(), a_run()))
    progress = wire.JobProgress(race.id, "timing", 8, repeat=3)
    race.view = replace(race.view, progress=progress)
    for job in (race, run):
        job.stop_sent = True
        job.wait_again(7.5)
        assert (job.view.state, job.stop_sent) == ("waiting", False)
    assert (race.view.progress, race.command.seconds, run.command.seconds) == (progress, 7.5, 0.0)


def test_there_is_one_engine_whatever_visitors_do_which_measures_the_first_screens_pair_before_anyone_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Any visitor can empty Streamlit's cache. Without those costs each visitor's page asks again and again."""
    asked = list[RunRequest]()
    monkeypatch.setattr(EngineService, "start", lambda _: None)
    monkeypatch.setattr(EngineService, "submit", lambda _, session, slot, make: asked.append(make(1).request))
    start_engine.cache_clear()
    start_engine()
    before, first = engine(), known(first_trace())
    st.cache_resource.clear()
    start_engine()
    assert engine() is before
    assert [(each.target, each.draft) for each in asked] == [(first.target.name, known(first.drafter).name)]
    engine().close()
    for made in (engine, start_engine):
        made.cache_clear()


FORMS = ("local", "auto", "10.0.0.5:6379", "head.cluster.example:6379", "[fe80::1]:6379", "ray://head:10001")
NO_FORMS = [
    *("", " ", "Local", "head", "head:", ":6379", "head:0", "head:65536", "head:1234567", "head:port", "head:٣"),
    *("http://head:6379", "ray://", "ray://head", "ray://ray://head:1", "head:6379/", "a b:6379", "head:6379\n"),
    "x" * 10_000,
]


def test_an_address_of_a_cluster_is_read_and_anything_else_is_one_sentence_that_names_the_forms() -> None:
    assert [parse_ray_address(form) for form in FORMS] == [*FORMS]
    for text in NO_FORMS:
        said = refusal(partial(parse_ray_address, text))
        assert re.search(r"local.*auto.*HOST:PORT.*ray://HOST:PORT", said)
        assert len(said) < 500, "it does not fill the screen"
