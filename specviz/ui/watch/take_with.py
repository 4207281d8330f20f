"""“Take this with you”: the live file with the settings on screen; the browser puts it together from static files."""

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import streamlit as st

from specviz.data.permalink import link_of
from specviz.player.live import IN_ONE_FILE, MODELS, WEIGHTS, live_file_with
from specviz.ui.shared.components import component, publish, served_folder
from specviz.ui.watch.watch_state import Watching

_TAKE = component("specviz_take", "live/take.html", ("live/take.css",), "live/take.js")


@dataclass(frozen=True, slots=True)
class Parts:
    """See `Parts` in assets/live/take.js: static files by their names, and the bytes of the weights."""

    page: str
    weights: dict[str, tuple[str, int]]


@st.cache_resource(show_spinner=False)  # once for all visitors
def _published() -> Parts | None:
    """None where static files cannot be written."""
    page = live_file_with("").encode()
    stamp, folder = sha256(page).hexdigest()[:16], served_folder()  # the page has the checksums of the weights
    weights = {name: (f"{name}-{stamp}.safetensors", MODELS / name / WEIGHTS) for name in IN_ONE_FILE}
    files: dict[str, bytes | Path] = {f"live-{stamp}.html": page, **dict(weights.values())}
    if not all(publish(folder / name, content) for name, content in files.items()):
        return None
    return Parts(f"live-{stamp}.html", {name: (file, path.stat().st_size) for name, (file, path) in weights.items()})


def take_with(watching: Watching) -> None:
    parts, (request, _) = _published(), watching.form.current
    if parts is None:
        st.caption("This server cannot write the live file. `python -m specviz export live -o live.html` writes it.")
        return
    _TAKE(key="take_with", data=asdict(parts) | {"link": link_of(request) | {"prompt": request.prompt}})
