"""What leaves the app as one file: a run, a lesson, a sheet, a SCORM package, a run in a notebook. No browser here."""

import io
import json
import re
import zipfile
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import specviz
from specviz.core.trace import Trace
from specviz.data.lessons.plans import FOLDER, LessonPlan, Moment, Screen, all_plans
from specviz.data.lessons.story import quiz
from specviz.data.measured.first_run import first_trace
from specviz.player.html_file import Scheme, page_that_says, program
from specviz.player.offline import lesson_page, offline_page
from specviz.player.scorm import ADL, CP, manifest, scorm_package
from specviz.player.sheet import key_html, lesson_address, result_picture, round_picture, sheet_html
from tests.support.commands import Cli, command_line
from tests.support.fake_traces import fake_trace
from tests.support.html import Html
from tests.support.known import known

RECORDED = known(first_trace())
NETWORK = re.compile(r"https?://|\bsrc=|\bhref=|@import (?!\{)|url\((?!#)")
EVIL = "</script></style><script>alert(1)</script> & \" ' {{script}}"
ADDRESS = "https://specviz.example.org/?lesson=ten-minutes&moment=1"
LOADS = re.compile(r"\bsrc=|@import (?!\{)|url\((?!#)")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


def data_in(page: str, name: str) -> Any:
    found = known(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL))
    return json.loads(found[1])


def test_the_page_holds_the_run_and_no_address() -> None:
    page = offline_page(RECORDED)
    script = program("offline/player")
    assert NETWORK.findall(page.replace(script, "")) == []
    names = re.findall(r"https?://[\w./]*", script)  # of languages: no addresses
    assert set(names) == {f"http://www.w3.org/{each}" for each in ("2000/svg", "1999/xhtml", "1998/Math/MathML")}
    assert len(data_in(page, "run")["run"]["trace"]["rounds"]) == len(RECORDED.rounds)
    assert "3.20 tokens per target call; 44 of 54 judged guesses accepted." in page
    assert len(page.encode()) < 250_000
    page = offline_page(RECORDED, address='https://example.org/?prompt="><script>')
    assert 'href="https://example.org/?prompt=&quot;&gt;&lt;script&gt;"' in page
    assert "&lt;b&gt;" in page_that_says("<b>")
    assert len(offline_page(fake_trace(tokens=256, draft_length=16)).encode()) < 1_000_000


def test_hostile_texts_are_text() -> None:
    trace = fake_trace(hostile=True)
    evil = "</script><script>alert(1)</script>"
    target = replace(trace.target, name="<img src=x onerror=alert(1)>")
    prompt, output = replace(trace.prompt, text=evil), replace(trace.output, text="{{script}}" + evil)
    page = offline_page(
        replace(trace, prompt=prompt, output=output, target=target), plain_text=evil, address="javascript:alert(1)"
    )
    assert page.count("<script") == page.count("</script>") == 2
    assert not re.search("<img|javascript:", page)
    assert "{{script}}" in page
    assert evil in unescape(page)
    hostile = plan(moment(title=EVIL, question=EVIL, answer=EVIL, mistakes=EVIL, do=EVIL), title=EVIL)
    for page in (sheet_html(hostile, f"https://host/{EVIL}"), key_html(hostile), lesson_page(hostile, EVIL)):
        assert "alert(1)" in page
        assert "<script>alert" not in page
        assert "{{script}}" in page  # a mark inside a text is not filled in
        assert not LOADS.search(page.split("<script type=")[0])
    for step in range(3 * len(trace.rounds)):
        for drawn in (round_picture(trace, step), result_picture(trace, step)):
            assert not re.search(r"<(?!/?(div|b|p|span)\b)", drawn)


def frame_of(trace: Trace, theme: Scheme = "auto") -> dict[str, str | None]:
    [(tag, attributes)] = Html(specviz.show(trace, theme)._repr_html_()).found
    assert tag == "iframe"
    return attributes


def test_the_frame_holds_the_page_and_a_hostile_run_stays_inside() -> None:
    frame = frame_of(RECORDED)
    assert frame["srcdoc"] == offline_page(RECORDED)
    assert frame["sandbox"] == "allow-scripts", "it may reach nothing of the notebook"
    assert frame["height"] == "720"
    assert Html(specviz.show(RECORDED, height=300)._repr_html_()).found[0][1]["height"] == "300"
    trace = fake_trace(hostile=True)
    trace = replace(trace, target=replace(trace.target, name='"><script>alert(1)</script>'))
    assert unescape(str(frame_of(trace)["title"])).startswith('A run of "><script>')
    assert "<html" not in repr(specviz.show(fake_trace(tokens=8)))


def moment(**given: str) -> Moment:
    link = given.pop("link", "./?run=first&step=4&hide=result")
    texts = {"question": "Q", "answer": "A", "mistakes": "M", "do": "D", **given}
    return Moment(texts.pop("title", "T"), 2, Screen.from_link(link), **texts)


def plan(*moments: Moment, title: str = "A lesson") -> LessonPlan:
    return LessonPlan(title, 10, ("A goal",), moments or (moment(),), "mine")


