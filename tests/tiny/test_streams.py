"""Engines behind a URL, against a server that replays lines: lost streams, a wrong token, pauses, cancelling.

`tests/cluster/test_serve_engines.py` has the same with real engines on Ray Serve.
"""

import logging
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from specviz.service import EngineService, ServiceLimits
from specviz.service.service import say, service_wanted
from specviz.service.stream import CONNECT, EngineAddress, StreamEngine
from tests.support.services import PATIENCE, has_begun, run, run_of, sweep_of, until, until_state
from tests.support.stream_server import TOKEN, StreamServer

FAST = ServiceLimits(reconnect=3600, deaths=6)

Serve = Callable[..., EngineService]


@pytest.fixture
def server() -> Iterator[StreamServer]:
    """Engines behind a URL."""
    server = StreamServer()
    yield server
    server.close()


@pytest.fixture
def serve(server: StreamServer) -> Iterator[Serve]:
    """Makes app servers' services whose engines are behind the server's URL."""
    made: list[EngineService] = []

    def make(limits: ServiceLimits = FAST, token: str = TOKEN, streams: int = 1) -> EngineService:
        where = EngineAddress(server.url, token, PATIENCE, greetings=2, pause=0.01)
        made.append(EngineService(partial(StreamEngine, where, streams), limits))
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        service.close()


@pytest.mark.parametrize(("order", "rounds"), [("rounds 3", 3), ("once", 1), ("busy", 1)])
def test_a_run_comes_round_by_round_and_a_stream_that_ends_is_tried_again(
    serve: Serve, server: StreamServer, order: str, rounds: int
) -> None:
    service = serve()
    view = until_state(service, run(service, "ada", order), "done")
    assert (view.rounds, run_of(view).plain_text) == (rounds, "plain \u2028 text"), "a text's line ends end no line"
    assert server.asked == [order] * (1 if rounds == 3 else 2)
    assert service._fleet.ready


def test_a_stream_that_ends_twice_is_lost(serve: Serve, server: StreamServer) -> None:
    service = serve()
    view = until_state(service, run(service, "ada", "break"), "failed")
    assert (view.message, view.rounds) == (say("died"), 1), "what it found stays"
    assert server.asked == ["break"] * 2


def test_a_wrong_token_lets_nobody_in_and_the_log_says_so(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    service = serve(token="another")
    view = until_state(service, run(service, "ada", "rounds 1"), "failed")
    assert view.message == say("keeps_dying")
    assert "they refuse the token" in caplog.text


def test_so_long_a_stream_may_be_silent() -> None:
    client = EngineAddress("http://engines.example", TOKEN, silence=7.0).client()
    assert (client.timeout.read, client.timeout.connect) == (7.0, CONNECT)


def test_cancelling_closes_the_stream_and_another_job_has_it(serve: Serve, server: StreamServer) -> None:
    service = serve()
    job = run(service, "ada", "hold")
    service.wait(job, has_begun, PATIENCE)
    service.cancel("ada", "run")
    assert (service.view(job).state, service.view(job).rounds) == ("cancelled", 1)
    until_state(service, run(service, "bob", "rounds 1"), "done")
    until(service, lambda: server.left == ["hold"])


def test_a_run_knows_of_the_other_engines_that_were_busy_beside_it(serve: Serve) -> None:
    service = serve(streams=2)
    one, two = run(service, "ada", "hold"), run(service, "bob", "hold")
    for job in (one, two):
        until_state(service, job, "running")
    assert [service.view(job).beside for job in (one, two)] == [1, 1]


def test_long_work_goes_to_the_end_of_all_servers_line_and_loses_nothing(serve: Serve, server: StreamServer) -> None:
    service = serve()
    view = until_state(service, service.submit("ada", "sweep", sweep_of), "done")
    assert view.items == ("cell 1", "cell 2", "cell 3")
    assert server.asked == ["sweep"] * 4, "each cell, and the end, had a stream of its own"


def test_engines_that_are_gone_for_a_while_are_found_again(serve: Serve, server: StreamServer) -> None:
    service = serve(ServiceLimits(reconnect=3600, deaths=10**6))
    held = run(service, "ada", "hold")
    service.wait(held, has_begun, PATIENCE)
    server.close()
    until_state(service, held, "waiting")
    again = StreamServer(server.server_port)
    until_state(service, held, "running")
    service.cancel("ada", "run")
    again.close()


def test_a_url_makes_streams(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("SPECVIZ_RUNS", "memory")
    monkeypatch.setenv("SPECVIZ_ENGINES", "https://engines.example/specviz")
    monkeypatch.setenv("SPECVIZ_ENGINES_TOKEN", TOKEN.replace(" ", "-"))
    monkeypatch.setenv("SPECVIZ_STREAMS", "3")
    start = service_wanted()._fleet.start_engine
    assert isinstance(start, partial)
    assert start.args[1:] == (3,)
    assert not caplog.text
    monkeypatch.setenv("SPECVIZ_ENGINES", "2")
    assert len(service_wanted()._fleet.drivers) == 2
    monkeypatch.setenv("SPECVIZ_ENGINES", "http://engines.example")
    with caplog.at_level(logging.WARNING):
        service_wanted()
    assert "whoever is on the way reads the token" in caplog.text
