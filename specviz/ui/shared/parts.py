"""Parts that several pages draw: lines that come and go, headings, files, figures, tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, Literal, TypedDict

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.judge import Judgement
from specviz.core.languages import ENGLISH, current_language
from specviz.core.metrics import Counts
from specviz.core.names import short_name, show_size
from specviz.core.numbers import localize, localize_text, percent
from specviz.core.verdict import Verdict
from specviz.data.lessons.glossary import explained
from specviz.data.texts import join_choices, page_texts
from specviz.figures.parts import Figure
from specviz.models.draft_menu import HUB_NAMES
from specviz.player.html_file import page_that_says
from specviz.ui.session import session
from specviz.ui.shared.below_streamlit import UploadedFile
from specviz.ui.shared.components import component
from specviz.ui.shared.escaping import file_label, plain
from specviz.ui.shared.job_slot import JobSlot

SAYS = page_texts("shared")
COLUMNS = page_texts("columns")  # their titles by their names; a name that is not there is a title itself
Options = dict[str, Any]  # of a widget
MOST_TYPED = 1_200_000  # characters of a text field: those of a page go in one message, `server.maxWidgetStateSize`
ICONS = {"info": ":material/info:", "warning": ":material/info:", "error": ":material/error:"}


def notices(lines: Iterable[str | None], kind: Literal["info", "warning", "error"] = "warning") -> None:
    """Say the lines, as text, in a place that is there without them too. Empty ones are left out.

    Streamlit knows what has no key by its place among its siblings. A callout that came and went among them would move
    what stands below: a component there is built again and loses its playhead, and tabs forget which one was open.
    """
    with st.container():
        if shown := "\n\n".join(plain(line) for line in lines if line):
            getattr(st, kind)(shown, icon=ICONS[kind])


def report_failure(_: Exception) -> bool:
    """Say it in place of Streamlit's own words; the log has the error. True: it is said."""
    notices([SAYS["failed"]], "error")
    return True


def heading(words: str, more: str = "", place: str = "") -> None:
    """The project's name and what the page is for, in Markdown; the words of the field in `more` are explained."""
    about = f"{words} {explained(more, place)}" if more else words
    st.markdown(f"# :primary[spec]viz&emsp;{about}", unsafe_allow_html=bool(more))


def lead(page: str) -> None:
    says = page_texts(page)
    heading(says["heading"], says["lead"], f"{page}-lead")


def show_words(words: str, place: str) -> None:
    st.markdown(explained(words, place), unsafe_allow_html=True)


def note(words: str, place: str) -> None:
    st.caption(explained(words, place), unsafe_allow_html=True)


def headline(verdict: Verdict) -> str:
    """The verdict's headline as Markdown, without a full stop."""
    return marked(verdict, verdict.headline)


def marked(judged: Judgement, words: str) -> str:
    """Words for a judged speedup, with its symbol and in its colour."""
    icon, color = (judged.look.icon, judged.look.color) if judged.trusted else ("error", "gray")
    return f":material/{icon}: :{color}[**{words}**]"


def uploaded(key: str) -> UploadedFile | None:
    """The file in the uploader of this key; None where there is none, or where the server no longer has it.

    A page can name a file that the server does not have: after a restart, or where the file was refused as too large.
    """
    file = st.session_state.get(key)
    return file if isinstance(file, UploadedFile) else None


def file_uploader(
    label: str, key: str, take: Callable[[bytes, str], object], problems: list[str], **options: Any
) -> None:
    """An uploader; `take` gets content and name of each new file. Where it raises an InputError, that is said."""

    def came() -> None:
        problems.clear()
        if (file := uploaded(key)) is not None:
            try:
                take(file.getvalue(), file_label(file.name))
            except InputError as error:
                problems.extend(str(error).splitlines())

    st.file_uploader(label, key=key, on_change=came, **options)
    notices(problems, "error")


def button(
    label: str, key: str, act: Callable[..., object], *args: Any, icon: str = "", whole_page: bool = False, **look: Any
) -> None:
    """A button that acts in a callback; with `whole_page` all is drawn again, also where it is in a part of the page.

    What Streamlit's button returns is lost where a script begins again before it comes to its buttons.
    """

    def pressed() -> None:
        act(*args)
        if whole_page:
            st.rerun()

    st.button(label, key=key, icon=f":material/{icon}:" if icon else None, on_click=pressed, **look)


