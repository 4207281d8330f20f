"""Open a run on Watch: a trace file, or another system's record, completed with what the visitor knows of it."""

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.names import pair_name
from specviz.data.importers import Given, open_run, system_of
from specviz.models.allowed import may_be_typed
from specviz.models.tokenizer_files import with_tokenizer
from specviz.ui.session import session
from specviz.ui.shared.persistent_widgets import set_widgets
from specviz.ui.shared.uploads import uploaded
from specviz.ui.watch.controls import fill_in_trace
from specviz.ui.watch.state import Watching

PROMPT, TARGET, DRAFT, TOKENIZER = FIELDS = ("record_prompt", "record_target", "record_draft", "record_tokenizer")
FILE_HELP = (
    "A trace file, or what vLLM, SGLang, llama.cpp, transformers or LM Studio report of one run. docs/traces.md says "
    "how to ask each of them for it."
)
TOKENIZER_HELP = (
    "Gives the text of each token where the record has only ids, or only the whole text. For another model, make a "
    "trace with `specviz import` on your machine, and open that."
)
AS_RECORDED = "as the record has it"


def open_one() -> None:
    """The uploader, and what a record may leave open."""
    st.file_uploader(
        "Open a run",
        type=["json", "jsonl", "txt"],
        key="trace_file",
        on_change=_open_another,
        help=FILE_HELP,
    )
    file = uploaded("trace_file")
    if file and system_of(file.getvalue()):
        _record_fields()


def _record_fields() -> None:
    st.caption("A record often lacks some of this. What you fill in here goes before what it says.")
    # One line: Ctrl+Enter, which ends a field of several lines, would press Run again.
    st.text_input("Its prompt", key=PROMPT, placeholder=AS_RECORDED, on_change=_open)
    target, draft = st.columns(2)
    target.text_input("Name of its target", key=TARGET, placeholder=AS_RECORDED, on_change=_open)
    draft.text_input("Name of its draft", key=DRAFT, placeholder=AS_RECORDED, on_change=_open)
    st.selectbox(
        "Tokenizer of its target",
        with_tokenizer(),
        index=None,
        key=TOKENIZER,
        placeholder="none",
        accept_new_options=may_be_typed(),
        on_change=_open,
        help=TOKENIZER_HELP,
    )


def _open_another() -> None:
    """What was filled in was of the file before."""
    set_widgets(dict.fromkeys(FIELDS, "") | {TOKENIZER: None})  # removed keys stay filled in the browser
    _open()


def _open() -> None:
    """Show the run in the file; one that cannot be read changes nothing but a message."""
    watching, file = session().watch, uploaded("trace_file")
    watching.file_problem = ""
    if file is None:
        return
    try:
        trace = open_run(file.getvalue(), _given())
    except InputError as error:
        watching.file_problem = f"That file cannot be shown. {error}"
        return
    asked = fill_in_trace(trace)
    watching.open_trace(trace, f"file-{file.file_id}-{watching.runs}", linked=asked is not None)
    if asked:
        watching.request, watching.preset = asked


def _given() -> Given:
    prompt, target, draft, tokenizer = (st.session_state.get(field) or "" for field in FIELDS)
    if not tokenizer:
        return Given(prompt, target, draft)
    from specviz.models.record_tokenizer import tokenizer_here  # imports tokenizers: few visitors need it

    return Given(prompt, target, draft, tokenizer=tokenizer_here(tokenizer))


def whose_run(watching: Watching) -> str | None:
    """What the run on screen is, where the controls cannot ask for it."""
    shown = watching.shown
    if shown is None or shown.linked:
        return None
    origin = f", imported from {shown.trace.imported.system}" if shown.trace.imported else ""
    return (
        f"On screen is the run of your file: {pair_name(shown.trace)}{origin}. The controls above ask for a new run, "
        "with models of this server."
    )
