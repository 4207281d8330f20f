"""Several app servers with one engine pool: queue, turns, cancelling, ends of engines, servers and connections. No Ray:
`tests/cluster/test_ray_engines.py` has the same on a cluster."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest

from specviz.service import EngineService, JobView, Limits
from specviz.service.driver import DIED, KEEPS_DYING
from specviz.service.pool import Pool, pool_limits
from specviz.service.pool_messages import load_news, load_order
from specviz.service.ray_actors import engines_that_fit
from specviz.service.results import SweepResult
from specviz.service.service import STARTING
from tests.support.pool_link import PoolLink, link_to
from tests.tiny.test_service import FAKE, PATIENCE, has_begun, measure_costs, run, sweep_of, until, until_state

RELAY = (sys.executable, str(Path(__file__).parents[1] / "support" / "fake_relay.py"))
FAST = Limits(reconnect=3600, runs_at_once=1, pause=0.01)


@dataclass
class Shared:
    """A pool and the servers that share it."""

    pool: Pool
    services: list[EngineService] = field(default_factory=list)
    links: list[PoolLink] = field(default_factory=list)

    def server(self, limits: Limits = FAST) -> EngineService:
        made = EngineService(link_to(self.pool, self.links), limits, shared=True)
        made.start()
        self.services.append(made)
        return made


MakeShared = Callable[..., Shared]


@pytest.fixture
def shared() -> Iterator[MakeShared]:
    """Makes pools; they and their servers are closed afterwards."""
    made: list[Shared] = []

    def make(engines: int = 1, limits: Limits = FAST, silence: float = PATIENCE) -> Shared:
        pool = Pool(FAKE, engines, limits, silence)
        pool.start()
        made.append(Shared(pool))
        return made[-1]

    yield make
    for each in made:
        for service in each.services:
            service.close()
        each.pool.close()


def ends(service: EngineService, job: int, state: str) -> JobView:
    return until_state(service, job, state)


def test_runs_of_two_servers_are_decoded_by_one_engine(shared: MakeShared) -> None:
    one, two = (both := shared()).server(), both.server()
    jobs = [(server, run(server, name, "rounds 3")) for server, name in ((one, "ada"), (two, "bob"))]
    for server, job in jobs:
        view = ends(server, job, "done")
        assert (view.job, view.rounds, view.message) == (job, 3, "")
    assert one.state == two.state == "ready"


def test_places_are_those_of_the_queue_of_all_servers(shared: MakeShared) -> None:
    one, two = (both := shared()).server(), both.server()
    held = run(one, "ada", "hold")
    ends(one, held, "running")
    second = run(two, "bob", "hold")
    until(two, lambda: two.view(second).place == 1)
    third = run(one, "cleo", "hold")
    until(one, lambda: one.view(third).place == 2)
    one.cancel("ada", "run")
    ends(two, second, "running")
    until(one, lambda: one.view(third).place == 1)
    assert one.view(held).state == "cancelled"


def test_an_address_has_one_turn_whatever_the_number_of_servers_it_comes_through(shared: MakeShared) -> None:
    one, two = (both := shared()).server(), both.server()
    ends(one, run(one, "teacher", "hold"), "running")
    for server, session in ((one, "tab 1"), (two, "tab 2")):
        server.arrive(session, "203.0.113.7")
    two.arrive("bob", "198.51.100.1")
    first = run(one, "tab 1", "hold")
    until(one, lambda: one.view(first).place == 1)
    tab = run(two, "tab 2", "hold")
    until(two, lambda: two.view(tab).place == 2)
    bob = run(two, "bob", "hold")
    until(two, lambda: (two.view(bob).place, two.view(tab).place) == (2, 3))


def test_sessions_of_two_servers_with_one_name_are_two(shared: MakeShared) -> None:
    one, two = (both := shared()).server(), both.server()
    jobs = [(server, run(server, "ada", "rounds 1")) for server in (one, two)]
    for server, job in jobs:
        ends(server, job, "done")


def test_long_work_of_one_server_gives_way_to_a_watched_run_of_another(shared: MakeShared) -> None:
    one, two = (both := shared()).server(), both.server()
    measuring = measure_costs(one, "ada", "hold")
    ends(one, measuring, "running")
    watched = run(two, "bob", "hold")
    ends(two, watched, "running")
    until(one, lambda: one.view(measuring).place == 1)
    two.cancel("bob", "run")
    ends(one, measuring, "running")


def test_long_jobs_of_two_servers_take_turns_and_lose_nothing(shared: MakeShared) -> None:
    both = shared(limits=Limits(reconnect=3600, runs_at_once=1, turn=0.0))
    one, two = both.server(), both.server()
    jobs = [(server, server.submit("ada", "sweep", sweep_of)) for server in (one, two)]
    for server, job in jobs:
        view = ends(server, job, "done")
        assert isinstance(view.result, SweepResult)
        assert view.result.items == ("cell 1", "cell 2", "cell 3")


def test_an_engine_that_dies_is_started_again_and_only_the_cause_fails(shared: MakeShared) -> None:
    one, two = (both := shared()).server(), both.server()
    cause = run(one, "ada", "die")
    other = run(two, "bob", "rounds 1")
    assert ends(one, cause, "failed").message == DIED
    ends(two, other, "done")
    assert one.view(cause).rounds == 1, "what it found stays"


def test_engines_that_keep_dying_are_one_sentence_on_every_server(shared: MakeShared) -> None:
    both = shared(limits=Limits(reconnect=3600, runs_at_once=1, deaths=2))
    one, two = both.server(), both.server()
    assert ends(one, run(one, "ada", "die"), "failed").message == KEEPS_DYING
    until(two, lambda: two.state == "resting")
    assert ends(two, run(two, "bob", "rounds 1"), "failed").message == KEEPS_DYING


def test_a_server_that_closes_frees_its_engine(shared: MakeShared) -> None:
    one, two = (both := shared()).server(), both.server()
    ends(one, run(one, "ada", "hold"), "running")
    waiting = run(two, "bob", "rounds 1")
    until(two, lambda: two.view(waiting).place == 1)
    one.close()
    ends(two, waiting, "done")


def test_a_server_that_dies_frees_its_engine(shared: MakeShared) -> None:
    both = shared(silence=0.5)
    one, two = both.server(Limits(pause=3600)), both.server()
    ends(one, run(one, "ada", "hold"), "running")
    waiting = run(two, "bob", "rounds 1")
    both.links[0].cut()  # and it does not come back
    ends(two, waiting, "done")


def test_jobs_go_on_after_the_connection_was_cut(shared: MakeShared) -> None:
    both = shared(silence=0.5, limits=Limits(reconnect=3600, runs_at_once=1, turn=0.0))
    server = both.server()
    sweeps = [server.submit(name, "sweep", sweep_of) for name in ("bob", "cleo")]
    server.wait(sweeps[0], lambda view: view.items > 0, PATIENCE)
    held = run(server, "ada", "hold")
    server.wait(held, has_begun, PATIENCE)
    both.links[0].cut()
    until(server, lambda: len(both.links) == 2)
    ends(server, held, "running")
    server.cancel("ada", "run")
    for sweep in sweeps:
        view = ends(server, sweep, "done")
        assert isinstance(view.result, SweepResult)
        assert view.result.items == ("cell 1", "cell 2", "cell 3"), "none twice, none lost"


def test_a_connection_that_cannot_be_kept_ends_jobs_with_one_sentence() -> None:
    service = EngineService((*RELAY, "gone"), FAST, shared=True)
    job = run(service, "ada", "rounds 1")
    assert service.view(job).message == STARTING
    service.start()
    assert ends(service, job, "failed").message == KEEPS_DYING
    assert ends(service, run(service, "bob", "rounds 1"), "failed").message == KEEPS_DYING
    service.close()


def test_a_cancelled_job_is_never_seen_again(shared: MakeShared) -> None:
    server = shared().server()
    held = run(server, "ada", "hold")
    ends(server, held, "running")
    waiting = run(server, "bob", "rounds 1")
    server.cancel("bob", "run")
    server.cancel("ada", "run")
    ends(server, run(server, "cleo", "rounds 1"), "done")
    assert server.view(waiting).state == "cancelled"
    assert server._fleet._jobs == {}  # type: ignore[union-attr]


def test_a_new_request_takes_the_place_of_its_sessions_waiting_one(shared: MakeShared) -> None:
    server = shared().server()
    ends(server, run(server, "ada", "hold"), "running")
    run(server, "bob", "rounds 1")
    other = run(server, "cleo", "hold")
    new = run(server, "bob", "hold")
    until(server, lambda: [server.view(job).place for job in (new, other)] == [1, 2])


def test_a_visitor_who_left_has_no_job_in_the_pool(shared: MakeShared) -> None:
    both = shared()
    one, two = both.server(Limits(reconnect=0.05, pause=0.01)), both.server()
    ends(one, run(one, "ada", "hold"), "running")
    waiting = run(two, "bob", "rounds 1")
    one.leave("ada")
    ends(two, waiting, "done")


def test_a_relay_process_hands_on_orders_and_news() -> None:
    service = EngineService(RELAY, FAST, shared=True)
    service.start()
    assert ends(service, run(service, "ada", "rounds 3"), "done").rounds == 3
    held = run(service, "ada", "hold")
    ends(service, held, "running")
    service.cancel("ada", "run")
    ends(service, run(service, "bob", "rounds 1"), "done")
    assert len(service.engine_pids) == 1
    service.close()


def test_a_pool_without_servers_ends() -> None:
    idle = Event()
    pool = Pool(FAKE, 1, silence=0.2, on_idle=idle.set)
    pool.start()
    assert idle.wait(PATIENCE)
    pool.close()


def test_a_pool_with_a_server_does_not_end(shared: MakeShared) -> None:
    both = shared(silence=0.3)
    server = both.server()
    for _ in range(3):
        ends(server, run(server, "ada", "slow"), "done")
    assert both.pool.servers == 1


@pytest.mark.parametrize("line", [b"", b"no message\n", b"gASVBQAAAAAAAACMAWGULg==\n"])
def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    for load in (load_order, load_news):
        with pytest.raises(ValueError, match="not"):
            load(line)


def test_a_node_that_is_gone_with_all_its_engines_is_no_reason_to_rest() -> None:
    assert pool_limits(1).deaths == Limits().deaths
    assert pool_limits(8).deaths > 8


def test_as_many_engines_as_the_cluster_has_room_for() -> None:
    assert engines_that_fit({"CPU": 2.0}, 0) == 2
    assert engines_that_fit({"CPU": 16.0, "GPU": 2.0}, 0.5) == 4
    assert engines_that_fit({"CPU": 16.0}, 1) == 1
    assert engines_that_fit({"CPU": 500.0}, 0) == 64
