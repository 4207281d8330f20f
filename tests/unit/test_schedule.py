"""Who has a turn: the queue of the server with an engine that is a list. No clock and no thread: jobs are counted."""

from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from specviz.core.request import RunRequest
from specviz.measure.race import RacePrompt
from specviz.service import protocol as wire
from specviz.service.job import Job, JobView, advance
from specviz.service.limits import ServiceLimits
from specviz.service.schedule import Schedule
from specviz.service.sessions import Sessions, address_block

HUB, OTHER_HUB, THIRD_HUB = (f"EleutherAI/pythia-{size}m" for size in (70, 14, 160))  # none ships with the app
GREEDY, NEIGHBOUR, STRANGER = "203.0.113.7", "203.0.113.9", "198.51.100.1"  # the first two are of one network
NUMBERS = count(1)
TURN = ServiceLimits().turn
ROOM = ServiceLimits(tokens_at_once=4 * 64)  # for four runs with a short prompt


def make_run(session: str, address: str = "", prompt: str = "w", **request: str) -> Job:
    return made(wire.Run(next(NUMBERS), RunRequest(prompt, **request)), session, address)  # type: ignore[arg-type]


def make_long(session: str, target: str = "wren-base") -> Job:
    return made(wire.Race(next(NUMBERS), RunRequest("", target=target), [RacePrompt("a", "w")]), session)


def made(command: wire.JobCommand, session: str, address: str = "") -> Job:
    sessions = Sessions(reconnect=0)
    sessions.arrive(session, address)
    return Job(JobView(command.job), replace(command, owners=sessions.owners(session)))


def runs(count: int, *address: str, **request: str) -> list[Job]:
    """Of a visitor each."""
    return [make_run(f"visitor {number}", *address, **request) for number in range(count)]


def found_more(job: Job) -> None:
    job.view = advance(job.view, wire.JobProgress(job.id, "timing", 8, repeat=job.found[1] + 1))


@dataclass
class Server:
    """A queue with engines that only hold what they get."""

    limits: ServiceLimits = field(default_factory=ServiceLimits)
    engines: list[list[Job]] = field(default_factory=lambda: [[]])

    def __post_init__(self) -> None:
        self.queue = Schedule(self.limits)

    def put(self, *jobs: Job) -> None:
        for job in jobs:
            self.queue.add(job)
        self.settle()

    def settle(self) -> None:
        """Each engine takes what it gets, until none gets anything."""
        taken = True
        while taken:
            taken = False
            for engine in self.engines:
                if job := self.queue.pick_for(engine, self._others(engine)):
                    engine.append(job)
                    taken = True

    def leave(self, now: float = 0.0) -> list[Job]:
        """Those that give their place to others go back."""
        left = []
        for engine in self.engines:
            if job := self.queue.find_yielding(engine, self._others(engine), now):
                engine.remove(job)
                job.wait_again(0.0)
                self.queue.add(job)
                left.append(job)
        self.settle()
        return left

    def _others(self, engine: list[Job]) -> list[list[Job]]:
        return [other for other in self.engines if other is not engine]


def in_turns(jobs: list[Job]) -> list[Job]:
    """The order in which a line of these comes to its turns."""
    line, order = list(jobs), []
    while line:
        order.append(line.pop(0))
        line.sort(key=lambda job: job.command.shares(order[-1].command))
    return order


def test_turns_go_to_networks_then_to_their_addresses_then_to_sessions() -> None:
    greedy = runs(3, GREEDY)
    neighbour, stranger = make_run("bob", NEIGHBOUR), make_run("cleo", STRANGER)
    again, unknown = make_run("cleo", STRANGER), make_run("dan")
    line = [*greedy, neighbour, stranger, again, unknown]
    assert in_turns(line) == [greedy[0], stranger, unknown, neighbour, again, greedy[1], greedy[2]]
    assert address_block(GREEDY) == address_block(NEIGHBOUR) != address_block(STRANGER)
    assert address_block("2001:db8:1:2::") == address_block("2001:db8:1:3::") != address_block("2001:db8:2:2::")
    assert address_block("") == ""


def test_watched_jobs_go_before_long_ones_and_a_new_request_has_the_place_of_the_old_one() -> None:
    server = Server(ServiceLimits(tokens_at_once=0))
    held, long, run, old, new = make_run("ada"), make_long("bob"), make_run("cleo"), make_run("dan"), make_run("dan")
    server.put(held, long, run, old)
    server.queue.add(make_run("eve"))
    server.queue.add(new, instead_of=old)
    server.queue.remove(old)
    assert server.engines[0] == [held]
    assert server.queue.jobs()[:2] == [run, new]
    assert server.queue.jobs()[3:] == [long]


@pytest.mark.parametrize("jobs", [runs(150, prompt="w" * 100), [make_long(f"visitor {n}") for n in range(30)]])
def test_a_class_with_runs_or_with_long_work_is_at_once_in_the_engine(jobs: list[Job]) -> None:
    """So each of them sees something soon: the engine begins what it has."""
    server = Server()
    server.put(*jobs, late := make_run("ada"))
    assert {*server.engines[0]} == {*jobs, late}


