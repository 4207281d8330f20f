"""The engine itself: how it takes a job's failure, which models it keeps, and whole runs of the bundled models."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.core.trace import dump_trace, parse_trace
from specviz.measure.race import RacePrompt
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt
from specviz.models.catalogue import BYTES_OF, bundled_heads, bundled_names
from specviz.models.loaded_model import Reader
from specviz.service import EngineService, workshop
from specviz.service.handlers import job_steps
from specviz.service.protocol import Calibrate, EngineReady, GuessAlong, JobCommand, Race, Run, Sweep, parse_event
from specviz.service.workshop import ModelCache, Workshop
from tests.support.services import PATIENCE, run_of, submit, until_state

STORY = "Once upon a time, there was a little girl named Lily."


def test_what_a_library_prints_is_no_event() -> None:
    script = (
        "import os\n"
        "from specviz.service.engine import _reserve_stdout\n"
        "from specviz.service.protocol import EngineReady\n"
        "send = _reserve_stdout()\n"
        "print('Downloading', flush=True); os.write(1, b'raw'); send(EngineReady({}))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert parse_event(result.stdout) == EngineReady({})
    assert result.stderr == b"Downloading\nraw"


class Library:
    """Loads models that are only a name, a dtype and a size (25 parameters each); remembers what it was asked for."""

    def __init__(self) -> None:
        self.loaded: list[tuple[str, str]] = []
        self.before_loading: Callable[[], object] = lambda: None

    def load(self, name: str, dtype: str) -> SimpleNamespace:
        self.before_loading()
        self.loaded.append((name, dtype))
        return SimpleNamespace(name=name, info=SimpleNamespace(dtype=dtype), bytes=25 * BYTES_OF[dtype])


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    library = Library()
    for name, instead in (("load_model", library.load), ("warm_up", Mock()), ("set_aside", Mock())):
        monkeypatch.setattr(workshop, name, instead)
    return library


def cache_of(budget: int, names: str) -> ModelCache:
    cache = ModelCache(budget)
    cache._sizes = dict.fromkeys("abcd", 25)
    for name in names:
        cache.get(name)
    return cache


def held(cache: ModelCache) -> str:
    return "".join(name for name in "abcd" if cache.holds(name))


def test_the_longest_unused_model_leaves_before_the_next_is_loaded(library: Library) -> None:
    cache = cache_of(250, "aba")
    assert library.loaded == [("a", "float32"), ("b", "float32")], "each once"
    at_loading: list[int] = []
    library.before_loading = lambda: at_loading.append(cache.bytes)
    cache.get("c")
    assert at_loading == [100]  # one had left: with the new one there will be 200 bytes, never 300
    assert held(cache) == "ac"
    library.before_loading = Mock(side_effect=InputError("b is broken."))
    with pytest.raises(InputError, match="b is broken"):
        cache.get("b", keep=("a", "b"))
    assert (held(cache), cache.bytes) == ("a", 100), "nothing is half loaded"


def test_a_model_in_use_never_leaves_and_nothing_leaves_for_a_pair_beyond_the_budget(library: Library) -> None:
    cache = cache_of(200, "ab")
    cache.get("c", keep=("a", "c"))
    assert held(cache) == "ac"
    cache = cache_of(150, "a")
    with pytest.raises(InputError, match=r"^b and c take .*, .* at most "):
        cache.check({"b": 25, "c": 25})
    cache.check({"b": 25})
    assert held(cache) == "a"


@pytest.mark.parametrize(
    ("asked", "free", "budget"),
    [("", 10 * 10**9, 5 * 10**9), ("", 10**8, 4 * 10**8), ("", 0, 4 * 10**8), ("700", 10**10, 700 * 10**6)],
)
def test_the_budget_is_the_operators_or_half_of_what_is_free(
    asked: str, free: int, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workshop, "available_bytes", lambda: free)
    monkeypatch.setenv("SPECVIZ_MODEL_MB", asked)
    assert workshop.budget_from_environment() == budget


@pytest.fixture(scope="module")
def service() -> Iterator[EngineService]:
    service = EngineService()
    service.start()
    yield service
    service.close()


HEADS = [name for name, head in bundled_heads().items() if head.target == bundled_names()[0]]


@pytest.mark.parametrize("draft", ["wren-nano", "lookup", *HEADS, "early-exit:2"])
def test_a_run_is_a_whole_trace(service: EngineService, draft: str) -> None:
    asked = RunRequest(STORY, draft=draft, settings=DecodeSettings(max_new_tokens=24))
    found = run_of(until_state(service, submit(service, draft, asked), "done"))
    assert parse_trace(dump_trace(found.trace)) == found.trace
    assert found.trace.autoregressive.token_ids == found.trace.output.token_ids
    assert found.plain_text == found.trace.output.text


MOST_PASSES = 24  # a race's prompt, or a round of the draft and the target beside a calibrated pass


@pytest.mark.parametrize(
    "command",
    [
        Run(1, RunRequest(STORY, settings=DecodeSettings(max_new_tokens=40))),
        Race(1, RunRequest("", settings=DecodeSettings(max_new_tokens=40)), [RacePrompt("story", STORY)], 2),
        Sweep(1, SweepPlan((SweepPrompt("story", "story-1", STORY),), (SweepPair("wren-base", "wren-nano"),), (2, 4))),
        Calibrate(1, RunRequest("")),
        pytest.param(  # calibrates, and decodes as a run does
            GuessAlong(1, RunRequest(STORY, settings=DecodeSettings(max_new_tokens=40)), ["wren-nano"]),
            marks=pytest.mark.full,
        ),
    ],
    ids=lambda command: type(command).__name__,
)
def test_between_two_steps_of_a_job_are_few_passes_so_it_can_say_that_it_is_alive(
    command: JobCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bench speaks between two steps: see `test_an_engine_at_work_is_never_silent_for_long…`."""
    read, passes, most = Reader.read, 0, 0

    def counted(self: Reader, *given: object, **more: object) -> object:
        nonlocal passes
        passes += 1
        return read(self, *given, **more)

    monkeypatch.setattr(Reader, "read", counted)
    for _ in job_steps(Workshop(), command):
        most, passes = max(most, passes), 0
    assert 0 < most <= MOST_PASSES


def test_the_engine_goes_with_its_server_even_while_it_imports() -> None:
    script = (
        "import os, signal, time\n"
        "from specviz.service import EngineService\n"
        "service = EngineService(); service.start()\n"
        "while not hasattr(service._fleet.drivers[0].engine, '_process'): time.sleep(0.01)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    server = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    # the engine holds the server's stderr: it reaches its end only when both are gone
    _, errors = server.communicate(timeout=PATIENCE)
    assert errors == b""
