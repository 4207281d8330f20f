"""Addresses of before, by AppTest: each opens the page of today, with all that it asks for."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import streamlit as st
from streamlit.util import calc_hash

from specviz.data.links.page_names import FORMER
from tests.conftest import ROOT
from tests.support.app_pages import page_of


@pytest.mark.parametrize("name", FORMER)
def test_an_address_of_before_leads_to_the_page_with_its_whole_query(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    switches: list[tuple[Path, Mapping[str, list[str]]]] = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: switches.append((page, query_params)))
    page = page_of(prompt="a & b=ü", preset="", workload=["code", "story"], unknown="x")
    page._page_hash = calc_hash(name)  # as a browser opens the app at this address
    page.run()
    asked = {"prompt": ["a & b=ü"], "preset": [""], "workload": ["code", "story"], "unknown": ["x"]}
    assert switches == [(ROOT / "pages" / f"{FORMER[name]}.py", asked)]