def test_an_address_with_any_number_of_runs_delays_another_one_by_one_turn() -> None:
    server = Server(ROOM)
    server.put(*runs(9, GREEDY))
    honest, neighbour = make_run("ada", STRANGER), make_run("bob", NEIGHBOUR)
    server.put(neighbour, honest)
    assert len(server.engines[0]) == 4, "there is no memory for more"
    next_ones = []
    for _ in range(4):
        server.engines[0].pop(0)
        server.settle()
        next_ones.append(server.engines[0][-1])
    assert next_ones.index(honest) == 1
    assert next_ones.index(neighbour) == 2, "of its network, another address goes first"


def test_what_waits_for_memory_is_not_overtaken() -> None:
    server = Server(ROOM)
    server.put(*runs(3))
    large, small = make_run("ada", prompt="w" * 400), make_run("bob")
    server.put(large, small)
    assert server.queue.jobs() == [large, small]
    server.engines[0].clear()
    server.settle()
    assert server.engines[0] == [large], "an engine that has nothing takes any job"
    assert make_run("ada", prompt="w" * 100_000).tokens == 2 * 512 + 64, "no bundled model reads more"


@pytest.mark.parametrize("job", [make_run("ada", target=HUB), make_long("ada", target=HUB)])
def test_bundled_models_are_beside_everything_and_other_models_one_at_a_time(job: Job) -> None:
    server = Server()
    bundled = [make_run("bob"), make_long("cleo"), make_run("dan", draft="lookup")]
    second = make_run("eve", draft=OTHER_HUB)
    for each in (*bundled[:2], job, second, bundled[2]):
        server.put(each)
    assert server.engines[0] == [*bundled[:2], job, bundled[2]]
    server.engines[0].remove(job)
    server.settle()
    assert second in server.engines[0]


def test_an_engine_leaves_a_job_to_one_that_has_fewer_and_may_have_it() -> None:
    server = Server(engines=[[], []])
    server.put(*runs(6))
    assert [len(engine) for engine in server.engines] == [3, 3]
    few, many = [make_run("ada", target=HUB)], runs(3)
    server = Server(engines=[few, many])
    server.put(second := make_run("bob", target=OTHER_HUB))
    assert second in many, "the other one has another pair"


def test_jobs_with_the_same_other_models_share_them() -> None:
    """As a class does that asks one chat model: nobody waits for another's run, or for what measures its costs."""
    server = Server()
    race, alike = make_long("ada", target=HUB), runs(3, target=HUB)
    same, other = make_run("bob", target=HUB, draft=HUB), make_run("cleo", target=OTHER_HUB)
    for each in (race, *alike, same, other):
        server.put(each)
    assert server.engines[0] == [race, *alike, same]
    assert alike[0].tokens > 3 * make_run("dan").tokens, "its keys and values are larger"


def test_long_work_gives_its_place_only_to_what_fits_beside_it_on_no_engine() -> None:
    """To a watched job at once, and again once it has found something. Two of them take turns."""
    race, watched, sweep = make_long("ada", target=HUB), make_run("bob", target=OTHER_HUB), make_long("cleo", THIRD_HUB)
    server = Server()
    server.put(race, make_run("dan"))
    assert server.leave(now=2 * TURN) == [], "nobody waits"
    server.put(watched)
    assert server.leave() == [race]
    assert watched in server.engines[0]
    assert server.queue.jobs() == [race]
    server.engines[0].remove(watched)
    server.settle()
    server.put(watched)
    assert server.leave() == [], "it has found nothing since"
    found_more(race)
    assert server.leave() == [race]
    server.engines[0].remove(watched)
    server.settle()
    found_more(race)
    server.put(sweep)
    assert server.leave(now=TURN - 1) == []
    assert server.leave(now=TURN) == [race]
    assert sweep in server.engines[0]
    sweep.wanted = "later"
    assert server.leave(now=2 * TURN) == [], "it is about to stop"


def test_behind_a_url_long_work_also_lets_jobs_in_that_are_not_seen_here() -> None:
    sweep = make_long("ada")
    server = Server(ServiceLimits(tokens_at_once=0, shared=True))
    server.put(sweep)
    assert server.leave(now=TURN) == [], "it would lose all"
    found_more(sweep)
    assert server.leave(now=TURN - 1) == []
    assert server.leave(now=TURN) == [sweep]
    assert server.engines[0] == [sweep], "nobody here wanted its place"
    assert server.leave(now=2 * TURN) == [], "it finds something first"


def test_a_job_that_goes_on_later_keeps_what_it_found_and_a_run_begins_again() -> None:
    race, run = make_long("ada"), make_run("bob")
    race.view = replace(race.view, progress=wire.JobProgress(race.id, "timing", 8, repeat=3))
    for job in (race, run):
        job.wanted, job.stop_sent = "later", True
        job.wait_again(7.5)
        assert (job.view.state, job.wanted, job.stop_sent) == ("waiting", "end", False)
    assert (race.found, race.command.seconds, run.command.seconds) == ((0, 3), 7.5, 0.0)
