"""What tests of the bundled models share: the target, one thread, and the command line in this process."""

from collections.abc import Callable, Iterator

import pytest
import torch

from specviz.measure import calibration, compare
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from tests.support.commands import Cli, command_line, without_progress
from tests.support.replaying_engine import COSTS


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As the other tests have it; the command line may set another number.

    A run's costs are not measured each time, and no calibration is refused: a busy machine runs these tests too.
    """
    monkeypatch.setattr(compare, "measure_costs", lambda *_: COSTS)
    monkeypatch.setattr(calibration, "check_costs", lambda *_: None)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def target() -> LoadedModel:
    """Read only."""
    return load_model("wren-base")


@pytest.fixture(scope="session")
def nano() -> LoadedModel:
    """Read only."""
    return load_model("wren-nano")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


@pytest.fixture
def ok(run: Cli) -> Callable[..., str]:
    """The standard output of a command that succeeds and says nothing but its progress on standard error."""

    def call(*arguments: object) -> str:
        status, out, err = run(*arguments)
        assert (status, without_progress(err)) == (0, "")
        return out

    return call
