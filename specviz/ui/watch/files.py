"""A run as a file: saved to be opened here again, saved as a page that plays it offline, or opened.

“Take this with you” is the live file with the settings on screen; the browser puts it together from static files.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.languages import cache_by_language, current_language
from specviz.core.names import pair_name
from specviz.core.trace import dump_trace
from specviz.data.links.permalink import link_of
from specviz.data.texts import page_texts
from specviz.models.draft_menu import allows_typing
from specviz.models.record_tokenizer import list_tokenizers, tokenizer_here
from specviz.player.live import around_weights, live_pieces
from specviz.player.offline import offline_page
from specviz.systems import RecordOptions, open_run, system_of
from specviz.ui.shared.address import only_here, own_address
from specviz.ui.shared.components import component, publish, served_folder
from specviz.ui.shared.parts import download, uploaded
from specviz.ui.shared.persistent_widgets import set_widgets
from specviz.ui.watch.controls import fill_in_trace
from specviz.ui.watch.watch_state import WatchState, recorded_run

SAYS = page_texts("watch")
PROMPT, TARGET, DRAFT, TOKENIZER = FIELDS = ("record_prompt", "record_target", "record_draft", "record_tokenizer")


def open_one(watching: WatchState) -> None:
    def open_another() -> None:
        set_widgets(dict.fromkeys(FIELDS, "") | {TOKENIZER: None})  # removed keys stay filled in the browser
        _open(watching)

    act: dict[str, Any] = {"on_change": open_another, "help": SAYS["file_help"]}
    st.file_uploader(SAYS["open_run"], type=["json", "jsonl", "txt"], key="trace_file", **act)
    if not (watching.file_is_record and uploaded("trace_file")):
        return
    st.caption(SAYS["record_about"])
    changed: dict[str, Any] = {"on_change": _open, "args": (watching,), "placeholder": SAYS["as_recorded"]}
    # One line: Ctrl+Enter, which ends a field of several lines, would press Run again.
    st.text_input(SAYS["record_prompt"], key=PROMPT, **changed)
    target, draft = st.columns(2)
    target.text_input(SAYS["record_target"], key=TARGET, **changed)
    draft.text_input(SAYS["record_draft"], key=DRAFT, **changed)
    menu = changed | {"index": None, "placeholder": SAYS["no_tokenizer"], "help": SAYS["tokenizer_help"]}
    typed = allows_typing()
    st.selectbox(SAYS["record_tokenizer"], list_tokenizers(), key=TOKENIZER, accept_new_options=typed, **menu)


def _open(watching: WatchState) -> None:
    """Show the run in the file; one that cannot be read changes nothing but a message."""
    file = uploaded("trace_file")
    watching.file_problem = ""
    if file is None:
        return
    content = file.getvalue()
    watching.file_is_record = system_of(content) is not None
    try:
        trace = open_run(content, _given())
    except InputError as error:
        watching.file_problem = page_texts("shared")["file_refused"].format(problem=error)
        return
    shown = recorded_run(trace, f"file-{file.file_id}-{watching.past.files}")
    asked = fill_in_trace(watching.form, trace)
    watching.past.open(trace)
    watching.open_recorded(replace(shown, linked=asked is not None))
    watching.asked = asked or watching.asked


def _given() -> RecordOptions:
    prompt, target, draft, tokenizer = (st.session_state.get(field) or "" for field in FIELDS)
    return RecordOptions(prompt, target, draft, tokenizer=tokenizer_here(tokenizer) if tokenizer else None)


def describe_run(watching: WatchState) -> str | None:
    """What the run on screen is, where the controls cannot ask for it."""
    shown = watching.shown
    if shown.linked:
        return None
    pair, imported = pair_name(shown.trace), shown.trace.imported
    if imported:
        pair = SAYS["imported"].format(pair=pair, system=imported.system)
    return SAYS["file_run"].format(pair=pair)


def show_files(watching: WatchState, link: Mapping[str, str]) -> None:
    shown = watching.shown
    known: dict[str, Any] = {"plain_text": shown.plain_text, "guesses": shown.draft_guesses}
    here = own_address()
    if link and here.scheme and not only_here():  # others can open this run live
        known["address"] = f"{here.scheme}://{here.netloc}{here.path}?{urlencode(link)}"
    page = partial(offline_page, shown.trace, costs=watching.costs_of(shown), **known)
    with st.expander(SAYS["files"]):
        save, right = st.columns(2, gap="medium")
        with save:
            able: dict[str, Any] = {"disabled": shown.trace.output.stopped_by is None}
            download(SAYS["save_trace"], partial(dump_trace, shown.trace), "specviz-trace.json", **able)
            download(SAYS["save_offline"], page, "specviz-run.html", **able)
            if (parts := _published()) is None:
                st.caption(SAYS["no_live_file"])
            else:
                request = watching.form.current
                _TAKE(key="take_with", data=parts | {"link": link_of(request) | {"prompt": request.prompt}})
        with right:
            open_one(watching)


_TAKE = component("specviz_take", "live/take.html", ("live/take.css",), "live/take")


@cache_by_language  # once for all its visitors
def _published() -> dict[str, object] | None:
    """See `Taken` in assets/browser/live/take.ts; None where static files cannot be written."""
    (before, after), folder, begin = around_weights(), served_folder(), f"live-{current_language()}-"
    name = f"{begin}{sha256((before + after).encode()).hexdigest()[:16]}.html"
    if not publish(folder / name, lambda: (piece.encode() for piece in live_pieces(before, after))):
        return None
    for older in set(folder.glob(f"{begin}*.html")) - {folder / name}:  # 33 MB each
        older.unlink(missing_ok=True)
    return {"file": name, "bytes": (folder / name).stat().st_size, "weights": len(before.encode())}
