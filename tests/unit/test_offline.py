"""A run as one HTML file. No browser here; tests/browser/test_offline.py opens it."""

import json
import re
from dataclasses import replace
from html import escape, unescape
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import Trace, dump_trace
from specviz.data.first_run import first_trace
from specviz.player import html_file
from specviz.player.html_file import page_that_says
from specviz.player.offline import offline_page
from specviz.ui.race.state import recorded_race
from tests.support.commands import Cli, command_line
from tests.support.fake_traces import cut, fake_trace

NETWORK = re.compile(r"https?://|\bsrc=|\bhref=|@import (?!\{)|url\((?!#)")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


def recorded() -> Trace:
    trace = first_trace()
    assert trace is not None
    return trace


def test_the_page_holds_the_run_and_no_address() -> None:
    page = offline_page(recorded())
    addresses = {page[found.start() - 60 : found.end() + 40] for found in NETWORK.finditer(page)}
    assert not {text for text in addresses if "w3.org/2000/svg" not in text}  # a name, not an address
    held = re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.DOTALL)
    assert held is not None
    assert len(json.loads(held[1])["rounds"]) == len(recorded().rounds)
    assert "3.20 tokens per target call; 44 of 54 judged drafts accepted." in page
    assert len(page.encode()) < 300_000


def test_hostile_texts_are_text() -> None:
    trace = fake_trace(hostile=True)
    evil = "</script><script>alert(1)</script>"
    trace = replace(
        trace,
        prompt=replace(trace.prompt, text=evil),
        output=replace(trace.output, text="{{script}}" + evil),
        target=replace(trace.target, name="<img src=x onerror=alert(1)>"),
    )
    page = offline_page(trace, plain_text=evil, address="javascript:alert(1)")
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "javascript:" not in page
    assert "{{script}}" in page
    assert evil in unescape(page)


def test_a_link_to_the_live_run_is_escaped() -> None:
    page = offline_page(recorded(), address='https://example.org/?prompt="><script>')
    assert 'href="https://example.org/?prompt=&quot;&gt;&lt;script&gt;"' in page


def test_an_unfinished_run_and_a_page_that_is_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="has not ended"):
        offline_page(cut(recorded(), 3))
    monkeypatch.setattr(html_file, "MOST_BYTES", 100_000)
    with pytest.raises(InputError, match=r"The page would have 0\.2 MB, and at most 0\.1 MB are written\."):
        offline_page(recorded())


def test_the_longest_run_of_the_app_stays_below_two_megabytes() -> None:
    page = offline_page(fake_trace(tokens=256, draft_length=16))
    assert len(page.encode()) < 1_000_000


def test_the_command_writes_the_page(run: Cli, tmp_path: Path) -> None:
    trace, page = tmp_path / "run.json", tmp_path / "run.html"
    trace.write_text(dump_trace(recorded()), encoding="utf-8")
    status, said, _ = run("export", trace, "-o", page)
    assert (status, "plays without a network" in said) == (0, True)
    assert page.read_text(encoding="utf-8") == offline_page(recorded())
    assert run("export", trace, "-o", tmp_path / "no" / "run.html")[0] == 2


def test_a_run_of_a_race_has_the_verdict_of_all_its_repeats() -> None:
    lap = recorded_race()[0]
    page = offline_page(lap.speculative, plain_text=lap.plain.output.text, repeats=lap)
    low, high = lap.verdict.interval or (0, 0)
    assert f"Timed, {len(lap.ratios)} pairs of runs of one text on" in page
    assert f"{lap.verdict.headline} (95 % interval {low:.2f} to {high:.2f}×)." in page
    held = re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.DOTALL)
    assert held is not None
    assert json.loads(held[1])["plain"], "the target alone is beside it"
    assert escape(lap.plain.output.text) in page


def test_a_page_that_cannot_be_made_says_why_as_text() -> None:
    assert "&lt;b&gt;" in page_that_says("<b>")
