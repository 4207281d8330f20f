"""Engines behind a URL, against a server that replays lines: lost streams, a wrong token, pauses, cancelling.

`tests/cluster/test_serve_engines.py` has the same with real engines on Ray Serve.
"""

import logging
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from specviz.service import EngineService, ServiceLimits
from specviz.service.service import say, service_wanted, stream_limits
from specviz.service.stream import EngineAddress, StreamEngine
from tests.support.services import PATIENCE, has_begun, run, run_of, sweep_of, until, until_state
from tests.support.stream_server import BEAT, TOKEN, StreamServer

FAST = ServiceLimits(reconnect=3600, tokens_at_once=0, deaths=6)

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

    def make(
        limits: ServiceLimits = FAST, streams: int = 1, token: str = TOKEN, silence: float = PATIENCE
    ) -> EngineService:
        where = EngineAddress(server.url, token, silence, greetings=2, pause=0.01)
        made.append(EngineService(partial(StreamEngine, where), limits, engines=streams))
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        service.close()


def test_a_run_comes_round_by_round_and_a_texts_own_line_ends_end_no_line(serve: Serve) -> None:
    service = serve()
    view = until_state(service, run(service, "ada", "rounds 3"), "done")
    assert (view.rounds, run_of(view).plain_text) == (3, "plain \u2028 text")
    assert service._fleet.ready


@pytest.mark.parametrize("order", ["once", "busy"])
def test_a_stream_that_ends_is_tried_again(serve: Serve, server: StreamServer, order: str) -> None:
    service = serve()
    assert until_state(service, run(service, "ada", order), "done").rounds == 1
    assert server.asked == [order, order]


@pytest.mark.parametrize("order", ["break", "silent"])
def test_a_stream_that_ends_or_falls_silent_twice_is_lost(serve: Serve, server: StreamServer, order: str) -> None:
    service = serve(silence=1.0 if order == "silent" else PATIENCE)
    view = until_state(service, run(service, "ada", order), "failed")
    assert (view.message, view.rounds) == (say("died"), 1), "what it found stays"
    assert server.asked == [order, order]


def test_heartbeats_count_as_news_of_the_stream_and_of_the_job(serve: Serve, server: StreamServer) -> None:
    """Else a job that waits for a free engine would be given up after some minutes."""
    silence = 60 * BEAT  # so long must this machine stand still for the stream to look silent
    service = serve(ServiceLimits(reconnect=3600, tokens_at_once=0, silence=silence), silence=silence)
    server.pause = 2 * silence
    until_state(service, run(service, "ada", "pause"), "done")
    assert server.asked == ["pause"]


def test_cancelling_closes_the_stream_and_another_job_has_it(serve: Serve, server: StreamServer) -> None:
    service = serve()
    job = run(service, "ada", "hold")
    service.wait(job, has_begun, PATIENCE)
    service.cancel("ada", "run")
    assert (service.view(job).state, service.view(job).rounds) == ("cancelled", 1)
    until_state(service, run(service, "bob", "rounds 1"), "done")
    until(service, lambda: server.left == ["hold"])


def test_long_work_goes_to_the_end_of_all_servers_line_and_loses_nothing(serve: Serve, server: StreamServer) -> None:
    service = serve(ServiceLimits(reconnect=3600, tokens_at_once=0, turn=0.0, shared=True))
    view = until_state(service, service.submit("ada", "sweep", sweep_of), "done")
    assert view.result.items == ("cell 1", "cell 2", "cell 3")
    assert server.asked == ["sweep"] * 4, "each cell, and the end, had a stream of its own"


def test_engines_that_are_gone_for_a_while_are_found_again(serve: Serve, server: StreamServer) -> None:
    service = serve(ServiceLimits(reconnect=3600, tokens_at_once=0, deaths=10**6))
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
    assert len(service_wanted()._fleet.drivers) == 3
    assert not caplog.text
    assert stream_limits(8).deaths > 8, "engines that are gone with all streams are no reason to rest"
    monkeypatch.setenv("SPECVIZ_ENGINES", "2")
    assert len(service_wanted()._fleet.drivers) == 2
    monkeypatch.setenv("SPECVIZ_ENGINES", "http://engines.example")
    with caplog.at_level(logging.WARNING):
        service_wanted()
    assert "whoever is on the way reads the token" in caplog.text
