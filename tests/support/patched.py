"""What specviz/ui/shared/below_streamlit.py puts its own in place of."""

from collections.abc import Callable
from typing import Any

import pytest

from specviz.ui.shared import below_streamlit as below
from specviz.ui.shared.guard import guard_the_doors

Place = tuple[Any, str]  # an owner, and the name of its function


def places(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Place, Callable[..., Any]]]:
    """Each place that the app changes as it starts, with what comes there; nothing is changed here."""
    found: list[tuple[Place, Callable[..., Any]]] = []
    with monkeypatch.context() as noting:
        noting.setattr(below, "instead", lambda *place: lambda ours: found.append((place, ours)))
        guard_the_doors.__wrapped__()
    return found


def put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's own again after each test, and without what another test has put around it."""
    for (owner, name), _ in places(monkeypatch):
        monkeypatch.setattr(owner, name, _own(getattr(owner, name)))


def _own(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function
