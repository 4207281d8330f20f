"""Who runs next beside a crowd: the queue alone, with an engine that is a list. No clock: jobs are counted."""

from dataclasses import dataclass, field, replace
from typing import Any

from specviz.core.request import RunRequest
from specviz.measure.race import RacePrompt
from specviz.service import protocol as wire
from specviz.service.job import Job, JobView, RunResult, advance
from specviz.service.limits import ServiceLimits
from specviz.service.schedule import Schedule, find_turn_over
from specviz.service.sessions import address_block
from tests.support.fake_traces import run_of

GREEDY = 150
RUNS_AT_ONCE = ServiceLimits().runs_at_once
HUB = "EleutherAI/pythia-70m"  # a model that does not ship with the app
NEIGHBOUR = "203.0.113.9"  # in the block of the greedy address


def make_run(number: int, session: str, address: str = "", prompt: str = "wait", **request: str) -> Job:
    command = wire.Run(number, RunRequest(prompt, **request))  # type: ignore[arg-type]
    return Job(session, "run", JobView(number), command, address=address, block=address_block(address))


def make_long(number: int, session: str, target: str = "wren-base") -> Job:
    command = wire.Race(number, RunRequest("", target=target), [RacePrompt("a", "w")])
    return Job(session, "race", JobView(number), command)


def crowd(address: str = "") -> list[Job]:
    """A run each of many sessions."""
    return [make_run(number, f"tab {number}", address) for number in range(1, GREEDY + 1)]


@dataclass
class Engine:
    """Begins what it gets, up to the first rounds, before anything else, as `Bench` does."""

    schedule: Schedule = field(default_factory=lambda: Schedule(ServiceLimits()))
    running: list[Job] = field(default_factory=list)
    begun: list[Job] = field(default_factory=list)  # each time that one is begun
    ended: list[Job] = field(default_factory=list)

    def put(self, *jobs: Job) -> None:
        for job in jobs:
            self.schedule.add(job)

    def step(self) -> bool:
        """As `EngineDriver` does: stop what makes room, or take what comes next; False where neither is to be done."""
        self.schedule.stop(self.running, others_idle=False, now=0.0)
        if stopped := [job for job in self.running if job.wanted == "give way"]:
            for job in stopped:
                self.running.remove(job)
                job.wait_again()
                self.schedule.add(job)
            return True
        job = self.schedule.pick_for(self.running, others_idle=False)
        if job is None:
            return False
        self.running.append(job)
        self.begun.append(job)
        made: Any = [object()]  # what is in a round matters to nobody here
        job.view = replace(job.view, state="running", result=RunResult(replace(run_of([]), rounds=made)))
        return True

    def settle(self) -> None:
        while self.step():
            pass

    def end_oldest(self) -> None:
        """The engine works on the one that it has longest."""
        job = self.running.pop(0)
        job.view = replace(job.view, state="done")
        self.ended.append(job)

    def end_all(self) -> None:
        while self.running:
            self.end_oldest()
            self.settle()


def until_begun(engine: Engine, honest: Job) -> int:
    """Jobs that are begun before this one. None ends meanwhile: its first rounds wait for no whole run."""
    before = len(engine.begun)
    while honest not in engine.running:
        assert engine.step()
    return len(engine.begun) - before - 1


def test_an_address_with_150_runs_delays_another_ones_first_rounds_by_one_turn() -> None:
    engine, honest = Engine(), make_run(1000, "ada", "198.51.100.1")
    engine.put(*crowd("203.0.113.7"))
    for _ in range(5):
        engine.step()
    engine.put(honest)
    assert until_begun(engine, honest) <= 1
    engine.settle()
    assert honest in engine.running, "those who make room are of the network that has most"
    engine.end_all()
    assert engine.ended.index(honest) < RUNS_AT_ONCE
    assert len(engine.ended) == GREEDY + 1


def test_first_rounds_come_before_any_run_is_whole_also_where_no_address_is_known() -> None:
    """150 visitors too close to call from one with 150 tabs. So each is begun, and then they go on in turn.

    Found: the 33rd waited until one of 32 was whole, and the 151st for 119 whole runs.
    """
    engine, honest = Engine(), make_run(1000, "ada")
    engine.put(*crowd(), honest)
    assert until_begun(engine, honest) == GREEDY
    assert len(engine.begun) == GREEDY + 1, "each once"
    assert engine.ended == []
    assert len(engine.running) == RUNS_AT_ONCE
    newcomer = make_run(1001, "bob")
    engine.put(newcomer)
    assert until_begun(engine, newcomer) == 0, "all others have shown something"
    engine.settle()
    engine.end_all()
    assert sorted(job.id for job in engine.ended) == [*range(1, GREEDY + 1), 1000, 1001], "each is whole in the end"
    assert max(engine.begun.count(job) for job in engine.ended) == 2


