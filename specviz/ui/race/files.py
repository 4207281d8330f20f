"""What can be saved of a race: its figures, all of it, and one prompt's run as a page that plays offline."""

from collections.abc import Sequence

import streamlit as st

from specviz.core.errors import InputError
from specviz.measure.race import RaceLap
from specviz.measure.race_file import dump_race
from specviz.measure.race_table import race_csv
from specviz.player.html_file import page_that_says
from specviz.player.offline import offline_page

OFFLINE_HELP = "One HTML file that plays the speculative run of this prompt, from disk, without a network."


def show_files(laps: Sequence[RaceLap]) -> None:
    """The whole race, as a table or with every time and token."""
    as_csv, as_json, _ = st.columns([1, 1, 3])
    as_csv.download_button(
        "Download CSV",
        lambda: race_csv(laps),
        file_name="specviz-race.csv",
        mime="text/csv",
        width="stretch",
        on_click="ignore",
    )
    as_json.download_button(
        "Download JSON",
        lambda: dump_race(laps),
        file_name="specviz-race.json",
        mime="application/json",
        width="stretch",
        on_click="ignore",
    )


def offline_button(lap: RaceLap) -> None:
    """One prompt's run as a file."""
    st.download_button(
        "Save this run as a page that plays offline",
        lambda: offline_lap(lap),
        file_name=f"specviz-{lap.name}.html",
        mime="text/html",
        key=f"race_offline_{lap.name}",
        icon=":material/download:",
        on_click="ignore",
        help=OFFLINE_HELP,
    )


def offline_lap(lap: RaceLap) -> str:
    """The page, with the verdict of all repeats; a sentence where it would be too large."""
    try:
        return offline_page(lap.speculative, plain_text=lap.plain.output.text, repeats=lap)
    except InputError as error:
        return page_that_says(str(error))
