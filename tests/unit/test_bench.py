"""The engine's jobs at work, without models: in turn, stopped and failed."""

from collections.abc import Callable, Iterator

import pytest

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.trace import Output
from specviz.service.bench import BROKE, NO_MEMORY, Bench
from specviz.service.protocol import (
    Calibrate,
    Comparing,
    Event,
    Failed,
    Finished,
    JobCommand,
    JobEvent,
    Rounds,
    Run,
    Stopped,
)

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

    def steps(self, command: JobCommand, stopped: Callable[[], bool]) -> Iterator[JobEvent | None]:
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
