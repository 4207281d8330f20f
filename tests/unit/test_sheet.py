"""The sheet of a lesson, its key, and the lesson as a page that plays offline. No browser here."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.data.first_run import first_trace
from specviz.data.lessons.plan import Moment, Plan, Screen
from specviz.data.lessons.plans import FOLDER, all_plans
from specviz.player import html_file
from specviz.player.offline_lesson import lesson_page
from specviz.player.picture import marks_picture, result_picture, round_picture, visible
from specviz.player.sheet import key_html, lesson_address, sheet_html
from tests.support.commands import Cli, command_line
from tests.support.fake_traces import fake_trace

EVIL = "</script></style><script>alert(1)</script> & \" ' {{script}}"
ADDRESS = "https://specviz.example.org/?lesson=ten-minutes&moment=1"
LOADS = re.compile(r"\bsrc=|@import (?!\{)|url\((?!#)")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


def moment(**given: str) -> Moment:
    link = given.pop("link", "./?run=first&step=4&hide=result")
    texts = {"question": "Q", "answer": "A", "mistakes": "M", "do": "D", **given}
    return Moment(texts.pop("title", "T"), 2, Screen.of(link), **texts)


def plan(*moments: Moment, title: str = "A lesson") -> Plan:
    return Plan("mine", title, 10, ("A goal",), moments or (moment(),))


@pytest.fixture(params=all_plans(), ids=lambda own: own.name)
def own_plan(request: pytest.FixtureRequest) -> Plan:
    assert isinstance(request.param, Plan)
    return request.param


def test_the_sheet_has_every_question_and_no_answer(own_plan: Plan) -> None:
    sheet, key = unescape(sheet_html(own_plan, ADDRESS)), unescape(key_html(own_plan))
    for each in own_plan.moments:
        assert each.title in sheet
        assert each.question in sheet
        for secret in (each.answer, each.mistakes, each.do):
            assert secret in key
            assert secret not in sheet
    assert "Name" in sheet
    assert ADDRESS in sheet


def test_the_offline_page_has_no_answer_either(own_plan: Plan) -> None:
    page = unescape(lesson_page(own_plan))
    for each in own_plan.moments:
        assert each.question in page
        for secret in (each.answer, each.mistakes, each.do):
            assert secret not in page


def test_the_code_is_there_only_with_an_address() -> None:
    assert 'aria-label="QR code of the link"' in sheet_html(plan(), ADDRESS)
    assert "QR code" not in sheet_html(plan())
    assert "QR code" not in sheet_html(plan(), f"{ADDRESS}&{'x' * 700}")  # too fine for a phone
    assert lesson_address("https://host/", plan()) == "https://host/?lesson=mine&moment=1"


def test_texts_of_a_plan_stay_text() -> None:
    hostile = plan(moment(title=EVIL, question=EVIL, answer=EVIL, mistakes=EVIL, do=EVIL), title=EVIL)
    for page in (sheet_html(hostile, f"https://host/{EVIL}"), key_html(hostile), lesson_page(hostile, EVIL)):
        assert "alert(1)" in page
        assert "<script>alert" not in page
        assert "{{script}}" in page  # a mark inside a text is not filled in
        assert not LOADS.search(page.split("<script type=")[0])


def test_tokens_of_a_run_stay_text_in_its_picture() -> None:
    trace = fake_trace(hostile=True)
    for step in range(3 * len(trace.rounds)):
        for drawn in (round_picture(trace, step), result_picture(trace, step)):
            assert not re.search(r"<(?!/?(svg|text|g|rect|line)\b)", drawn)


def test_a_round_is_drawn_as_it_is_on_screen() -> None:
    trace = first_trace()
    assert trace is not None
    guesses, judged = round_picture(trace, 30), round_picture(trace, 32)
    assert "✗" not in guesses
    assert guesses.count("<text") == 1 + len(trace.rounds[10].drafted)
    assert "✗" in judged
    assert "↻" in judged
    assert "✗" in result_picture(trace, 30)
    assert all(mark in marks_picture() for mark in "✓✗⋯↻+")


def test_what_cannot_be_seen_is_drawn_as_a_sign() -> None:
    assert visible(" a\n\t\u202e\x00") == "␣a↵⇥\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert len(visible("x" * 100)) == 24


def lesson_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="lesson">(.*?)</script>', page, re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert isinstance(data, dict)
    return data


def test_moments_of_one_run_share_it() -> None:
    links = ["./?run=first&step=3", "./?run=first&step=16", "./play?seed=1", "./?run=story-pays&step=9"]
    page = lesson_page(plan(*(moment(link=link) for link in links)), "https://host/")
    data = lesson_of(page)
    assert isinstance(data["runs"], dict)
    assert isinstance(data["moments"], list)
    assert list(data["runs"]) == ["first", "story-pays"]
    assert [one and one["run"] for one in data["moments"]] == ["first", "first", None, "story-pays"]
    assert [one and one["state"]["playhead"] for one in data["moments"]] == [3, 16, None, 9]
    assert 'href="https://host/play?seed=1"' in page
    assert "It needs the server." in page


def test_a_run_that_is_not_recorded_is_said_to_need_the_server() -> None:
    page = lesson_page(plan(moment(link="./?preset=story-2&gamma=6")))
    assert "a run that the server makes" in page
    assert 'href="http' not in page


def test_each_file_of_our_own_plans_is_small(own_plan: Plan) -> None:
    assert len(lesson_page(own_plan).encode()) < 400_000
    assert len(sheet_html(own_plan, ADDRESS).encode()) < 30_000


def test_a_lesson_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_file, "MOST_BYTES", 50_000)
    with pytest.raises(InputError, match="MB are written"):
        lesson_page(plan())


def test_a_lesson_is_exported_with_its_notes_apart(run: Cli, tmp_path: Path) -> None:
    own = all_plans()[0]
    page, notes = tmp_path / "lesson.html", tmp_path / "notes.html"
    asked = ("export", "lesson", own.name, "-o", page, "--notes", notes, "--address", "https://host/app?x=1")
    status, said, _ = run(*asked)
    assert (status, "plays without a network" in said) == (0, True)
    assert page.read_text(encoding="utf-8") == lesson_page(own, "https://host/app/")
    assert notes.read_text(encoding="utf-8") == key_html(own)


def test_a_teachers_own_file_is_exported(run: Cli, tmp_path: Path) -> None:
    own, page = tmp_path / "mine.yaml", tmp_path / "lesson.html"
    own.write_bytes((FOLDER / "ten-minutes.yaml").read_bytes())
    assert run("export", "lesson", own, "-o", page)[0] == 0
    assert "Which guess fails?" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("export", "lesson", "no-such-plan"), "There is no plan and no file named no-such-plan. The plans here are"),
        (
            ("export", "lesson", "ten-minutes", "more"),
            "export takes one trace file, or the word “lesson” and one plan.",
        ),
        (("export", "lesson", "ten-minutes", "--address", "javascript:alert(1)"), "it begins with https:// or http://"),
    ],
)
def test_what_cannot_be_exported_is_said_in_a_line(run: Cli, tmp_path: Path, asked: tuple[str, ...], said: str) -> None:
    status, _, error = run(*asked, "-o", tmp_path / "out.html")
    assert status == 2
    assert said in error
    assert "Traceback" not in error


def test_a_sheet_and_its_key_are_written_apart(run: Cli, tmp_path: Path) -> None:
    own, sheet, key = all_plans()[0], tmp_path / "sheet.html", tmp_path / "key.html"
    status, said, _ = run("lesson", "sheet", own.name, "--out", sheet, "--address", "https://host/")
    assert (status, "without a link" in said) == (0, False)
    assert sheet.read_text(encoding="utf-8") == sheet_html(own, lesson_address("https://host/", own))
    assert run("lesson", "sheet", own.name, "--out", key, "--key")[0] == 0
    assert key.read_text(encoding="utf-8") == key_html(own)
    assert "without a link" in run("lesson", "sheet", own.name, "--out", sheet)[1]
    assert "needs --out" in run("lesson", "sheet", own.name)[2]