def test_runs_end_in_the_order_in_which_they_came_however_many_visitors_keep_coming() -> None:
    """Each tab asks again as soon as its run is whole: what waits for its end is not overtaken by that."""
    engine, honest = Engine(), make_run(1000, "ada")
    engine.put(*crowd(), honest)
    engine.settle()
    for number in range(2000, 2000 + 2 * GREEDY):
        engine.end_oldest()
        engine.put(make_run(number, engine.ended[-1].session))
        engine.settle()
    ended = [job.id for job in engine.ended]
    assert 1000 in ended
    assert max(ended.index(number) for number in range(1, GREEDY + 1)) <= GREEDY + RUNS_AT_ONCE


def test_one_run_makes_room_at_a_time_and_the_oldest_never_does() -> None:
    queue = Schedule(ServiceLimits(runs_at_once=3))
    engine = Engine(queue)
    first, second, third, new = (make_run(number, f"tab {number}") for number in range(1, 5))
    engine.put(first, second, third)
    engine.settle()
    assert queue.find_yielding(new, engine.running) == [third]
    third.wanted = "give way"
    assert queue.find_yielding(new, engine.running) == [], "room is being made"
    third.wanted = "end"
    third.view = second.view = JobView(2, state="loading")
    assert queue.find_yielding(new, engine.running) == [], "the others have shown nothing, and one run must end"
    assert Schedule(ServiceLimits(runs_at_once=1)).find_yielding(new, [first]) == []


def test_a_run_that_made_room_waits_behind_new_ones_and_in_front_of_long_work() -> None:
    queue, long = Schedule(ServiceLimits()), make_long(1, "bob")
    shown, new = make_run(2, "ada"), make_run(3, "cleo")
    shown.view, shown.wanted = replace(shown.view, result=RunResult(run_of([]))), "give way"
    shown.wait_again()
    assert not shown.shown, "it had no round yet"
    engine = Engine(queue)
    engine.put(shown)
    engine.settle()
    shown.wanted = "give way"
    engine.running = []
    shown.wait_again()
    assert shown.shown
    engine.put(long, shown, new)
    assert queue.jobs() == [new, shown, long]
    full = [make_run(number, f"tab {number}") for number in range(10, 10 + RUNS_AT_ONCE)]
    assert queue.next(full) is new
    assert queue.next(full[1:]) is shown, "there is room, and it came first"
    shown.wanted = "end"
    shown.wait_again()
    assert not shown.shown, "after the end of an engine it begins as a new one"


def test_a_run_that_fits_beside_nothing_here_is_not_overtaken_by_runs_that_came_later() -> None:
    engine, other_format = Engine(), make_run(40, "ada", precision="fast")
    before, after = [make_run(n, f"tab {n}") for n in range(1, 40)], [make_run(n, f"tab {n}") for n in range(41, 80)]
    engine.put(*before)
    engine.settle()
    engine.put(other_format, *after)
    engine.settle()
    while other_format not in engine.running:
        engine.end_oldest()
        engine.settle()
    assert {job.id for job in engine.ended} == {job.id for job in before}


def test_turns_go_to_networks_then_to_their_addresses_then_to_sessions() -> None:
    """Someone with an unknown address has turns of their own; long work waits in the same way, behind all runs."""
    queue = Schedule(ServiceLimits())
    greedy = [make_run(number, f"tab {number}", "203.0.113.7") for number in (1, 2, 3)]
    neighbour, stranger = make_run(4, "bob", NEIGHBOUR), make_run(5, "cleo", "198.51.100.1")
    again, unknown = make_run(6, "cleo", "198.51.100.1"), make_run(7, "dan")
    for job in (*greedy, neighbour, stranger, again, unknown):
        queue.add(job)
    taken = [queue.pick_for([], False) for _ in range(8)]
    assert taken == [greedy[0], stranger, unknown, neighbour, again, greedy[1], greedy[2], None]
    assert address_block("203.0.113.7") == address_block(NEIGHBOUR) != address_block("203.0.114.7")
    assert address_block("2001:db8:1:2::") == address_block("2001:db8:1:3::") != address_block("2001:db8:2:2::")
    assert address_block("") == ""


