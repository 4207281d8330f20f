"""The engine's jobs at work, without models; the server's one service; the address of a cluster."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, pairwise, product
from threading import Barrier

import pytest
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.ray_address import parse_ray_address
from specviz.core.request import RunRequest
from specviz.core.trace import Output
from specviz.data.measured.first_run import first_trace
from specviz.service import EngineService
from specviz.service import protocol as wire
from specviz.service.bench import BROKE, NO_MEMORY, SILENT, Bench, choose_job
from specviz.service.engine import Mailbox
from specviz.service.limits import BudgetSpent
from specviz.ui.shared.engine import _start, end_engine, engine, start_engine
from tests.support.known import known

REQUEST = RunRequest("")


def rounds(job: int) -> wire.Rounds:
    return wire.Rounds(job, [], Output([], "", None))


class Script:
    """Stands in for the handlers and for what the server sends: commands, and Stops after so many steps of a job."""

    def __init__(self, *commands: wire.JobCommand, stop_after: dict[int, int] | None = None) -> None:
        self.commands = list(commands)
        self.stop_after = stop_after or {}
        self.done: dict[int, int] = {}
        self.error: Exception | None = None

    def next(self, wait: bool) -> wire.JobCommand | None:
        return self.commands.pop(0) if self.commands else None

    def stopped(self, job: int) -> bool:
        return job in self.stop_after and self.done.get(job, 0) >= self.stop_after[job]

    def forget(self, job: int) -> None:
        """The mailbox does; here nothing asks again."""

    def steps(self, command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        """Something on the way, two messages of rounds, the end."""
        job = command.job
        for number, event in enumerate(
            [wire.EngineAlive(job), rounds(job), None, rounds(job), wire.JobFinished(job)], start=1
        ):
            self.done[job] = number
            yield event
        if self.error:
            raise self.error


def sent_by(script: Script, after_crowd: Callable[[], object] = lambda: None) -> list[wire.Event]:
    sent: list[wire.Event] = []
    work(Bench(script.steps, script, sent.append, after_crowd), 60)
    return sent


def work(bench: Bench, times: int) -> None:
    for _ in range(times):
        bench.work()


def test_runs_go_to_their_end_and_a_class_sees_its_first_rounds_before_any_goes_on() -> None:
    assert sent_by(Script(wire.Run(5, REQUEST))) == [
        wire.EngineAlive(5),
        rounds(5),
        rounds(5),
        wire.JobFinished(5),
    ]
    sent = sent_by(Script(wire.Run(1, REQUEST), wire.Run(2, REQUEST), wire.Run(3, REQUEST)))
    first = [wire.EngineAlive(1), rounds(1), wire.EngineAlive(2), rounds(2), wire.EngineAlive(3), rounds(3)]
    rest = [rounds(1), wire.JobFinished(1), rounds(2), wire.JobFinished(2), rounds(3), wire.JobFinished(3)]
    assert sent == first + rest, "then the oldest goes on to its end"


def test_any_job_is_stopped_at_once_also_one_that_waits_for_its_turn() -> None:
    sent = sent_by(Script(wire.Run(1, REQUEST), wire.Run(2, REQUEST), stop_after={2: 2}))
    assert sent.index(wire.JobStopped(2)) < sent.index(wire.JobFinished(1))
    assert wire.JobFinished(2) not in sent
    assert sent_by(Script(wire.Calibrate(5, REQUEST), stop_after={5: 4})) == [
        wire.EngineAlive(5),
        rounds(5),
        wire.JobStopped(5),
    ]


def test_only_after_a_crowd_memory_is_given_back_and_only_once() -> None:
    for runs, times in ((1, 0), (3, 0), (5, 1)):
        given_back: list[bool] = []
        sent_by(Script(*(wire.Run(number, REQUEST) for number in range(runs))), partial(given_back.append, True))
        assert len(given_back) == times


def test_a_jobs_failure_is_one_sentence_and_the_others_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    errors = {"Too long.": InputError("Too long."), NO_MEMORY: MemoryError(), BROKE: RuntimeError("secret")}
    for message, error in errors.items():
        script = Script(wire.Run(1, REQUEST), wire.Run(2, REQUEST))
        script.error = error
        failed = [event for event in sent_by(script) if isinstance(event, wire.JobFailed)]
        assert failed == [wire.JobFailed(job, message) for job in (1, 2)]
        assert ("secret" in capsys.readouterr().err) == (message == BROKE)  # what nobody foresaw is logged


def test_an_engine_at_work_is_never_silent_for_long_whatever_its_jobs_have_to_say() -> None:
    """Before: a race, a sweep and a calibration sent nothing for minutes, and the engine was ended for that."""
    ticks, times = count(), list[float]()

    def now() -> float:
        return next(ticks) * SILENT / 8  # a step looks at the clock a few times

    script = Endless(wire.Calibrate(5, REQUEST), wire.Calibrate(6, REQUEST))
    work(Bench(script.steps, script, lambda _: times.append(now()), clock=now), 400)
    pauses = [later - sooner for sooner, later in pairwise(times)]
    assert len(pauses) > 50
    assert max(pauses) < 2 * SILENT
    assert min(pauses[10:]) > SILENT / 2, "and says no more than it has to"


def whose_turns(watched: list[str], long: list[str], seconds: float) -> str:
    """Who works at each tenth of a second."""
    return "".join(choose_job(watched, long, tenth / 10) for tenth in range(round(seconds * 10)))


def test_alone_a_job_has_all_the_time_and_beside_visitors_a_quarter() -> None:
    assert set(whose_turns(["w"], [], 4)) == {"w"}
    assert set(whose_turns([], ["a"], 4)) == {"a"}
    turns = whose_turns(["w", "x"], ["a"], 40)
    assert turns.count("a") == 100
    assert "x" not in turns, "the oldest goes on to its end"
    assert max(map(len, turns.split("w"))) <= 5, "half a second"
    assert max(map(len, turns.split("a"))) <= 15
    for visitors, long in product(([], ["w"]), ("ab", "abc", "abcd")):
        turns = whose_turns(visitors, list(long), 4 * len(long))
        assert len({turns.count(job) for job in long}) == 1, "long jobs have equal shares"


class Endless(Script):
    """A long job yields None for ever; all others are as before."""

    def steps(self, command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
        if isinstance(command, wire.Run):
            yield from super().steps(command)
            return
        yield wire.Loading(command.job, "wren-base")
        yield None
        yield wire.RunStarted(command.job)
        try:
            for number in count():
                self.done[command.job] = number
                yield None
        except BudgetSpent:
            yield rounds(command.job)
            raise


def test_a_watched_run_comes_at_once_while_a_long_job_is_paused_and_goes_on() -> None:
    script, sent = Endless(wire.Calibrate(1, REQUEST)), []
    bench = Bench(script.steps, script, sent.append, clock=lambda: 0.0)
    work(bench, 20)
    before = script.done[1]
    script.commands.append(wire.Run(2, REQUEST))
    bench.work()
    assert sent[2:] == [wire.EngineAlive(2), rounds(2)], "its first rounds, at once"
    work(bench, 20)
    assert sent[4:6] == [rounds(2), wire.JobFinished(2)]
    assert script.done[1] > before, "nothing is begun again"


def test_jobs_that_give_way_have_no_more_time_than_others() -> None:
    script, sent = Endless(wire.Calibrate(1, REQUEST)), []
    each_second = partial(next, count(1.0))
    work(Bench(script.steps, script, sent.append, budget=9, clock=each_second), 30)
    *_, has, failed = sent
    assert has == rounds(1)
    assert isinstance(failed, wire.JobFailed)
    assert failed.message.startswith("This server gives one job 9 seconds, and they are over")
    assert script.done[1] == 7, "one second a step, without the two that load models"
    script, sent = Endless(), []
    bench = Bench(script.steps, script, sent.append, budget=9, clock=each_second)
    for _ in range(6):
        script.commands.append(wire.Calibrate(1, REQUEST))
        script.stop_after = {}
        work(bench, 6)
        script.stop_after = {1: 0}
        bench.work()
    assert any(isinstance(event, wire.JobFailed) for event in sent)


def test_a_mailbox_remembers_only_jobs_that_are_wanted() -> None:
    """Found: it kept the number of every cancelled job for ever."""
    mailbox, sent = Mailbox(), list[wire.Event]()
    bench = Bench(Script().steps, mailbox, sent.append)
    for number in range(5):
        mailbox.receive(wire.dump_command(wire.Run(number, REQUEST)))
        assert not mailbox.stopped(number)
        if number % 2:
            mailbox.receive(wire.dump_command(wire.Stop(number)))
        work(bench, 1 if number % 2 else 5)  # its first two steps are one
        mailbox.receive(wire.dump_command(wire.Stop(number)))  # late: it is over
    assert [event.job for event in sent if isinstance(event, wire.JobStopped)] == [1, 3]
    assert mailbox._wanted == set()
    for command in (wire.Calibrate(6, REQUEST), wire.Stop(6), wire.Calibrate(6, REQUEST)):
        mailbox.receive(wire.dump_command(command))
        bench.work()
    assert sent[-1] == wire.JobStopped(6)
    work(bench, 6)
    assert sent[-1] == wire.JobFinished(6), "a number may come again"


def test_there_is_one_engine_whatever_visitors_do() -> None:
    """Any visitor can ask the server for that, in one message."""
    before = engine()
    st.cache_resource.clear()
    assert engine() is before
    end_engine()
    together = Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: (together.wait(), id(engine()))[1], range(8)))
    assert len(found) == 1
    end_engine()


def test_the_pair_of_the_first_screen_is_measured_before_anyone_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its figures wait, and each visitor's page asks again and again."""
    asked = []
    monkeypatch.setattr(EngineService, "start", lambda _: None)
    monkeypatch.setattr(EngineService, "submit", lambda _, session, slot, make: asked.append(make(1).request))
    _start.cache_clear()
    start_engine()
    start_engine()
    first = known(first_trace())
    assert first.drafter is not None
    assert [(each.target, each.draft) for each in asked] == [(first.target.name, first.drafter.name)]
    _start.cache_clear()
    end_engine()


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
