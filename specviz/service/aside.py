"""Waiting for the Hub in threads of their own, so that the engine goes on with other jobs meanwhile."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from threading import Thread
from time import monotonic
from typing import TypeVar

from specviz.models.hub import Progress
from specviz.models.read_model import download

POLL_SECONDS = 0.01  # between two looks whether something is done; a stop is heard as soon
PATIENCE_SECONDS = 10.0  # a download that no job asks about for this long ends; the next one continues there

Result = TypeVar("Result")


def aside(work: Callable[[], Result]) -> Generator[None, None, Result]:
    """Do the work in a thread; yields None until it is done. A job that stops leaves the thread to end by itself.

    Raises:
        Exception: what the work raised.
    """
    done: Future[Result] = Future()
    Thread(target=_do, args=(work, done), name="aside", daemon=True).start()
    while not wait([done], POLL_SECONDS).done:
        yield None
    return done.result()


class Downloads:
    """The downloads at work. Jobs that want the same model share one."""

    def __init__(self) -> None:
        self._at_work: dict[str, _Download] = {}

    @property
    def names(self) -> list[str]:
        """The models that are being downloaded."""
        return list(self._at_work)

    def steps(self, name: str) -> Iterator[Progress | None]:
        """How far the download is, and None before it has begun; ends when the model is here.

        Raises:
            InputError: it cannot be downloaded.
        """
        if name not in self._at_work or self._at_work[name].ended:
            self._at_work[name] = _Download(name)
        this = self._at_work[name]
        while not wait([this.done], POLL_SECONDS).done:
            this.asked_at = monotonic()
            yield this.progress
        if self._at_work.get(name) is this:
            del self._at_work[name]
        this.done.result()
        yield this.progress


class _Download:
    """One download, in a thread of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.progress: Progress | None = None
        self.asked_at = monotonic()  # when a job last asked how far it is
        self.done: Future[None] = Future()
        Thread(target=_do, args=(self._run, self.done), name="download", daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether it is complete, failed, or was given up."""
        return self.done.done()

    def _run(self) -> None:
        for progress in download(self._name):
            self.progress = progress
            if monotonic() - self.asked_at > PATIENCE_SECONDS:
                return


def _do(work: Callable[[], Result], done: Future[Result]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:
        done.set_exception(error)
