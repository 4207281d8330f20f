"""A workshop with models made by the test, for the handlers' tests."""

from collections.abc import Callable, Generator
from typing import Any

from specviz.core.request import RunRequest
from specviz.service.workshop import Workshop


class FakeWorkshop(Workshop):
    """Loads what `find` gives for a request: target and draft."""

    def __init__(self, find: Callable[[RunRequest], Any]) -> None:
        super().__init__()
        self._find = find

    def load_pair(self, job: int, request: RunRequest) -> Generator[Any, None, Any]:
        yield None
        return self._find(request)


def workshop_with(target: Any, draft: Any) -> FakeWorkshop:
    return FakeWorkshop(lambda request: (target, draft))
