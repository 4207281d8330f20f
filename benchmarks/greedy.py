"""An honest visitor's first rounds beside many greedy ones: what the queue and the engine take, without pages.

    python -m benchmarks.greedy [--greedy 150] [--honest 5] [--out benchmarks/results/greedy.json]

Each greedy session asks for a run of its own in the same moment, and for another one whenever that is whole. An honest
visitor asks right after them, and others, one after the other, while the greedy ones go on.

unknown  nobody's address is known, as behind a proxy that does not tell it: each session could be a visitor
known    all greedy ones come from one address, the honest ones from another; both private, so that no limit for public
         addresses (40 sessions with jobs) stops a greedy one first

Times are by the clock, and by the engine's processor: other programs make only the first longer.
"""

import argparse
import os
import subprocess
from dataclasses import dataclass, field
from itertools import count
from time import monotonic

import psutil

from benchmarks.classroom import held_to
from benchmarks.crowds import Part, rounded, spread
from benchmarks.serving import ROOT, resident_mb
from benchmarks.timing import report
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.prompts.workloads import DEFAULT_PRESET
from specviz.models.devices import describe_machine
from specviz.service import EngineService, JobView, ServiceLimits
from specviz.service.protocol import Run

ADDRESSES = {"unknown": (None, None), "known": ("10.1.0.7", "10.2.0.7")}  # of the greedy ones and of the honest ones
AT_MOST = 10.0  # seconds to an honest visitor's first rounds
PATIENCE = 600.0  # seconds for one visitor
PAUSE = 0.2  # seconds between two looks, as a page's poll
SEEDS = count(20_000)  # so that no two ask for the same run


@dataclass
class Crowd:
    """Greedy sessions, each with a run."""

    service: EngineService
    sessions: int
    address: str | None
    runs: dict[str, int] = field(default_factory=dict)
    whole: int = 0

    def ask(self) -> None:
        """Ask for a run in each session that has none, or whose run is whole."""
        for number in range(self.sessions):
            session = f"greedy {number}"
            over = session in self.runs and self.service.view(self.runs[session]).finished
            self.whole += over
            if over or session not in self.runs:
                self.service.arrive(session, self.address)
                self.runs[session] = ask(self.service, session)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedy", type=int, default=150)
    parser.add_argument("--honest", type=int, default=5)
    parser.add_argument("--out")
    options = parser.parse_args()
    load = os.getloadavg()
    played = {name: play(options, *addresses) for name, addresses in ADDRESSES.items()}
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    about = {"machine": describe_machine().machine, "commit": commit, "load_average_before": rounded(load)}
    about |= {"load_average_after": rounded(os.getloadavg())}
    report(about | {"greedy": options.greedy, "honest": options.honest} | played, options.out)


def play(options: argparse.Namespace, greedy_from: str | None, honest_from: str | None) -> Part:
    """The honest visitors alone, then beside the greedy ones."""
    service = EngineService(limits=ServiceLimits(reconnect=3600))
    service.start()
    try:
        service.wait(ask(service, "warm"), lambda _: False, PATIENCE)  # the engine has loaded its models
        crowd = Crowd(service, 0, greedy_from)
        quiet = [first_rounds(crowd, f"early {number}", honest_from) for number in range(options.honest)]
        crowd.sessions = options.greedy
        crowd.ask()
        with_them = first_rounds(crowd, "with them", honest_from)
        beside = [first_rounds(crowd, f"honest {number}", honest_from) for number in range(options.honest)]
        memory = resident_mb(engine_of(service))
    finally:
        service.close()
    worst = max(processor for _, processor in [with_them, *beside])
    return {
        "quiet": both(quiet),
        "right_after_the_greedy_ones": both([with_them]),
        "while_they_go_on": both(beside),
        "greedy_runs_whole": crowd.whole,
        "engine_mb": memory,
        "held_to": [held_to("first rounds, longest, seconds of the engine's processor", worst, AT_MOST)],
    }


def both(waits: list[tuple[float, float]]) -> Part:
    """By the clock and by the engine's processor."""
    return {
        "seconds": spread([seconds for seconds, _ in waits]),
        "processor_seconds": spread([processor for _, processor in waits]),
    }


def ask(service: EngineService, session: str) -> int:
    """A run of 64 tokens by the bundled pair, which nobody else has asked for."""
    settings = DecodeSettings(max_new_tokens=64, temperature=0.7, seed=next(SEEDS))
    return service.submit(session, "run", lambda job: Run(job, RunRequest(DEFAULT_PRESET.text, settings=settings)))


def first_rounds(crowd: Crowd, session: str, address: str | None) -> tuple[float, float]:
    """A visitor asks for a run, and leaves when its first rounds are there: seconds, and those of the processor."""
    service = crowd.service
    began, before = monotonic(), processor_seconds(service)
    service.arrive(session, address)
    job = ask(service, session)
    while not service.wait(job, shown, PAUSE).rounds:
        crowd.ask()
        if monotonic() - began > PATIENCE:
            break
    taken = monotonic() - began, processor_seconds(service) - before
    service.cancel(session, "run")
    return taken


def shown(view: JobView) -> bool:
    return view.rounds > 0


def engine_of(service: EngineService) -> psutil.Process:
    [engine] = service.engine_pids
    return psutil.Process(engine)


def processor_seconds(service: EngineService) -> float:
    used = engine_of(service).cpu_times()
    return float(used.user + used.system)


if __name__ == "__main__":
    main()
