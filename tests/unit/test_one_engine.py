"""The server's one service: whatever visitors do, there is no second one."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import streamlit as st

from specviz.data.first_run import first_trace
from specviz.service import EngineService
from specviz.ui.shared.engine import _start, end_engine, engine, start_engine


def test_clearing_streamlits_caches_makes_no_second_engine() -> None:
    """Any visitor can ask the server for that, in one message."""
    before = engine()
    st.cache_resource.clear()
    assert engine() is before
    end_engine()


def test_first_visitors_who_come_together_share_one_engine() -> None:
    together = Barrier(8)

    def ask() -> int:
        together.wait()
        return id(engine())

    with ThreadPoolExecutor(8) as pool:
        found = {each.result() for each in [pool.submit(ask) for _ in range(8)]}
    assert len(found) == 1
    end_engine()


def test_the_pair_of_the_first_screen_is_measured_before_anyone_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its figures wait, and each visitor's page asks again and again."""
    asked = []
    monkeypatch.setattr(EngineService, "start", lambda _: None)
    monkeypatch.setattr(EngineService, "submit", lambda _, session, slot, make: asked.append(make(1).request))
    _start.cache_clear()
    start_engine()
    start_engine()
    first = first_trace()
    assert first is not None
    assert first.drafter is not None
    assert [(each.target, each.draft) for each in asked] == [(first.target.name, first.drafter.name)]
    _start.cache_clear()
    end_engine()
