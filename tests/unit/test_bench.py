"""The engine's jobs at work, without models: in turn, stopped and failed."""

from collections.abc import Generator
from itertools import count

import pytest

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.trace import Output
from specviz.service.bench import BROKE, NO_MEMORY, Bench
from specviz.service.budget import BudgetSpent
from specviz.service.protocol import (
    Calibrate,
    Comparing,
    Event,
    Failed,
    Finished,
    JobCommand,
    JobEvent,
    Loading,
    Rounds,
    Run,
    Started,
    Stopped,
)
from specviz.service.turns import whose_turn

REQUEST = RunRequest("")


def rounds(job: int) -> Rounds:
    return Rounds(job, [], Output([], "", None))


class Script:
    """Stands in for the handlers and for what the server sends: commands, and Stops after so many steps of a job."""

    def __init__(self, *commands: JobCommand, stop_after: dict[int, int] | None = None) -> None:
        self.commands = list(commands)
        self.stop_after = stop_after or {}
        self.done: dict[int, int] = {}
        self.error: Exception | None = None

    def next(self, wait: bool) -> JobCommand | None:
        return self.commands.pop(0) if self.commands else None

    def stopped(self, job: int) -> bool:
        return job in self.stop_after and self.done.get(job, 0) >= self.stop_after[job]

    def steps(self, command: JobCommand) -> Generator[JobEvent | None]:
        """Something on the way, two messages of rounds, the end."""
        job = command.job
        for number, event in enumerate([Comparing(job, 1), rounds(job), None, rounds(job), Finished(job)], start=1):
            self.done[job] = number
            yield event
        if self.error:
            raise self.error


def sent_by(script: Script) -> list[Event]:
    sent: list[Event] = []
    bench = Bench(script.steps, script, sent.append)
    for _ in range(40):
        bench.work()
    return sent


def test_one_run_goes_to_its_end() -> None:
    assert sent_by(Script(Run(5, REQUEST))) == [Comparing(5, 1), rounds(5), rounds(5), Finished(5)]


def test_a_class_sees_its_first_rounds_before_any_run_goes_on() -> None:
    sent = sent_by(Script(Run(1, REQUEST), Run(2, REQUEST), Run(3, REQUEST)))
    first = [Comparing(1, 1), rounds(1), Comparing(2, 1), rounds(2), Comparing(3, 1), rounds(3)]
    rest = [rounds(1), Finished(1), rounds(2), Finished(2), rounds(3), Finished(3)]
    assert sent == first + rest, "then the oldest goes on to its end"


def test_any_job_is_stopped_at_once_also_one_that_waits_for_its_turn() -> None:
    script = Script(Run(1, REQUEST), Run(2, REQUEST), stop_after={2: 2})
    sent = sent_by(script)
    assert sent.index(Stopped(2)) < sent.index(Finished(1))
    assert Finished(2) not in sent
    assert sent_by(Script(Calibrate(5, REQUEST), stop_after={5: 4})) == [Comparing(5, 1), rounds(5), Stopped(5)]


@pytest.mark.parametrize(("runs", "times"), [(1, 0), (3, 0), (5, 1)])
def test_only_after_a_crowd_memory_is_given_back_and_only_once(runs: int, times: int) -> None:
    script, given_back = Script(*(Run(number, REQUEST) for number in range(runs))), []
    bench = Bench(script.steps, script, lambda event: None, lambda: given_back.append(True))
    for _ in range(60):
        bench.work()
    assert len(given_back) == times


@pytest.mark.parametrize(
    ("error", "message"),
    [(InputError("Too long."), "Too long."), (MemoryError(), NO_MEMORY), (RuntimeError("secret"), BROKE)],
)
def test_a_jobs_failure_is_one_sentence_and_the_others_go_on(
    error: Exception, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(Run(1, REQUEST), Run(2, REQUEST))
    script.error = error
    sent = sent_by(script)
    assert [event for event in sent if isinstance(event, Failed)] == [Failed(1, message), Failed(2, message)]
    assert ("secret" in capsys.readouterr().err) == (message == BROKE)  # what nobody foresaw is logged


# ---- long jobs


def whose_turns(watched: list[str], long: list[str], seconds: float) -> str:
    """Who works at each tenth of a second."""
    return "".join(whose_turn(watched, long, tenth / 10) for tenth in range(round(seconds * 10)))


def test_alone_a_job_has_all_the_time() -> None:
    assert set(whose_turns(["w"], [], 4)) == {"w"}
    assert set(whose_turns([], ["a"], 4)) == {"a"}


def test_while_visitors_watch_long_jobs_have_a_quarter_of_the_time_and_nobody_waits_two_seconds() -> None:
    turns = whose_turns(["w", "x"], ["a"], 40)
    assert turns.count("a") == 100
    assert "x" not in turns, "the oldest goes on to its end"
    assert max(map(len, turns.split("w"))) <= 5, "half a second"
    assert max(map(len, turns.split("a"))) <= 15


@pytest.mark.parametrize("watched", [[], ["w"]])
@pytest.mark.parametrize("long", ["ab", "abc", "abcd"])
def test_long_jobs_have_equal_shares(watched: list[str], long: str) -> None:
    turns = whose_turns(watched, list(long), 4 * len(long))
    assert len({turns.count(job) for job in long}) == 1


class Clock:
    """One second at each look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Endless(Script):
    """A long job yields None for ever; all others are as before."""

    def steps(self, command: JobCommand) -> Generator[JobEvent | None]:
        if isinstance(command, Run):
            yield from super().steps(command)
            return
        yield Loading(command.job, "wren-base")
        yield None
        yield Started(command.job)
        try:
            for number in count():
                self.done[command.job] = number
                yield None
        except BudgetSpent:
            yield rounds(command.job)
            raise


def test_a_watched_run_comes_at_once_while_a_long_job_is_paused_and_goes_on() -> None:
    script, sent = Endless(Calibrate(1, REQUEST)), []
    bench = Bench(script.steps, script, sent.append, clock=lambda: 0.0)
    for _ in range(20):
        bench.work()
    before = script.done[1]
    script.commands.append(Run(2, REQUEST))
    bench.work()
    assert sent[2:] == [Comparing(2, 1), rounds(2)], "its first rounds, at once"
    for _ in range(20):
        bench.work()
    assert sent[4:6] == [rounds(2), Finished(2)]
    assert script.done[1] > before, "nothing is begun again"


def test_a_job_whose_time_is_over_sends_what_it_has_and_ends_with_a_sentence() -> None:
    script, sent = Endless(Calibrate(1, REQUEST)), []
    bench = Bench(script.steps, script, sent.append, budget=9, clock=Clock())
    for _ in range(30):
        bench.work()
    *_, has, failed = sent
    assert has == rounds(1)
    assert isinstance(failed, Failed)
    assert failed.message.startswith("This server gives one job 9 seconds, and they are over")
    assert script.done[1] == 7, "one second a step, without the two that load models"


def test_a_job_that_gives_way_again_and_again_has_no_more_time_than_others() -> None:
    script, sent = Endless(), []
    bench = Bench(script.steps, script, sent.append, budget=9, clock=Clock())
    for _ in range(6):
        script.commands.append(Calibrate(1, REQUEST))
        script.stop_after = {}
        for _ in range(6):
            bench.work()
        script.stop_after = {1: 0}
        bench.work()
    assert any(isinstance(event, Failed) for event in sent)
