"""What tests of the bundled models share: the target, one thread, and the command line in this process."""

from collections.abc import Callable, Iterator

import pytest
import torch

from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from tests.support.commands import Cli, command_line, without_progress


@pytest.fixture(autouse=True)
def restore_threads() -> Iterator[None]:
    """The command line sets the number of torch's threads."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    return load_model("wren-base")


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
