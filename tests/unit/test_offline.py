"""What leaves the app as one file: a run, a lesson, a sheet, a SCORM package, a run in a notebook. No browser here."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import specviz
from specviz.core.trace import SourceSystem, Trace
from specviz.data.lessons.plans import FOLDER, LessonPlan, Moment, Screen, all_plans
from specviz.data.lessons.story import quiz
from specviz.data.measured.first_run import first_trace
from specviz.data.texts import asset
from specviz.player.html_file import Scheme, page_that_says, program
from specviz.player.offline import lesson_page, offline_page
from specviz.player.scorm import manifest, scorm_package
from specviz.player.sheet import key_html, result_picture, round_picture, sheet_html
from specviz.ui.race.race_page import recorded_race
from tests.support.commands import command_line
from tests.support.fake_traces import fake_trace
from tests.support.html import Html
from tests.support.known import known
from tests.support.records import tree_run

RECORDED = known(first_trace())
LAP = recorded_race()[0]
NETWORK = re.compile(r"https?://|\bsrc=|\bhref=|@import (?!\{)|url\((?!#)")
LOADS = re.compile(r"\bsrc=|@import (?!\{)|url\((?!#)")
SCRIPT = "</script><script>alert(1)</script>"
EVIL = f"{SCRIPT}</style> & \" ' {{{{script}}}}"
ADDRESS = "https://specviz.example.org/?lesson=ten-minutes&moment=1"


def body_of(page: str) -> str:
    """What a page says, an element a line: without its style, its program, its data, and the stage."""
    body = page[page.index("<body") :].replace(asset("stage/stage.html"), "")
    body = re.sub(r"(?s)<(script|svg)\b.*?</\1>", r"<\1/>", body)
    return re.sub(r">\s*(?=<(?:p|h\d|d[tdi]|li|section|pre|label|fieldset|header|footer|nav|b)\b)", ">\n", body)


def data_in(page: str, name: str) -> Any:
    return json.loads(page.partition(f'<script type="application/json" id="{name}">')[2].partition("</script>")[0])


def moment(link: str = "./?run=first&step=4&hide=result", **given: str) -> Moment:
    texts = {"title": "T", "question": "Q", "answer": "A", "mistakes": "M", "do": "D"} | given
    return Moment(minutes=2, screen=Screen.from_link(link), **texts)  # type: ignore[arg-type]


def plan(*moments: Moment, title: str = "A lesson", name: str = "mine") -> LessonPlan:
    return LessonPlan(title, 10, ("A goal",), moments or (moment(),), name)


LOOKUP, SHORT = fake_trace(tokens=12, lookup=True, plain=False, seed=3), fake_trace(tokens=12, plain=False)
SAMPLED = replace(LOOKUP, settings=replace(LOOKUP.settings, top_k=40, top_p=0.9))
SOURCE = SourceSystem("vLLM 0.29", notes=["One note."], unknown=["temperature"])
IMPORTED = replace(SHORT, imported=SOURCE, target=replace(SHORT.target, parameters=0))
OWN = plan(
    moment("./?run=first&step=3", title="One", question="Two?", answer="Three", mistakes="Four", do="Five"),
    moment("./?run=first&step=16&hide=result", mistakes="", do=""),
    moment("./be_the_draft?seed=1"),
    moment("./?run=story-pays&step=11&view=explain"),  # judged: no question any more
    moment("./?preset=story-2&gamma=6"),
)
PAGES: dict[str, Callable[[], str]] = {
    "recorded": lambda: offline_page(RECORDED, plain_text="a<b", address='https://example.org/?prompt="><script>'),
    "repeated": lambda: offline_page(LAP.speculative, repeats=LAP),
    "sampled": lambda: offline_page(SAMPLED),
    "imported": lambda: offline_page(IMPORTED),
    "alone": lambda: offline_page(replace(fake_trace(tokens=8), drafter=None, rounds=[])),
    "sheet": lambda: sheet_html(OWN, ADDRESS),
    "sheet without a link": lambda: sheet_html(plan()),
    "key": lambda: key_html(OWN),
    "lesson": lambda: lesson_page(OWN, "https://host/", quiz()[:1]),
    "lesson without a server": lambda: lesson_page(plan(*OWN.moments[2:])),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_was_run_and_what_is_asked(name: str, snapshot: SnapshotAssertion) -> None:
    assert body_of(PAGES[name]()) == snapshot


def test_the_page_holds_the_run_and_no_address() -> None:
    page, script = offline_page(RECORDED), program("offline/player")
    assert NETWORK.findall(page.replace(script, "")) == []
    names = re.findall(r"https?://[\w./]*", script)  # of languages: no addresses
    assert set(names) == {f"http://www.w3.org/{each}" for each in ("2000/svg", "1999/xhtml", "1998/Math/MathML")}
    assert len(data_in(page, "run")["run"]["trace"]["rounds"]) == len(RECORDED.rounds)
    assert len(page.encode()) < 250_000
    assert len(offline_page(fake_trace(tokens=256, draft_length=16)).encode()) < 1_000_000


def test_hostile_texts_are_text() -> None:
    trace = fake_trace(hostile=True)
    target = replace(trace.target, name="<img src=x onerror=alert(1)>")
    prompt, output = replace(trace.prompt, text=EVIL), replace(trace.output, text=EVIL)
    hostile = replace(trace, prompt=prompt, output=output, target=target)
    page = offline_page(hostile, plain_text=EVIL, address="javascript:alert(1)")
    assert page.count("<script") == page.count("</script>") == 2
    assert not re.search("<img|javascript:", page)
    assert EVIL in unescape(page), "a mark inside a text is not filled in"
    own = plan(moment(title=EVIL, question=EVIL, answer=EVIL, mistakes=EVIL, do=EVIL), title=EVIL)
    for page in (sheet_html(own, f"https://host/{EVIL}"), key_html(own), lesson_page(own, EVIL)):
        assert EVIL in unescape(page)
        assert "<script>alert" not in page
        assert not LOADS.search(page.split("<script type=")[0])
    for step in range(3 * len(trace.rounds)):
        for drawn in (round_picture(trace, step), result_picture(trace, step)):
            assert not re.search(r"<(?!/?(div|b|p|span)\b)", drawn)
    assert "&lt;b&gt;" in page_that_says("<b>")


def test_a_frame_of_a_notebook_holds_the_page_and_a_hostile_run_stays_inside() -> None:
    hostile = replace(SHORT, target=replace(SHORT.target, name=f'">{SCRIPT}'))
    shown: list[tuple[Trace, Scheme]] = [(RECORDED, "dark"), (hostile, "auto")]
    for run, theme in shown:
        [(tag, frame)] = Html(specviz.show(run, theme)._repr_html_()).found
        assert (tag, frame["sandbox"]) == ("iframe", "allow-scripts"), "it may reach nothing of the notebook"
        assert frame["srcdoc"] == offline_page(run, scheme=theme)
    assert str(frame["title"]).startswith(f'A run of ">{SCRIPT}')
    assert "<html" not in repr(specviz.show(SHORT))


def test_moments_share_their_run_and_begin_at_their_own_place() -> None:
    data = data_in(lesson_page(OWN), "lesson")
    assert list(data["runs"]) == ["first", "story-pays"]
    shown = [
        one and (one["run"], *(one["state"][name] for name in ("playhead", "view", "hide"))) for one in data["moments"]
    ]
    assert shown == [
        ("first", 3, "full", []), ("first", 16, "full", ["result"]), None, ("story-pays", 11, "simple", []), None
    ]  # fmt: skip


def test_a_round_on_paper_is_a_question_until_it_is_judged(snapshot: SnapshotAssertion) -> None:
    rounds = [round_picture(trace, step) for trace in (RECORDED, tree_run()) for step in (3, 5)]
    assert "\n".join(rounds).replace("<p", "\n<p") == snapshot


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_the_sheet_and_the_offline_page_have_every_question_and_no_answer(plan: LessonPlan) -> None:
    made = (sheet_html(plan, ADDRESS), lesson_page(plan), key_html(plan))
    sheet, page, key = map(unescape, made)
    for each in plan.moments:
        secrets = {each.answer, each.mistakes, each.do} - {""}
        for shown in (sheet, page):
            assert each.question in shown
            assert [secret for secret in secrets if secret in shown] == []
        assert [secret for secret in (each.title, *secrets) if secret not in key] == []
    assert 'aria-label="QR code of the link"' in sheet
    assert "QR code" not in sheet_html(plan, f"{ADDRESS}&{'x' * 700}")  # too fine for a phone
    assert len(made[0].encode()) < 30_000
    assert len(made[1].encode()) < 420_000


def test_lessons_sheets_and_keys_are_written_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own, run = all_plans()[0], command_line(capsys)
    page, other = tmp_path / "page.html", tmp_path / "other.html"
    asked = ("export", "lesson", own.name, "-o", page, "--notes", other, "--address", "https://host/app?x=1")
    assert "plays without a network" in run(*asked)[1]
    assert page.read_text(encoding="utf-8") == lesson_page(own, "https://host/app/")
    assert other.read_text(encoding="utf-8") == key_html(own)
    assert "a SCORM 1.2 package" in run("export", "lesson", own.name, "--scorm", "-o", page)[1]
    assert page.read_bytes() == scorm_package(own)
    assert run("export", "lesson", FOLDER / "ten-minutes.yaml", "-o", page)[0] == 0
    assert "Which guess fails?" in page.read_text(encoding="utf-8")
    sheet = sheet_html(own, f"https://host/?lesson={own.name}&moment=1")
    for options, written in {
        ("--address", "https://host/"): sheet, ("--key",): key_html(own), (): sheet_html(own)
    }.items():  # fmt: skip
        said = run("lesson", "sheet", own.name, "--out", other, *options)[1]
        assert (other.read_text(encoding="utf-8") == written, "without a link" in said) == (True, not options)
    assert "--out" in run("lesson", "sheet", own.name)[2]


@pytest.mark.parametrize("name", ["My plan (1)", "计划~"])
def test_the_manifest_is_that_of_adls_schema_and_its_identifier_an_xml_name(
    name: str, snapshot: SnapshotAssertion
) -> None:
    """Before: "specviz-My plan (1)", which is none."""
    assert manifest(plan(title="<A> & B", name=name)) == snapshot


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_the_package_has_one_page_with_every_moment_and_question(plan: LessonPlan) -> None:
    package = scorm_package(plan)
    assert package == scorm_package(plan), "the same bytes each time"
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files == {"imsmanifest.xml": manifest(plan).encode(), "index.html": files["index.html"]}
    page = files["index.html"].decode()
    assert re.findall(r'<fieldset class="asked" data-right="(\d)"', page) == [str(asked.right) for asked in quiz()]
    assert page.count('class="meaning"') == sum(len(question.options) for question in quiz())
    assert page.count("data-moment=") == len(plan.moments)
    assert '<fieldset class="asked"' not in lesson_page(plan), "a lesson for a file has no questions"
