"""The command line in this process, for the tests that run its commands."""

from collections.abc import Callable, Iterator

import pytest
import torch

from tests.support.commands import Cli, command_line, without_progress


@pytest.fixture(autouse=True)
def restore_threads() -> Iterator[None]:
    """The command line sets the number of torch's threads."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


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