def offer_download(slot: JobSlot) -> None:
    """Where a job would be that needs models which are not here: a button that says how much it downloads."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"download-{slot.slot}"):
        if missing := slot.missing:
            known = "some" if not all(missing.values()) else "least" if HUB_NAMES & {*missing} else "all"
            label = SAYS[f"download_{known}"].format(size=show_size(sum(missing.values())))
            names = join_choices([short_name(name) for name in missing], "and")
            st.markdown(plain(SAYS["not_here"].format(models=names)), width="content")
            look: Options = {"icon": "download", "type": "primary"}
            button(label, f"start_download-{slot.slot}", slot.download, whole_page=True, **look)


def choice(label: str, options: Mapping[str, str], key: str, shown: str = "", **look: Any) -> str:
    """Which of these is chosen, by their labels: `shown` at first, or the first. No widget for a single one."""
    names = [*options]
    first = shown if shown in options else names[0]
    if len(names) == 1:
        return first
    named: Options = {"format_func": options.__getitem__, "default": first, "key": key, "required": True}
    return str(st.segmented_control(label, names, **named, **look))


def page_button(label: str, page: str, key: str, icon: str = "arrow_forward", **look: Any) -> None:
    """A button that opens another page, see `open_wanted_page`."""
    button(label, key, setattr, session(), "wanted_page", page, icon=icon, whole_page=True, **look)


def rate_of(counts: Counts) -> str:
    return NOT_MEASURED if counts.acceptance_rate is None else percent(counts.acceptance_rate)


def per_call(counts: Counts) -> str:
    calls = counts.tokens_per_target_call
    return NOT_MEASURED if calls is None else localize(calls, ".2f")


def two_texts(speculative: str, plain_text: str) -> None:
    columns = st.columns(2, gap="medium")
    shown = {"speculative_wrote": speculative, "target_wrote": plain_text}
    for column, (wrote, text) in zip(columns, shown.items(), strict=True):
        column.caption(SAYS[wrote])
        column.text(text or " ")


TYPES = {"csv": "text/csv", "json": "application/json", "html": "text/html", "yaml": "application/yaml"}


def download(
    label: str, made: Callable[[], str | bytes] | str, name: str, key: str | None = None, icon: str = "", **look: Any
) -> None:
    """A button that saves a file; what it holds is made when it is pressed, and the page is not drawn again for it.

    The ending of the file's name says its type. A page that cannot be made is one that says why.
    """

    def page() -> str | bytes:
        try:
            return made if isinstance(made, str) else made()
        except InputError as error:
            return page_that_says(str(error))

    kind = name.rpartition(".")[2]
    data = page if kind == "html" and not isinstance(made, str) else made
    look |= {"icon": f":material/{icon}:" if icon else None, "on_click": "ignore"}
    st.download_button(label, data, name, TYPES[kind], key, **look)


TIMES = "%.2f×"
PERCENT = "%.0f %%"  # of a share times 100
NOT_MEASURED = "–"  # shown in place of a missing value
ROWS_ON_PAPER = 300
MOST_STYLED = 20_000  # cells: a sixth of a second
LONG_WORD = 20  # characters: a longer one is broken, so that the table fits the paper

TableRow = Mapping[str, Any]


def numbers(number_format: str, *names: str) -> dict[str, Any]:
    """One number column for each name, with this format."""
    return {name: st.column_config.NumberColumn(format=number_format) for name in names}


def texts(*names: str) -> dict[str, Any]:
    """Columns of numbers with more beside them, which are texts: on the right."""
    return {name: st.column_config.TextColumn(alignment="right") for name in names}


def data_table(rows: Sequence[Any], key: str, columns: Mapping[str, Any] | None = None) -> None:
    """A data frame on screen, and a plain table on paper. `columns` are their formats, as `st.dataframe` takes them.

    A screen reader is told the columns.
    """
    formats, names = columns or {}, list(rows[0]) if rows else []
    config: dict[str, Any] = {name: {**formats.get(name, {}), "label": COLUMNS.get(name, name)} for name in names}
    shown, written = localized_table(rows, config)
    alt = SAYS["table"].format(columns=join_choices([COLUMNS.get(name, name) for name in names], "and"))
    st.dataframe(shown, key=key, column_config=written, hide_index=True, placeholder=NOT_MEASURED, alt=alt)
    st.html(f'<div class="on-paper">{html_table(rows, formats)}</div>')


def role_table(kind: str, titles: Iterable[str], rows: Iterable[str]) -> str:
    """A table that becomes a list on a phone, and stays a table for a screen reader; the rows are HTML."""
    head = "".join(f'<th role="columnheader" scope="col">{escape(title)}</th>' for title in titles)
    return (
        f'<table class="{kind}" role="table"><thead role="rowgroup">'
        f'<tr role="row">{head}</tr></thead><tbody role="rowgroup">{"".join(rows)}</tbody></table>'
    )


def html_table(rows: Sequence[TableRow], column_config: Mapping[str, Any]) -> str:
    """The rows as HTML, each number with the format of its column. All text is escaped."""

    def cell(value: object, config: Any) -> str:
        kind, text = "", NOT_MEASURED
        if isinstance(value, str):
            kind, text = ' class="long"' if any(len(word) > LONG_WORD for word in value.split()) else "", value
        elif value is not None and value == value:  # a missing number is not equal to itself
            kind, text = ' class="number"', _written(_format_of(config) or "%s", value)
        return f"<td{kind}>{escape(text)}</td>"

    names = list(rows[0]) if rows else []
    head = "".join(f"<th>{escape(COLUMNS.get(name, name))}</th>" for name in names)
    cells = (((row[name], column_config.get(name)) for name in names) for row in rows[:ROWS_ON_PAPER])
    body = "".join(f"<tr>{''.join(cell(*each) for each in line)}</tr>" for line in cells)
    left_out = len(rows) - ROWS_ON_PAPER
    more = f"<p>{escape(SAYS['not_printed'].format(count=left_out))}</p>" if left_out > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def localized_table(rows: Any, columns: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Streamlit writes numbers as English does. In another language the table brings each as it is written there."""
    formats = {name: text for name, column in columns.items() if (text := _format_of(column))}
    if current_language() == ENGLISH or not formats:
        return rows, columns
    from pandas import DataFrame  # st.dataframe needs it too; a page without a table is faster without it

    frame = DataFrame(rows)
    if frame.size > MOST_STYLED:
        return rows, columns
    written: dict[Any, str | Callable[[object], str] | None] = {
        name: partial(_written, text) for name, text in formats.items() if name in frame
    }
    unformatted = {name: {**columns[name], "type_config": {"type": "number"}} for name in written}
    return frame.style.format(written, na_rep=NOT_MEASURED), {**columns, **unformatted}


def _format_of(column: Any) -> str | None:
    found: str | None = ((column or {}).get("type_config") or {}).get("format")
    return found


def _written(number_format: str, value: object) -> str:
    return localize_text(number_format % value)


# ---- figures


class ChartPayload(TypedDict):
    figure: Figure
    alt: str


_CHART = component("specviz_chart", "chart/chart.html", ("chart/chart.css",), "chart/chart")


def chart(figure: Figure, key: str, alt: str = "", **filled: str) -> None:
    """Mount a chart; with the same key it stays when the figure changes.

    `alt` is what the figure shows, for a screen reader: by default what pages.yaml says of this key, with what that has
    in braces `filled`.
    """
    payload: ChartPayload = {"figure": figure, "alt": alt or page_texts("shown")[key].format(**filled)}
    _CHART(key=key, data=payload, height=figure["layout"]["height"])


def two_charts(*shown: tuple[Figure, str, str]) -> None:
    """Charts beside each other: a figure, its key, and the caption above it."""
    for column, (drawn, key, caption) in zip(st.columns(len(shown), gap="medium"), shown, strict=True):
        with column:
            st.caption(caption)
            chart(drawn, key, alt=caption)