@pytest.mark.parametrize("own_plan", all_plans(), ids=lambda own: own.name)
def test_the_sheet_and_the_offline_page_have_every_question_and_no_answer(own_plan: LessonPlan) -> None:
    made = (sheet_html(own_plan, ADDRESS), lesson_page(own_plan), key_html(own_plan))
    sheet, page, key = map(unescape, made)
    for each in own_plan.moments:
        secrets = {each.answer, each.mistakes, each.do} - {""}
        for shown in (sheet, page):
            assert each.question in shown
            assert [secret for secret in secrets if secret in shown] == []
        assert [secret for secret in (each.title, *secrets) if secret not in key] == []
    assert ADDRESS in sheet
    assert len(made[0].encode()) < 30_000
    assert len(made[1].encode()) < 420_000


def test_the_code_is_there_only_with_an_address_and_moments_share_their_run() -> None:
    assert 'aria-label="QR code of the link"' in sheet_html(plan(), ADDRESS)
    assert "QR code" not in sheet_html(plan())
    assert "QR code" not in sheet_html(plan(), f"{ADDRESS}&{'x' * 700}")  # too fine for a phone
    assert lesson_address("https://host/", plan()) == "https://host/?lesson=mine&moment=1"
    links = ["./?run=first&step=3", "./?run=first&step=16", "./be_the_draft?seed=1", "./?run=story-pays&step=9"]
    page = lesson_page(plan(*(moment(link=link) for link in links)), "https://host/")
    data = data_in(page, "lesson")
    assert list(data["runs"]) == ["first", "story-pays"]
    assert [one and one["run"] for one in data["moments"]] == ["first", "first", None, "story-pays"]
    assert [one and one["state"]["playhead"] for one in data["moments"]] == [3, 16, None, 9]
    assert 'href="https://host/be_the_draft?seed=1"' in page
    page = lesson_page(plan(moment(link="./?preset=story-2&gamma=6")))
    assert "This moment needs the server." in page
    assert 'href="http' not in page


def test_lessons_sheets_and_keys_are_written_apart(run: Cli, tmp_path: Path) -> None:
    own = all_plans()[0]
    page, notes, sheet, key = (tmp_path / f"{name}.html" for name in ("lesson", "notes", "sheet", "key"))
    asked = ("export", "lesson", own.name, "-o", page, "--notes", notes, "--address", "https://host/app?x=1")
    status, said, _ = run(*asked)
    assert (status, "plays without a network" in said) == (0, True)
    assert page.read_text(encoding="utf-8") == lesson_page(own, "https://host/app/")
    assert notes.read_text(encoding="utf-8") == key_html(own)
    assert run("export", "lesson", FOLDER / "ten-minutes.yaml", "-o", page)[0] == 0
    assert "Which guess fails?" in page.read_text(encoding="utf-8")
    status, said, _ = run("lesson", "sheet", own.name, "--out", sheet, "--address", "https://host/")
    assert (status, "without a link" in said) == (0, False)
    assert sheet.read_text(encoding="utf-8") == sheet_html(own, lesson_address("https://host/", own))
    assert run("lesson", "sheet", own.name, "--out", key, "--key")[0] == 0
    assert key.read_text(encoding="utf-8") == key_html(own)
    assert "without a link" in run("lesson", "sheet", own.name, "--out", sheet)[1]
    assert "--out" in run("lesson", "sheet", own.name)[2]
    status, said, _ = run("export", "lesson", own.name, "--scorm", "-o", page)
    assert (status, "a SCORM 1.2 package" in said) == (0, True)
    assert page.read_bytes() == scorm_package(own)


def unpacked(package: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    ("name", "identifier"), [("My plan (1)", "My_20plan_20_281_29"), ("计划~", "_E8_AE_A1_E5_88_92_")]
)
def test_the_name_of_a_teachers_plan_makes_an_xml_name(name: str, identifier: str) -> None:
    """Before: "specviz-My plan (1)", which is none."""
    root = ElementTree.fromstring(manifest(replace(all_plans()[0], name=name)))
    assert root.get("identifier") == f"specviz-{identifier}"


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_the_manifest_names_one_page_with_every_moment_and_question(plan: LessonPlan) -> None:
    """The order of elements, the required attributes and the values are those of ADL's schema for SCORM 1.2."""
    files = unpacked(package := scorm_package(plan))
    assert package == scorm_package(plan), "the same bytes each time"
    root = ElementTree.fromstring(files["imsmanifest.xml"])
    assert root.tag == f"{{{CP}}}manifest"
    assert root.get("identifier") == f"specviz-{plan.name}"
    assert [child.tag.rpartition("}")[2] for child in root] == ["metadata", "organizations", "resources"]
    assert [child.text for child in root[0]] == ["ADL SCORM", "1.2"]
    (organisation,) = root[1]
    assert root[1].get("default") == organisation.get("identifier")
    title, item = organisation
    assert title.text == plan.title
    (resource,) = root[2]
    assert item.get("identifierref") == resource.get("identifier")
    assert resource.get(f"{{{ADL}}}scormtype") == "sco"
    assert resource.get("type") == "webcontent"
    assert (
        {each.get("href") for each in resource}
        == {resource.get("href")}
        == {"index.html"}
        == set(files) - {"imsmanifest.xml"}
    )
    page = files["index.html"].decode()
    assert page.count('<fieldset class="asked"') == len(quiz())
    assert page.count('class="meaning"') == sum(len(question.options) for question in quiz())
    assert page.count("data-moment=") == len(plan.moments)
    assert '<fieldset class="asked"' not in lesson_page(plan), "a lesson for a file has no questions"
