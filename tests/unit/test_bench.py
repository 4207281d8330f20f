"""The engine's jobs at work, without models; the server's one service; the address of a cluster."""

import re
from collections.abc import Generator
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
    """Stands in for the handlers and for what the server sends: commands, and a Stop after so many steps of a job.

    Runs have six steps, or `endless` ones; all other jobs are at work for ever, a step each tenth of a second.
    """

    def __init__(self, *commands: wire.JobCommand, endless: bool = False, **stop_after: int) -> None:
        self.commands, self.endless = list(commands), endless
        self.stop_after = {int(job.removeprefix("job_")): steps for job, steps in stop_after.items()}
        self.done: dict[int, int] = {}
        self.error: Exception | None = None
        self.patience: list[float | None] = []
        self.now, self.worked, self.sent = 0.0, "", list[wire.Event]()

    def bench(self, **options: Any) -> Bench:
        return Bench(self.steps, self, self.sent.append, **{"clock": lambda: self.now} | options)

    def get(self, timeout: float | None) -> wire.JobCommand | wire.Stop:
        self.patience.append(timeout)
        if stop := next((job for job, steps in self.stop_after.items() if self.done.get(job, 0) >= steps), None):
            del self.stop_after[stop]
            return wire.Stop(stop)
        if self.commands:
            return self.commands.pop(0)
        raise Empty

    def steps(self, command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        return self._short(command.job) if isinstance(command, wire.Run) and not self.endless else self._long(command)

    def _short(self, job: int) -> Generator[wire.JobEvent | None]:
        """Something on the way, two messages of rounds, the end."""
        parts = [wire.RunStarted(job), rounds(job), None, rounds(job), self.error or wire.JobFinished(job)]
        for number, event in enumerate(parts, start=1):
            self.done[job] = number
            if isinstance(event, Exception):
                raise event
            yield event

    def _long(self, command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        job = command.job
        yield rounds(job) if isinstance(command, wire.Run) else wire.Loading(job, "wren-base")
        yield None
        yield wire.RunStarted(job)
        try:
            for number in count(1):
                self.done[job] = number
                self.now, self.worked = self.now + 0.1, self.worked + str(job)
                yield None
        except BudgetSpent:
            yield rounds(job)
            raise

    def said(self) -> str:
        """A letter and the job of each message, without a word of jobs that are only alive."""
        return " ".join(f"{MARKS[type(event)]}{event.job}" for event in self.sent if type(event) in MARKS)  # type: ignore[attr-defined]


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
    "a run is stopped while it waits": (Script(run(1), run(2), job_2=2), "b1 r1 b2 r2 s2 r1 f1"),
    "a run is stopped at work": (Script(run(5), job_5=3), "b5 r5 s5"),
    "too late: a job has one last word": (Script(run(5), job_5=5), "b5 r5 r5 f5"),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_jobs_have_their_turns(name: str) -> None:
    script, order = ORDERS[name]
    work(script.bench(), 60)
    assert script.said() == order


def test_a_handler_that_ends_without_a_last_word_leaves_nobody_waiting() -> None:
    """Found: the server waited for that word for ever, and the visitor with it."""

    def nothing(command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        yield None

    sent = list[wire.Event]()
    work(Bench(nothing, Script(run(1)), sent.append, clock=lambda: 0.0), 4)
    assert sent[-1] == wire.JobFailed(1, say("broken"))


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
    for runs, times in ((1, 0), (3, 0), (5, 1)):
        given_back: list[bool] = []
        work(Script(*map(run, range(runs))).bench(after_crowd=partial(given_back.append, True)), 60)
        assert len(given_back) == times


@pytest.mark.parametrize("error", [InputError("Too long."), MemoryError(), RuntimeError("secret")], ids=repr)
def test_a_jobs_failure_is_one_sentence_and_the_others_go_on(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(run(1), run(2))
    script.error = error
    work(script.bench(), 60)
    message = {"InputError": "Too long.", "MemoryError": say("no_memory")}.get(type(error).__name__, say("broken"))
    failed = [event for event in script.sent if isinstance(event, wire.JobFailed)]
    assert failed == [wire.JobFailed(job, message) for job in (1, 2)]
    assert ("secret" in capsys.readouterr().err) == (message == say("broken"))  # what nobody foresaw is logged


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


def at_work(script: Script, seconds: float) -> str:
    """The numbers of the jobs that were at work, one for each tenth of a second."""
    bench = script.bench()
    while script.now < seconds:
        bench.work()
    return script.worked


def share(turns: str, jobs: str) -> float:
    return sum(map(turns.count, jobs)) / len(turns)


def longest_turn(turns: str, jobs: str) -> int:
    return max(map(len, re.findall(f"[{jobs}]+", turns)))


def test_long_jobs_beside_watched_ones_have_a_share_of_each_two_seconds() -> None:
    turns = at_work(Script(*long_of(1), run(5), endless=True), 40)
    assert share(turns, "1") == pytest.approx(LONG_SHARE / CYCLE, abs=0.05)
    assert longest_turn(turns, "1") <= 6, "tenths of a second"
    assert longest_turn(turns, "5") <= 16


ONE_OWNER = [replace(command, owners=(1, 1, 1)) for command in long_of(1, 2)]


@pytest.mark.parametrize("watched", [[], [run(9)]], ids=["alone", "beside a run"])
@pytest.mark.parametrize(("jobs", "part"), [(long_of(1, 2, 3), 1 / 3), ([*ONE_OWNER, *long_of(3)], 1 / 2)])
def test_long_jobs_have_equal_shares_in_turns_and_no_owner_more_than_another(
    jobs: list[wire.JobCommand], part: float, watched: list[wire.JobCommand]
) -> None:
    turns = at_work(Script(*jobs, *watched, endless=True), 480 if watched else 120).replace("9", "")
    assert share(turns, "3") == pytest.approx(part, abs=10 * TURN / len(turns))
    assert longest_turn(turns, "3") <= 10 * TURN + 1


def test_a_run_of_a_large_model_keeps_no_other_waiting_for_more_than_a_turn() -> None:
    turns = at_work(Script(run(5), run(6), endless=True), 40)
    assert max(longest_turn(turns, job) for job in "56") <= 10 * TURN + 1
    assert share(turns, "5") == pytest.approx(1 / 2, abs=10 * TURN / len(turns))


def test_first_rounds_come_at_once_beside_thirty_long_jobs() -> None:
    script = Script(*long_of(*range(30)))
    bench = script.bench()
    while script.now < 10:
        bench.work()
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
            script.done[1] = script.done.get(1, 0) + 1
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
    script, stopped = Script(command), Script(command, job_1=3)
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


def from_address(session: str, address: str = "", prompt: str = "w") -> wire.JobCommand:
    sessions = Sessions()
    sessions.arrive(session, address)
    return wire.Run(next(NUMBERS), RunRequest(prompt), owners=sessions.owners(session))


def a_run(target: str = "wren-base", prompt: str = "w", draft: str = "lookup") -> wire.Run:
    return wire.Run(next(NUMBERS), RunRequest(prompt, target, draft))


def a_race(target: str = "wren-base") -> wire.JobCommand:
    return wire.Race(next(NUMBERS), RunRequest("", target), [RacePrompt("a", "w")])


class Line:
    """A bench whose jobs begin and do nothing."""

    def __init__(self, **options: Any) -> None:
        self.now, self.sent = 0.0, list[wire.Event]()
        self.bench = Bench(self.steps, SimpleQueue(), self.sent.append, clock=lambda: self.now, **options)

    def steps(self, command: wire.JobCommand) -> Generator[None]:
        yield from (None for _ in count())

    def put(self, *commands: wire.JobCommand) -> list[wire.JobCommand]:
        """The jobs that have begun, once these are in line too."""
        self.bench._line += map(AtWork, commands)
        for _ in range(1 + len(self.bench._line)):
            if gives := self.bench._begin_next():
                self.bench._end(gives, wire.JobStopped(gives.job))
        return [task.command for task in self.bench._line if task.steps]

    def of(self, command: wire.JobCommand) -> AtWork:
        return next(task for task in self.bench._line if task.command is command)

    def end(self, command: wire.JobCommand) -> list[wire.JobCommand]:
        self.bench._end(self.of(command), wire.JobFinished(command.job))
        return self.put()

    def given_way(self, after: float = 0.0) -> list[int]:
        self.now, self.sent[:] = self.now + after, []
        self.put()
        return [event.job for event in self.sent if isinstance(event, wire.JobStopped)]


def test_turns_go_to_networks_then_to_their_addresses_then_to_sessions() -> None:
    greedy = [from_address(f"tab {number}", "203.0.113.7") for number in range(3)]
    neighbour, stranger = from_address("bob", "203.0.113.9"), from_address("cleo", "198.51.100.1")
    again, unknown = from_address("cleo", "198.51.100.1"), from_address("dan")
    line = Line(room=0)
    line.put(*greedy, neighbour, stranger, again, unknown)
    order = []
    while line.bench._line:
        (first,) = line.put()
        order.append(first)
        line.end(first)
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
    line, race, watched, other = Line(), a_race(HUB), a_run(OTHER_HUB), a_race(OTHER_HUB)
    line.put(race, a_run())
    line.of(race).shown = True
    assert line.given_way(2 * STAY) == [], "nobody waits"
    line.of(race).shown = False
    line.put(watched)
    assert line.given_way(2 * STAY) == [], "it would lose all"
    line.of(race).shown = True
    assert line.given_way() == [race.job]
    assert watched in line.put(race)
    line.end(watched)
    line.put(other)
    line.of(race).shown = True
    assert line.given_way(STAY - 1) == []
    assert line.given_way(1) == [race.job]
    assert other in line.put(race)


def test_two_long_jobs_with_the_same_models_do_not_let_each_other_in_before_who_waits() -> None:
    line, races, watched = Line(), [a_race(HUB), a_race(HUB)], a_run(OTHER_HUB)
    line.put(*races)
    for race in races:
        line.of(race).shown = True
    line.bench._line.append(AtWork(watched))
    gives = known(line.bench._begin_next())
    line.bench._line.remove(gives)
    line.bench._line.append(AtWork(gives.command))
    assert known(line.bench._begin_next()).command is races[1]
    assert line.put() == [watched]


def test_an_engine_for_several_servers_lets_jobs_in_that_are_not_seen_here() -> None:
    line, sweep = Line(shared=True), a_race()
    line.put(sweep)
    assert line.given_way(STAY) == []
    line.of(sweep).shown = True
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


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "Local", "head", "head:", ":6379", "head:0", "head:65536", "head:1234567", "head:port"),
        *("http://head:6379", "ray://", "ray://head", "ray://ray://head:1", "head:6379/", "a b:6379", "head:6379\n"),
        *("head:٣", "x" * 10_000),
    ],
)
def test_an_address_of_a_cluster_is_read_and_anything_else_is_one_sentence_that_names_the_forms(text: str) -> None:
    for form in ("local", "auto", "10.0.0.5:6379", "head.cluster.example:6379", "[fe80::1]:6379", "ray://head:10001"):
        assert parse_ray_address(form) == form
    with pytest.raises(InputError, match=r"local.*auto.*HOST:PORT.*ray://HOST:PORT") as error:
        parse_ray_address(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500, "it does not fill the screen"