def test_a_sessions_second_job_waits_for_the_others_first_ones() -> None:
    queue = Schedule(ServiceLimits())
    first, second, third, other, newer = (make_long(number, "bob" if number == 4 else "ada") for number in range(1, 6))
    for job in (first, second, third, other):
        queue.add(job)
    queue.add(newer, instead_of=second)
    assert [queue.pick_for([], False) for _ in range(4)] == [first, other, newer, third]


ALONE = Schedule(ServiceLimits())


def test_an_engine_has_watched_jobs_of_one_format_and_long_ones_together_where_all_models_are_bundled() -> None:
    one, two, race = make_run(1, "ada"), make_run(2, "bob"), make_long(4, "cleo")
    other_pair, other_format = make_run(3, "cleo", draft="lookup"), make_run(3, "cleo", precision="fast")
    long_prompt, hub = make_run(3, "cleo", prompt="x" * 8_000), make_run(3, "cleo", draft=HUB)
    assert ALONE.fits_beside(hub, [])
    assert ALONE.fits_beside(two, [one])
    assert not Schedule(ServiceLimits(runs_at_once=1)).fits_beside(two, [one])
    assert ALONE.fits_beside(other_pair, [one])
    for job in (other_format, long_prompt, hub):
        assert not ALONE.fits_beside(job, [one])
        assert not ALONE.fits_beside(one, [job])
    assert ALONE.fits_beside(race, [one, two])
    for job in (one, other_format, make_long(5, "cleo")):
        assert ALONE.fits_beside(job, [race])
    assert ALONE.fits_beside(race, [race] * 3)
    assert not ALONE.fits_beside(race, [race] * 4), "each holds memory"
    hub_race = make_long(9, "cleo", target=HUB)
    for job in (long_prompt, hub, hub_race):
        assert not ALONE.fits_beside(job, [race])
        assert not ALONE.fits_beside(race, [job])
    # long work gives way to a watched job that does not fit beside it
    assert ALONE.find_yielding(hub, [race]) == [race]
    assert ALONE.find_yielding(one, [hub_race]) == [hub_race]
    assert ALONE.find_yielding(hub, [race, one]) == [], "it waits for the other visitor's run anyway"


def test_a_run_that_waits_for_a_download_makes_way_for_runs_that_need_none() -> None:
    watched, other_hub, download = make_run(1, "ada"), make_run(2, "cleo", target=HUB), make_run(4, "bob", draft=HUB)
    assert ALONE.find_yielding(watched, [download]) == [], "it loads a model: that cannot be interrupted"
    download.view = advance(download.view, wire.Loading(4, HUB, 10, 100))
    assert ALONE.find_yielding(watched, [download]) == [download]
    assert ALONE.find_yielding(other_hub, [download]) == [], "two downloads would take turns without end"
    download.wanted = "give way"
    assert ALONE.find_yielding(watched, [download]) == [], "once is enough"
    download.wanted = "end"
    download.view = advance(download.view, wire.Loading(4, HUB, 100, 100))
    assert ALONE.find_yielding(watched, [download]) == [], "it is complete"


def test_a_long_job_finds_something_before_it_gives_way_again_or_ends_its_turn_and_one_ends_at_a_time() -> None:
    watched, race = make_run(2, "ada"), make_long(1, "cleo", target=HUB)
    race.view = replace(race.view, progress=wire.JobProgress(1, "timing", 8, repeat=3))
    race.gave_way_found = race.found
    race.wait_again()
    for repeat, gives_way in [(0, False), (3, False), (4, True)]:
        race.view = advance(race.view, wire.JobProgress(1, "timing", 8, repeat=repeat))
        assert (ALONE.find_yielding(watched, [race]) == [race]) is gives_way
    early, late, stuck = (make_long(number, "cleo") for number in (1, 2, 3))
    running = [stuck, late, early]
    for job, taken_at in ((stuck, 0.0), (early, 1.0), (late, 2.0)):
        job.taken_at = taken_at
    assert find_turn_over(running, 5.0) is None
    for job in (early, late):
        job.view = advance(job.view, wire.JobProgress(job.id, "timing", 8, repeat=1))
    assert find_turn_over(running, 0.5) is None
    assert find_turn_over(running, 5.0) is early
    early.wanted = "take turns"
    assert find_turn_over(running, 5.0) is None, "it is about to end"
