"""The server's one service: whatever visitors do, there is no second one."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import streamlit as st

from specviz.ui.shared.engine import end_engine, engine


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
