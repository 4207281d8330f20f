"""A run as a file: saved to be opened here again, saved as a page that plays it offline, or opened."""

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.trace import dump_trace
from specviz.player.html_file import page_that_says
from specviz.player.offline import offline_page
from specviz.player.replay import replay_data
from specviz.ui.watch.opening import open_one
from specviz.ui.watch.state import Shown

OFFLINE_HELP = "One HTML file that plays this run with its token inspector, from disk, without a network."
HERE_ONLY = ("localhost", "127.0.0.1", "::1")


def show_files(shown: Shown, costs: Costs | None, link: Mapping[str, str]) -> None:
    """Save the run on screen, or open one."""
    unfinished = shown.trace.output.stopped_by is None
    with st.expander("Save this run, or open one"):
        save, right = st.columns(2, gap="medium")
        save.download_button(
            "Save this run as a trace file",
            lambda: dump_trace(shown.trace),
            file_name="specviz-trace.json",
            mime="application/json",
            disabled=unfinished,
            on_click="ignore",
        )
        address = _address(link)
        save.download_button(
            "Save it as a page that plays offline",
            lambda: _page(shown, costs, address),
            file_name="specviz-run.html",
            mime="text/html",
            disabled=unfinished,
            on_click="ignore",
            help=OFFLINE_HELP,
        )
        with right:
            open_one()


def _page(shown: Shown, costs: Costs | None, address: str | None) -> str:
    """The page; without the replay at other draft lengths, and at last a sentence, where it would be too large."""
    replay = replay_data(shown.trace, shown.draft_guesses, costs, running=False) if shown.draft_guesses else None
    for lengths in (replay, None):
        try:
            return offline_page(shown.trace, plain_text=shown.plain_text, replay=lengths, costs=costs, address=address)
        except InputError as error:
            problem = str(error)
    return page_that_says(problem)


def _address(link: Mapping[str, str]) -> str | None:
    """Where others can open this run live; None where only this computer reaches the server."""
    here = urlsplit(st.context.url or "")
    if not link or not here.scheme or here.hostname in HERE_ONLY:
        return None
    return f"{here.scheme}://{here.netloc}{here.path}?{urlencode(link)}"
