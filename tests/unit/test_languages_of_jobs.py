"""What is said of a job, of an opened file and in a game is in the language of who asked, whoever's thread says it."""

from collections.abc import Generator, Iterator
from queue import SimpleQueue
from threading import Thread

import pytest
import yaml

from specviz.core import texts
from specviz.core.errors import InputError
from specviz.core.languages import ENGLISH, Entry, current_language, set_language
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, RunRequest
from specviz.core.texts import places
from specviz.core.trace import Output
from specviz.service import protocol as wire
from specviz.service.bench import Bench
from specviz.service.job import Job, JobView
from specviz.service.service import EngineService, say

ONE, OTHER = "gl", "eu"  # no languages of the app: nothing else reads their texts
REQUEST = RunRequest("Once", DEFAULT_TARGET, DEFAULT_DRAFT)


@pytest.fixture(autouse=True)
def translated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each text has its language before it."""

    def mark(node: yaml.Node | None, _: object) -> None:
        for _, text in places(node):
            text.value = f"{current_language()}: {text.value}"

    monkeypatch.setattr(texts, "translation", lambda folder, name, code: {"": Entry("", "")})
    monkeypatch.setattr(texts, "translate", mark)
    yield
    set_language(ENGLISH)


DIED = "The engine stopped twice while decoding this; run again."


def steps(command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
    """Another job has its turn before this one fails."""
    yield wire.RunStarted(command.job)
    yield wire.Rounds(command.job, [], Output([], "", None))
    raise InputError(say("died"))


def test_the_engine_says_why_a_job_failed_in_the_language_of_who_asked() -> None:
    orders, sent = SimpleQueue[wire.JobCommand | wire.Stop](), list[wire.Event]()
    for number, code in enumerate((ONE, OTHER, ENGLISH)):
        orders.put(wire.parse_command(wire.dump_command(wire.Run(number, REQUEST, language=code))))
    bench = Bench(steps, orders, sent.append)
    for _ in range(40):
        if len([event for event in sent if isinstance(event, wire.JobFailed)]) < 3:
            bench.work()
    failed = {event.job: event.message for event in sent if isinstance(event, wire.JobFailed)}
    assert failed == {0: f"{ONE}: {DIED}", 1: f"{OTHER}: {DIED}", 2: DIED}


def test_the_servers_threads_speak_the_language_of_a_job() -> None:
    """tests/tiny/test_handlers.py has the engine's."""
    set_language(ONE)
    job = Job(JobView(1), wire.Run(1, REQUEST, language=OTHER))
    fleet = Thread(target=job.fail, args=(lambda: say("died"),))
    fleet.start()
    fleet.join()
    assert (job.view.message, say("died")) == (f"{OTHER}: {DIED}", f"{ONE}: {DIED}")


def test_visitors_of_two_languages_share_no_job_and_each_reads_what_the_service_says() -> None:
    service = EngineService()  # not started: all jobs wait
    jobs = []
    for code in (ONE, ONE, OTHER):
        set_language(code)
        jobs.append(service.submit(f"visitor {len(jobs)}", "run", lambda number: wire.Run(number, REQUEST)))
    assert [service.view(job).place for job in jobs] == [1, 1, 2]
    assert service.view(jobs[0]).message.startswith(f"{OTHER}: The engine is starting")
    set_language(ENGLISH)
    assert service.view(0).message == "This run has expired."
