"""The engine pool on a real Ray cluster of two nodes, with the bundled models: two app servers share it, and actors, a
node and a server are killed."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from time import monotonic
from typing import Any

import psutil
import pytest

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.service import EngineService, JobView
from specviz.service.protocol import Run
from specviz.service.results import RunResult
from tests.cluster.conftest import TwoNodes

PATIENCE = 300.0  # seconds; far more than anything here takes, so that a busy machine fails no test
SEEDS = count(1)
LONG = 400  # tokens: a run that is still at work when something is killed

Serve = Callable[[], EngineService]


@pytest.fixture
def serve(cluster: TwoNodes) -> Iterator[Serve]:
    """Makes app servers' services that share the cluster's pool."""
    made: list[EngineService] = []

    def make() -> EngineService:
        relay = [sys.executable, "-m", "specviz.service.ray_relay", cluster.address]
        made.append(EngineService(relay, shared=True))
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        service.close()


def run(service: EngineService, session: str, tokens: int = 32) -> int:
    """A run of its own: no other one has its seed."""
    settings = DecodeSettings(max_new_tokens=tokens, seed=next(SEEDS), stop_at_eos=tokens < LONG)
    return service.submit(session, "run", lambda job: Run(job, RunRequest("Once upon a time", settings=settings)))


def wait_for(service: EngineService, job: int, *states: str) -> JobView:
    view = service.wait(job, lambda view: view.state in states, PATIENCE)
    assert view.state in states, view.message
    return view


def begun(service: EngineService, job: int) -> JobView:
    view = service.wait(job, lambda view: view.rounds > 0, PATIENCE)
    assert view.state == "running", view.message
    return view


def until(holds: Callable[[], bool], service: EngineService) -> None:
    deadline = monotonic() + PATIENCE
    with service._changed:
        while not holds():
            assert monotonic() < deadline
            service._changed.wait(0.2)


def actors(node: Any, name: str) -> list[psutil.Process]:
    """The processes of a node's actors of this class."""
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    return [child for child in raylet.children() if child.cmdline()[:1] and f"ray::{name}" in child.cmdline()[0]]


def text_of(view: JobView) -> list[int]:
    assert isinstance(view.result, RunResult)
    return view.result.trace.output.token_ids


def test_two_servers_share_the_engines_and_cancel_each_their_own(cluster: TwoNodes, serve: Serve) -> None:
    one, two = serve(), serve()
    jobs = [(one, run(one, "ada")), (two, run(two, "bob"))]
    texts = [text_of(wait_for(server, job, "done")) for server, job in jobs]
    assert len(texts[0]) == 32
    assert texts[0] == texts[1], "greedy: each engine writes the same"
    until(lambda: len(actors(cluster.first, "EngineActor")) == 1, one)
    until(lambda: len(actors(cluster.second, "EngineActor")) == 1, one)
    pools = actors(cluster.first, "PoolActor") + actors(cluster.second, "PoolActor")
    assert len(pools) == 1

    held, other = run(one, "ada", LONG), run(two, "bob", LONG)
    begun(one, held)
    rounds = begun(two, other).rounds
    one.cancel("ada", "run")
    assert one.view(held).state == "cancelled"
    view = two.wait(other, lambda view: view.finished or view.rounds > rounds + 5, PATIENCE)
    assert view.rounds > rounds
    assert view.state in ("running", "done")
    two.close()
    wait_for(one, run(one, "ada"), "done")


def test_jobs_go_on_when_an_engine_the_pool_or_the_connection_is_killed(cluster: TwoNodes, serve: Serve) -> None:
    server = serve()
    wait_for(server, run(server, "ada"), "done")
    for kill in (kill_engines, kill_pool, kill_connection):
        job = run(server, "ada", LONG)
        begun(server, job)
        kill(cluster, server)
        wait_for(server, job, "waiting", "loading")
        view = wait_for(server, job, "done")
        assert len(text_of(view)) == LONG, kill.__name__


def kill_engines(cluster: TwoNodes, server: EngineService) -> None:
    for engine in actors(cluster.first, "EngineActor") + actors(cluster.second, "EngineActor"):
        engine.kill()


def kill_pool(cluster: TwoNodes, server: EngineService) -> None:
    (pool,) = actors(cluster.first, "PoolActor") + actors(cluster.second, "PoolActor")
    pool.kill()


def kill_connection(cluster: TwoNodes, server: EngineService) -> None:
    (relay,) = server.engine_pids
    os.kill(relay, signal.SIGKILL)


def test_a_node_that_dies_loses_no_job(cluster: TwoNodes, serve: Serve) -> None:
    server = serve()
    until(lambda: len(actors(cluster.second, "EngineActor")) == 1, server)
    jobs = [run(server, name, LONG) for name in ("ada", "bob")]
    for job in jobs:
        begun(server, job)
    cluster.kill_second()
    for job in jobs:
        assert len(text_of(wait_for(server, job, "done"))) == LONG
