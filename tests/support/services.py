"""What the tests of the service share: asking for jobs, and waiting for what comes of them."""

import sys
from collections.abc import Callable
from itertools import count, cycle
from time import monotonic
from typing import Any

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt
from specviz.service import EngineService, JobView
from specviz.service import protocol as wire
from specviz.service.child import Child
from specviz.service.job import RunResult, Slot

ENGINE = (sys.executable, "-m", "tests.support.replaying_engine", "--one")
PATIENCE = 300.0  # seconds; far more than anything here takes, so that a busy machine fails no test

SEEDS = count(1)
DRAFTS = cycle(["wren-nano", "wren-mini", "wren-small", "lookup"])


def until(service: EngineService, holds: Callable[[], bool]) -> None:
    deadline = monotonic() + PATIENCE
    with service._changed:
        while not holds():
            assert monotonic() < deadline
            service._changed.wait(0.05)  # most of what is waited for is notified, some only comes with time


def engine_pids(service: EngineService) -> list[int]:
    """Of the engines that run on this machine."""
    with service._changed:
        children = [driver.engine for driver in service._fleet.drivers]
    return [child._process.pid for child in children if isinstance(child, Child) and hasattr(child, "_process")]


def until_state(service: EngineService, job: int, state: str) -> JobView:
    until(service, lambda: service.view(job).state == state)
    return service.view(job)


def submit(service: EngineService, session: str, request: RunRequest) -> int:
    return service.submit(session, "run", lambda job: wire.Run(job, request))


def run(service: EngineService, session: str, prompt: str, **settings: Any) -> int:
    """A run of its own: no other one has its seed."""
    return submit(service, session, RunRequest(prompt, settings=DecodeSettings(seed=next(SEEDS), **settings)))


def measure_costs(service: EngineService, session: str, prompt: str, slot: Slot = "costs") -> int:
    """A calibration of its own: the one before was of another pair."""
    request = RunRequest(prompt, draft=next(DRAFTS))
    return service.submit(session, slot, lambda job: wire.Calibrate(job, request))


def has_begun(view: JobView) -> bool:
    return view.rounds >= 1


def begun(service: EngineService, job: int) -> JobView:
    view = service.wait(job, has_begun, PATIENCE)
    assert view.state == "running", view.message
    return view


def run_of(view: JobView) -> RunResult:
    assert view.run
    return view.run


def sweep_of(number: int) -> wire.Sweep:
    prompts = (SweepPrompt("story", "story-1", "w"),)
    return wire.Sweep(number, SweepPlan(prompts, (SweepPair("wren-base", "lookup"),), draft_lengths=(1, 2, 4)))
