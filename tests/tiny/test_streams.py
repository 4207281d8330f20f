"""Engines behind a URL, against what replays their lines: lost streams, a wrong token, pauses, cancelling.

`tests/cluster/test_serve_engines.py` has the same with real engines on Ray Serve.
"""

import logging
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from httpx2 import AsyncClient

from specviz.service import EngineService, ServiceLimits
from specviz.service.service import say, service_wanted
from specviz.service.stream import CONNECT, EngineAddress, StreamEngine
from tests.support.known import known
from tests.support.services import PATIENCE, begun, run, run_of, sweep_of, until, until_state
from tests.support.streams import TOKEN, Engines

FAST = ServiceLimits(deaths=6)

Serve = Callable[..., EngineService]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Engines:
    """Engines behind a URL."""
    engines = Engines()
    monkeypatch.setattr("specviz.service.stream.AsyncClient", partial(AsyncClient, transport=engines))
    return engines


@pytest.fixture
def serve(server: Engines) -> Iterator[Serve]:
    """Makes app servers' services whose engines are behind the server's URL."""
    made: list[EngineService] = []

    def make(limits: ServiceLimits = FAST, token: str = TOKEN, streams: int = 1) -> EngineService:
        where = EngineAddress("http://engines.example", token, PATIENCE, greetings=2, pause=0.01)
        made.append(EngineService(partial(StreamEngine, where), limits, engines=streams))
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        service.close()


@pytest.mark.parametrize(
    ("order", "asked", "rounds", "lost"),
    [
        ("rounds 3", 1, 3, ""),
        ("closing", 1, 1, ""),
        ("once", 2, 1, ""),
        ("busy 4", 5, 1, ""),
        ("break", 2, 1, "died"),
        ("large", 2, 0, "died"),
    ],
)
def test_a_stream_that_ends_is_tried_again_once_and_one_that_is_refused_as_often_as_needed(
    serve: Serve, server: Engines, caplog: pytest.LogCaptureFixture, order: str, asked: int, rounds: int, lost: str
) -> None:
    """Found: while engines started again behind a proxy, its second 503 failed a run within 20 ms."""
    service = serve(ServiceLimits(deaths=1))  # no lost stream is one
    view = until_state(service, run(service, "ada", order), "failed" if lost else "done")
    assert (view.rounds, view.message) == (rounds, say(lost) if lost else ""), "what it found stays"
    assert lost or run_of(view).plain_text == "plain \u2028 text", "a text's line ends end no line"
    assert server.asked == [order] * asked
    assert lost or caplog.text.count("The stream of job") == asked - 1
    assert "no event: 'noise'" in caplog.text or order == "large"
    until(service, lambda: service._fleet.ready)


@pytest.mark.parametrize(
    ("token", "greeting", "says"),
    [("another", b"", "they refuse the token"), (TOKEN, b"<html>", "their answer is no event")],
)
def test_a_wrong_token_or_place_lets_nobody_in_and_the_log_says_so(
    serve: Serve, server: Engines, caplog: pytest.LogCaptureFixture, token: str, greeting: bytes, says: str
) -> None:
    server.greeting = greeting
    service = serve(token=token)
    view = until_state(service, run(service, "ada", "rounds 1"), "failed")
    assert view.message == say("keeps_dying")
    assert says in caplog.text


def test_so_long_a_stream_may_be_silent() -> None:
    client = EngineAddress("http://engines.example", TOKEN, silence=7.0).client()
    assert (client.timeout.read, client.timeout.connect) == (7.0, CONNECT)


def test_cancelling_closes_the_stream_and_another_job_has_it(serve: Serve, server: Engines) -> None:
    service = serve()
    job = run(service, "ada", "hold")
    begun(service, job)
    service.cancel("ada", "run")
    assert (service.view(job).state, service.view(job).rounds) == ("cancelled", 1)
    until_state(service, run(service, "bob", "rounds 1"), "done")
    until(service, lambda: server.left == ["hold"])


def test_a_job_that_no_engine_takes_costs_no_life(serve: Serve) -> None:
    """Found: one refused connection ended every stream, and the run that was heard last was blamed."""
    service = serve(streams=2)
    held = run(service, "ada", "hold")
    begun(service, held)
    refused = run(service, "bob", "refused 2")
    assert until_state(service, refused, "done").beside == 1, "another engine was busy with a job of this visitor"
    jobs = [known(service._sessions.ticket(number)).job for number in (held, refused)]
    assert [(job.view.state, job.view.rounds, job.deaths) for job in jobs] == [("running", 1, 0), ("done", 1, 0)]


def test_a_free_stream_goes_to_watched_jobs_and_another_owner_first(serve: Serve, server: Engines) -> None:
    service = serve()
    for tab in ("one", "two", "three"):
        service.arrive(tab, "203.0.113.7")
    service.arrive("bob", "198.51.100.9")
    held = run(service, "one", "hold")
    begun(service, held)
    asked = (("two", "busy 0"), ("three", "rounds 2"), ("bob", "rounds 1"))
    jobs = [service.submit("bob", "sweep", sweep_of), *(run(service, *each) for each in asked)]
    service.cancel("one", "run")
    for job in jobs:
        until_state(service, job, "done")
    assert server.asked[1:4] == ["busy 0", "rounds 1", "rounds 2"]


def test_long_work_goes_to_the_end_of_all_servers_line_and_loses_nothing(serve: Serve, server: Engines) -> None:
    service = serve()
    view = until_state(service, service.submit("ada", "sweep", sweep_of), "done")
    assert view.items == ("cell 1", "cell 2", "cell 3")
    assert server.asked == ["sweep"] * 4, "each cell, and the end, had a stream of its own"


def test_engines_that_are_gone_for_a_while_are_found_again(serve: Serve, server: Engines) -> None:
    service = serve(ServiceLimits(deaths=10**6))
    held = run(service, "ada", "hold")
    begun(service, held)
    server.gone = True
    until_state(service, held, "waiting")
    server.gone = False
    until_state(service, held, "running")


def test_a_url_makes_streams(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("SPECVIZ_RUNS", "memory")
    monkeypatch.setenv("SPECVIZ_ENGINES", "https://engines.example/specviz")
    monkeypatch.setenv("SPECVIZ_ENGINES_TOKEN", TOKEN.replace(" ", "-"))
    monkeypatch.setenv("SPECVIZ_STREAMS", "3")
    fleet = service_wanted()._fleet
    assert isinstance(fleet.make_engine(), StreamEngine)
    assert len(fleet.drivers) == 3
    assert not caplog.text
    monkeypatch.setenv("SPECVIZ_ENGINES", "2")
    assert len(service_wanted()._fleet.drivers) == 2
    monkeypatch.setenv("SPECVIZ_ENGINES", "http://engines.example")
    with caplog.at_level(logging.WARNING):
        service_wanted()
    assert "whoever is on the way reads the token" in caplog.text
