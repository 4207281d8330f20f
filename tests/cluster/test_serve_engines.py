"""Engines on a real Ray Serve of this machine, with the bundled models and with an engine without any: four jobs on two
replicas, one replica killed, cancelling, and a long pause."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import httpx2
import psutil
import pytest

from benchmarks.serving import free_port
from specviz.service import EngineService
from specviz.service.child import ENGINE
from specviz.service.limits import ServiceLimits
from specviz.service.stream import EngineAddress, StreamEngine
from tests.support.services import ENGINE as REPLAYING
from tests.support.services import PATIENCE, begun, run, run_of, until_state

ROOT = Path(__file__).parents[2]
TOKEN = "0123456789abcdef"
PAUSE = float(os.environ.get("PAUSE", "8"))  # seconds that a job says nothing; 90 was tried by hand
STORY = "Once upon a time"
LONG = {"max_new_tokens": 400, "stop_at_eos": False}  # of a run that is still at work when something is killed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ray's own use of pydantic

Serve = Callable[..., EngineAddress]


@pytest.fixture(scope="module")
def cluster() -> Iterator[int]:
    """Ray and Serve's HTTP port on this machine."""
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ["RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S"] = str(PATIENCE)  # by default 5 s, which a busy machine outruns
    os.environ["RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S"] = str(PATIENCE)
    import ray
    from ray import serve

    port = free_port()
    ray.init(num_cpus=3, object_store_memory=80_000_000, include_dashboard=False, log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    yield port
    serve.shutdown()
    ray.shutdown()


@pytest.fixture
def engines(cluster: int) -> Iterator[Serve]:
    """Makes engines; they end after the test."""
    from ray import serve

    from specviz.service.serve_engines import engines

    def make(
        command: tuple[str, ...] = ENGINE, least: int = 2, heartbeat: float = 1.0, **limits: float
    ) -> EngineAddress:
        made = engines(TOKEN, least, command=command, limits=ServiceLimits(**limits), heartbeat=heartbeat)  # type: ignore[arg-type]
        serve.run(made, name="specviz", route_prefix="/")
        return EngineAddress(f"http://127.0.0.1:{cluster}/", TOKEN, silence=5 * heartbeat)

    yield make
    serve.delete("specviz")


@pytest.fixture
def server(engines: Serve) -> Iterator[Callable[[EngineAddress, int], EngineService]]:
    """Makes app servers' services."""
    made: list[EngineService] = []

    def make(where: EngineAddress, streams: int) -> EngineService:
        made.append(EngineService(partial(StreamEngine, where), engines=streams))
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        service.close()


Server = Callable[[EngineAddress, int], EngineService]


def replicas() -> list[psutil.Process]:
    """The processes of the engines' replicas."""
    named = [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"]]
    return [each for each in named if each.info["cmdline"][0].startswith("ray::ServeReplica:specviz:Engine")]


def test_two_replicas_do_four_jobs_and_one_that_is_killed_loses_none(engines: Serve, server: Server) -> None:
    service = server(engines(), 4)
    jobs = [run(service, name, STORY, **LONG) for name in ("ada", "bob", "cleo", "dan")]
    for job in jobs[:1]:
        begun(service, job)
    service.wait(jobs[0], lambda _: sum(service.view(job).rounds > 0 for job in jobs) >= 2, PATIENCE)
    assert [service.view(job).rounds > 0 for job in jobs].count(True) <= 2, "the others wait for a free replica"
    first, _ = replicas()
    first.kill()
    texts = [run_of(until_state(service, job, "done")).trace.output.token_ids for job in jobs]
    assert [len(text) for text in texts] == [LONG["max_new_tokens"]] * 4
    assert texts[0] == texts[1] == texts[2] == texts[3], "greedy: each engine writes the same"


def test_an_engine_process_that_is_killed_is_started_again(engines: Serve, server: Server) -> None:
    service = server(engines(least=1), 1)
    job = run(service, "ada", STORY, **LONG)
    begun(service, job)
    (engine,) = replicas()[0].children()
    engine.kill()
    assert len(run_of(until_state(service, job, "done")).trace.output.token_ids) == LONG["max_new_tokens"]


def test_two_servers_share_an_engine_and_one_that_cancels_or_dies_frees_it(engines: Serve, server: Server) -> None:
    where = engines(REPLAYING, least=1)
    one, two = server(where, 1), server(where, 1)
    held = run(one, "ada", "hold")
    begun(one, held)
    other = run(two, "bob", "rounds 3")
    assert two.wait(other, lambda view: view.rounds > 0, 3.0).rounds == 0, "it waits for a free replica"
    one.cancel("ada", "run")
    assert until_state(two, other, "done").rounds == 3
    assert one.view(held).state == "cancelled"
    begun(one, run(one, "ada", "hold"))
    one.close()
    until_state(two, run(two, "bob", "rounds 1"), "done")


def test_a_job_that_says_nothing_for_long_is_not_lost_and_one_that_hears_nothing_is(
    engines: Serve, server: Server
) -> None:
    service = server(engines(REPLAYING, least=1, silence=PAUSE + 10, stop=1.0), 1)
    job = run(service, "ada", f"slow {PAUSE}")
    assert until_state(service, job, "done").rounds == 1
    assert not service._fleet.drivers[0].deaths
    deaf = run(service, "ada", "deaf")
    begun(service, deaf)
    service.cancel("ada", "run")
    until_state(service, run(service, "bob", "rounds 1"), "done")


def test_nobody_without_the_token_is_let_in(engines: Serve) -> None:
    where = engines(REPLAYING, least=1)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN[:-1]}):
        assert httpx2.get(where.url, headers=headers).status_code == 401
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert httpx2.get(where.url, headers=right).status_code == 200
    assert httpx2.post(where.url, headers=right, content=b"no job").status_code == 400
