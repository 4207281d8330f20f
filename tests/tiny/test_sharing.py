"""Visitors who ask for the same share one run, while it is made and after; an engine without models."""

from dataclasses import replace
from pathlib import Path

import pytest

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.service import EngineService
from specviz.service.protocol import Calibrate, CostsResult, Run, Sweep
from specviz.service.run_store import RunStore
from specviz.service.service import sharing_key
from tests.support.services import (
    PATIENCE,
    has_begun,
    measure_costs,
    run,
    run_of,
    submit,
    sweep_of,
    until,
    until_state,
)
from tests.tiny.conftest import Start

REQUEST = RunRequest("rounds 3")
HELD = RunRequest("hold")


@pytest.fixture
def service(start: Start, tmp_path: Path) -> EngineService:
    return start(store=RunStore(tmp_path / "runs"))


def test_a_class_that_opens_one_link_has_one_run(service: EngineService) -> None:
    held = run(service, "teacher", "hold")
    until_state(service, held, "running")
    jobs = [submit(service, f"student {number}", REQUEST) for number in range(30)]
    assert {service.view(job).place for job in jobs} == {1}, "all wait for the same run"
    service.cancel("teacher", "run")
    results = [run_of(until_state(service, job, "done")) for job in jobs]
    assert len({found.id for found in results}) == 1
    late = service.view(submit(service, "late", REQUEST))
    assert (late.state, run_of(late)) == ("done", results[0]), "it is there at once"


def test_run_again_measures_again_and_replaces_the_run(service: EngineService) -> None:
    first = run_of(until_state(service, submit(service, "ada", REQUEST), "done"))
    again = service.submit("ada", "run", lambda job: Run(job, REQUEST), fresh=True)
    assert not service.view(again).finished
    second = run_of(until_state(service, again, "done"))
    assert second.trace.rounds == first.trace.rounds, "this engine always takes the same time"
    other = service.submit("bob", "run", lambda job: Run(job, REQUEST), fresh=True)
    third = service.submit("cleo", "run", lambda job: Run(job, REQUEST), fresh=True)
    until_state(service, other, "done")
    until_state(service, third, "done")


def test_a_fresh_run_joins_one_that_has_not_begun_and_no_other(service: EngineService) -> None:
    begun = submit(service, "ada", HELD)
    service.wait(begun, has_begun, PATIENCE)
    one, two = (service.submit(name, "run", lambda job: Run(job, HELD), fresh=True) for name in ("bob", "cleo"))
    assert service.view(begun).state == "running"
    assert [service.view(job).place for job in (one, two)] == [1, 1]


def test_one_who_cancels_a_shared_run_does_not_end_it_for_the_others(service: EngineService) -> None:
    one, two = submit(service, "ada", HELD), submit(service, "bob", HELD)
    service.wait(two, has_begun, PATIENCE)
    service.cancel("ada", "run")
    assert (service.view(one).state, service.view(one).rounds) == ("cancelled", 1)
    assert service.view(two).state == "running"
    submit(service, "bob", REQUEST)
    until(service, lambda: service._fleet.drivers[0].running == [])


def test_one_who_asks_for_something_else_leaves_the_shared_run_in_its_place(service: EngineService) -> None:
    until_state(service, run(service, "teacher", "hold"), "running")
    one, two = submit(service, "ada", HELD), submit(service, "bob", HELD)
    other = submit(service, "ada", REQUEST)
    assert service.view(one).state == "lost"
    assert [service.view(job).place for job in (two, other)] == [1, 2]


def test_costs_are_measured_once_for_all(service: EngineService) -> None:
    measured = until_state(service, measure_costs(service, "ada", "quick"), "done").result
    assert isinstance(measured, CostsResult)
    command = next(iter(service._costs))
    draft = next(name for name in ("wren-nano", "wren-mini", "wren-small", "lookup") if f'"{name}"' in command)
    asked = RunRequest("another prompt", draft=draft)
    view = service.view(service.submit("bob", "costs", lambda job: Calibrate(job, asked)))
    assert (view.state, view.result) == ("done", measured)


def test_what_was_stored_is_there_after_the_server_was_started_again(start: Start, tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        service = start(store=RunStore(tmp_path / "runs"))
        found.append(run_of(until_state(service, submit(service, "ada", REQUEST), "done")))
        service.close()
    assert found[0] == found[1]
    store = RunStore(tmp_path / "runs")
    stored = store.get(found[0].id)
    assert stored
    assert (stored.request, stored.result) == (REQUEST, found[0])


def test_what_is_asked_for_is_settings_prompt_models_and_number_format() -> None:
    settings = DecodeSettings(seed=1)
    requests = [
        REQUEST,
        replace(REQUEST, prompt="other"),
        replace(REQUEST, draft="lookup"),
        replace(REQUEST, precision="fast"),
        replace(REQUEST, settings=settings),
        replace(REQUEST, settings=replace(settings, draft_sampling="argmax")),
        replace(REQUEST, settings=replace(settings, verification="block")),
        replace(REQUEST, settings=replace(settings, tree="dynamic:8")),
        replace(REQUEST, draft="early-exit:1"),
        replace(REQUEST, draft="early-exit:2"),
    ]
    keys = {sharing_key(Run(number, request)) for number, request in enumerate(requests)}
    assert len(keys) == len(requests)
    assert sharing_key(Run(1, REQUEST)) == sharing_key(Run(2, RunRequest("rounds 3")))
    assert sharing_key(Calibrate(1, requests[0])) == sharing_key(Calibrate(2, requests[1]))
    assert sharing_key(Calibrate(1, requests[0])) != sharing_key(Calibrate(2, requests[2]))
    sweep: Sweep = sweep_of(1)
    assert sharing_key(sweep) is None


def test_new_weights_make_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sharing_key(Run(1, REQUEST))
    monkeypatch.setattr("specviz.service.service.weights_hash", lambda folder: "other")
    assert sharing_key(Run(1, REQUEST)) != before


# ---- several engines


def test_several_engines_work_at_the_same_time_and_say_so(start: Start) -> None:
    service = start(engines=2)
    one, two = run(service, "ada", "hold"), run(service, "bob", "hold")
    until(service, lambda: {service.view(job).state for job in (one, two)} == {"running"})
    assert len(service.engine_pids) == 2
    assert [service.view(job).beside for job in (one, two)] == [1, 1]
    third = run(service, "cleo", "rounds 1")
    assert service.view(third).place == 1
    service.cancel("ada", "run")
    until_state(service, third, "done")


def test_background_work_goes_on_while_another_engine_is_idle(start: Start) -> None:
    service = start(engines=2)
    until(service, lambda: all(driver.ready for driver in service._fleet.drivers))
    measuring = measure_costs(service, "ada", "hold")
    until_state(service, measuring, "running")
    watched = run(service, "bob", "hold")
    until_state(service, watched, "running")
    assert service.view(measuring).state == "running"
