"""Addresses of before, by AppTest: each opens the page of today, with all that it asks for."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from specviz.data.links.page_names import FORMER, IN_MENU, TITLES
from tests.conftest import ROOT
from tests.support.app_pages import page_of


def at(address: str, **link: str | list[str]) -> AppTest:
    """The app as a browser opens it at this address; not drawn yet."""
    page = page_of(**link)
    page._page_hash = calc_hash(address)
    return page


def test_a_page_has_the_name_that_the_menu_shows() -> None:
    for page in IN_MENU:
        assert page == TITLES[page].lower().replace(" ", "_")
        assert (ROOT / "pages" / f"{page}.py").exists()
        assert (ROOT / "specviz" / "ui" / page / f"{page}_page.py").exists()


@pytest.mark.parametrize("name", FORMER)
def test_an_address_of_before_leads_to_the_page_with_its_whole_query(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    switches: list[tuple[Path, Mapping[str, list[str]]]] = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: switches.append((page, query_params)))
    at(name, prompt="a & b=ü", preset="", workload=["code", "story"], unknown="x").run()
    asked = {"prompt": ["a & b=ü"], "preset": [""], "workload": ["code", "story"], "unknown": ["x"]}
    assert switches == [(ROOT / "pages" / f"{FORMER[name]}.py", asked)]
