"""A run in a notebook: the page that plays offline, in a frame. tests/browser opens it."""

from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

import specviz
from specviz.core.errors import InputError
from specviz.core.trace import Trace
from specviz.data.first_run import first_trace
from specviz.player.html_file import DARK, SCHEMES, Scheme
from specviz.player.offline import offline_page
from tests.support.fake_traces import cut, fake_trace


class Tags(HTMLParser):
    """The tags of an HTML text, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def recorded() -> Trace:
    trace = first_trace()
    assert trace is not None
    return trace


def frame_of(trace: Trace, theme: Scheme = "auto") -> dict[str, str | None]:
    [(tag, attributes)] = Tags(specviz.show(trace, theme)._repr_html_()).found
    assert tag == "iframe"
    return attributes


def test_the_frame_holds_the_page_that_plays_offline() -> None:
    frame = frame_of(recorded())
    assert frame["srcdoc"] == offline_page(recorded())
    assert frame["sandbox"] == "allow-scripts", "it may reach nothing of the notebook"
    assert frame["height"] == "720"
    assert Tags(specviz.show(recorded(), height=300)._repr_html_()).found[0][1]["height"] == "300"


def test_a_hostile_run_stays_inside_the_frame() -> None:
    trace = fake_trace(hostile=True)
    trace = replace(trace, target=replace(trace.target, name='"><script>alert(1)</script>'))
    frame = frame_of(trace)
    assert unescape(str(frame["title"])).startswith('A run of "><script>')


@pytest.mark.parametrize("theme", SCHEMES)
def test_the_theme_can_be_chosen(theme: Scheme) -> None:
    page = str(frame_of(recorded(), theme)["srcdoc"])
    assert (DARK in page) == (theme == "auto")
    names = {"auto": "light dark", "light": "light", "dark": "dark"}
    assert f'<meta name="color-scheme" content="{names[theme]}">' in page
    assert ("@media all {" in page) == (theme == "dark")
    assert ("@media not all {" in page) == (theme == "light")


def test_without_a_notebook_it_says_what_it_is() -> None:
    shown = repr(specviz.show(fake_trace(tokens=8)))
    assert "A run of wren-base with wren-nano" in shown
    assert "<html" not in shown


def test_what_cannot_be_shown_is_one_sentence() -> None:
    with pytest.raises(InputError, match="has not ended"):
        specviz.show(cut(recorded(), 3))
    with pytest.raises(InputError, match="theme must be auto, light or dark, not 'blue'"):
        specviz.show(recorded(), theme="blue")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="height must be at least 1 pixel"):
        specviz.show(recorded(), height=0)
