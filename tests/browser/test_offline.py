"""Files in a Chromium without a network: a run as a page, in a notebook, as pictures, film and text; a lesson."""

import io
import re
import xml.etree.ElementTree as ET
import zipfile
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Download, FrameLocator, Page, Route, expect

import specviz
from specviz.data.lessons.plans import LessonPlan, Moment, Screen, all_plans, find_plan
from specviz.data.lessons.story import quiz
from specviz.data.measured.first_run import first_trace
from specviz.player.html_file import Scheme
from specviz.player.offline import lesson_page, offline_page
from specviz.player.scorm import scorm_package
from specviz.player.sheet import key_html, lesson_address, sheet_html
from tests.conftest import NewContext
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.support.paper import PAPERS, expect_nothing_cut, on_paper, pages_of
from tests.support.visitor import violations_of

pytestmark = pytest.mark.visitor(reduced_motion="no-preference", offline=True)
RECORDED, HOSTILE = known(first_trace()), fake_trace(hostile=True)
AROUND = "<!doctype html><meta charset='utf-8'><title>A notebook</title><body>{cell}</body>"
EVIL = "</script></style><img src=x onerror=alert(1)><script>alert(1)</script> & {{script}}"
HELD = LessonPlan(EVIL, 1, (EVIL,), (Moment(EVIL, 1, Screen.from_link("./?run=first&step=4"), *[EVIL] * 4),), "mine")


def opened(context: BrowserContext, folder: Path, text: str) -> tuple[Page, list[str]]:
    """Write the page and open it; also what it says, and what it asks of a network."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    page, heard = context.new_page(), list[str]()
    page.on("console", lambda message: heard.append(message.text))
    own = (file.as_uri(), "data:", "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(own) else heard.append(asked.url))
    page.goto(file.as_uri())
    return page, heard


def test_a_run_plays_and_explains_without_a_network(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path, offline_page(RECORDED))
    expect(page.locator(".round-number")).not_to_have_text("Round 1 of 20")  # it plays by itself
    page.keyboard.press("End")
    expect(page.locator(".round-number")).to_have_text("Round 20 of 20")
    page.locator(".strip .chip.rejected").first.click()
    expect(page.locator(".inspector .title")).to_contain_text("was rejected")
    expect(page.locator("figure .curve").first).to_be_attached()
    expect(page.locator(".copy-link")).to_be_hidden()
    assert heard == []


@pytest.mark.parametrize(("theme", "other"), [("light", "dark"), ("dark", "light")])
def test_a_notebooks_cell_plays_in_the_theme_that_was_asked_for(
    new_context: NewContext, tmp_path: Path, theme: Scheme, other: Scheme
) -> None:
    context = new_context(offline=True, color_scheme=other, reduced_motion="no-preference")
    page, heard = opened(context, tmp_path, AROUND.format(cell=specviz.show(RECORDED, theme)._repr_html_()))
    frame = page.frame_locator("iframe")
    expect(frame.locator(f"[data-scheme={theme}] .chip").first).to_be_visible()
    expect(frame.locator(".round-number")).not_to_contain_text("Round 1 of")  # it plays by itself
    assert heard == []


def test_a_hostile_run_or_lesson_does_nothing_to_its_page_and_to_a_notebook(
    context: BrowserContext, tmp_path: Path
) -> None:
    page, heard = opened(context, tmp_path, offline_page(HOSTILE))
    page.keyboard.press("End")
    for chip in page.locator(".strip .chip").all()[-12:]:
        chip.click()
    assert page.locator("main :is(script, img), .strip b").count() == 0
    notebook, said = opened(context, tmp_path, AROUND.format(cell=specviz.show(HOSTILE)._repr_html_()))
    expect(notebook.frame_locator("iframe").locator(".stage .chip").first).to_be_visible()
    assert notebook.locator("body > *").count() == 1
    assert heard == said == []
    for text in (lesson_page(HELD), sheet_html(HELD, f"https://host/{EVIL}"), key_html(HELD)):
        page, heard = opened(context, tmp_path, text)
        assert page.locator("img, h1 script").count() == 0
        assert heard == []


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_the_sheet_is_one_page_and_the_key_is_whole(context: BrowserContext, tmp_path: Path, plan: LessonPlan) -> None:
    sheet = sheet_html(plan, lesson_address("https://specviz.example.org/", plan))
    for kind, text in (("sheet", sheet), ("key", key_html(plan))):
        page, heard = opened(context, tmp_path, text)
        for paper in PAPERS:
            with on_paper(page, paper):
                expect_nothing_cut(page)
            pdf = page.pdf(format=paper)  # the margins are the file's own
            assert kind == "key" or pages_of(pdf) == 1
        assert heard == []


# ---- as pictures, as a film and as text, made by the browser of the strictest page

reader = pytest.mark.visitor(offline=True, permissions=["clipboard-read", "clipboard-write"])
DRAWN = {"svg", "title", "defs", "pattern", "rect", "text", "g", "path"}
LAST_PICTURE = """async (film) => {
    const video = Object.assign(document.createElement("video"), { src: `data:video/webm;base64,${film}` });
    await new Promise((resolve, reject) => Object.assign(video, { onloadedmetadata: resolve, onerror: reject }));
    const ended = new Promise((resolve) => (video.onseeked = resolve));
    video.currentTime = 1e6; // such a file does not say how long it is
    await ended;
    const context = Object.assign(document.createElement("canvas"), { width: 1280, height: 720 }).getContext("2d");
    let colours = 0;
    for (let tries = 0; colours < 2 && tries < 100; tries++) { // a busy machine decodes the picture later
        context.drawImage(video, 0, 0);
        colours = new Set(new Uint32Array(context.getImageData(0, 0, 1280, 720).data.buffer)).size;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return [video.videoWidth, video.videoHeight, colours, video.duration];
}"""


def choose(page: Page, name: str) -> None:
    page.get_by_text("Save…").click()
    page.get_by_role("button", name=name).click()


def saved(page: Page, name: str) -> tuple[str, bytes]:
    with page.expect_download() as download:
        choose(page, name)
    file = download.value.path().read_bytes()
    expect(page.locator(".save summary")).to_be_focused()
    return download.value.suggested_filename, file


@reader
def test_a_step_is_a_picture_whose_text_is_text_and_a_run_is_read_and_copied_as_text(
    context: BrowserContext, tmp_path: Path
) -> None:
    page, heard = opened(context, tmp_path, offline_page(HOSTILE))
    choose(page, "The run as text")
    dialog = page.get_by_role("dialog", name="The run as text")
    expect(dialog.get_by_role("listitem")).to_have_count(len(HOSTILE.rounds))
    assert dialog.locator("script, img, b, [aria-live]").count() == 0
    before = page.locator(".round-number").inner_text()
    page.keyboard.press("Home")  # scrolls the text: it is no key of the stage
    expect(page.locator(".round-number")).to_have_text(before)
    assert violations_of(page) == []
    dialog.get_by_role("button", name="Copy as text").click()
    expect(dialog.get_by_role("status")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert (copied.count("\nRound "), "<script" in copied) == (len(HOSTILE.rounds), True)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(".save summary")).to_be_focused()
    page.keyboard.press("End")
    name, drawing = saved(page, "This step as SVG")
    assert name.startswith("specviz-run-round-")
    root = ET.fromstring(drawing)
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {element.tag.split("}")[1] for element in root.iter()} <= DRAWN
    assert page.locator(".round-number").inner_text() in texts
    assert any("<script" in text for text in texts), "a hostile token is there, as text"
    assert b"var(--" not in drawing
    _, picture = saved(page, "This step as PNG")
    image = Image.open(BytesIO(picture)).convert("RGB")
    assert (picture[:4], image.size) == (b"\x89PNG", (2560, 1440))
    assert len(image.getcolors(2**24) or []) > 16, "something is drawn"
    assert heard == []


@reader
def test_a_film_is_stopped_without_a_file_and_a_run_is_one(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path, offline_page(fake_trace(tokens=2)))
    downloads: list[Download] = []
    page.on("download", lambda download: downloads.append(download))
    box = page.locator(".filming")
    choose(page, "The run as a film")
    expect(box.get_by_role("status")).to_contain_text("Recording a film of")
    expect(box.get_by_role("progressbar", name="How far the film is")).to_be_visible()
    expect(box.get_by_role("button", name="Stop")).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_be_hidden()
    expect(page.locator(".save summary")).to_be_focused()
    assert downloads == []
    page.locator(".speed").select_option("4")
    name, film = saved(page, "The run as a film")
    assert (name, film[:4]) == ("specviz-run.webm", b"\x1aE\xdf\xa3")
    expect(box).to_be_hidden()
    assert heard == []
    page.goto("about:blank")
    width, height, colours, seconds = page.evaluate(LAST_PICTURE, b64encode(film).decode())
    assert (width, height) == (1280, 720)
    assert colours > 16, "something is drawn"
    assert seconds > 3, "its end stays for three seconds"


@pytest.mark.visitor(once=True, offline=True)
def test_without_a_recorder_a_film_is_a_sentence(context: BrowserContext, tmp_path: Path) -> None:
    context.add_init_script("delete window.MediaRecorder")
    page, _ = opened(context, tmp_path, offline_page(HOSTILE))
    choose(page, "The run as a film")
    expect(page.locator(".filming [role=status]")).to_have_text(re.compile("^This browser cannot record a film."))
    expect(page.locator(".filming progress")).to_be_hidden()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.locator(".filming")).to_be_hidden()


# ---- a lesson, as a SCORM package in a small run-time: walked, answered, left, taken up again

SITE = "http://lms.example/"
# A learning system as SCORM 1.2 has it: a window with an API, which keeps what a lesson says, and one in a frame.
SYSTEM = """<!doctype html><title>LMS</title><script>
const values = JSON.parse(localStorage.values ?? '{"cmi.core.lesson_status": "not attempted"}');
const keep = () => ((localStorage.values = JSON.stringify(values)), "true");
window.API = {
  LMSInitialize: () => "true",
  LMSGetValue: (name) => values[name] ?? "",
  LMSSetValue: (name, value) => ((values[name] = value), "true"),
  LMSCommit: keep,
  LMSFinish: keep,
};
</script><iframe src="lesson/index.html" style="width:100%;height:96vh;border:0"></iframe>"""
PLAN = known(find_plan("ten-minutes"))


@pytest.fixture
def system(context: BrowserContext) -> Page:
    """The system, with the lesson in its frame. There is no network."""
    with zipfile.ZipFile(io.BytesIO(scorm_package(PLAN))) as archive:
        files = {f"lesson/{name}": archive.read(name) for name in archive.namelist()}
    files[""] = SYSTEM.encode()

    def fulfill(route: Route) -> None:
        content = files[route.request.url.removeprefix(SITE).partition("#")[0]]
        route.fulfill(content_type="text/html; charset=utf-8", body=content)

    context.route("**/*", fulfill)
    return context.new_page()


def told(system: Page) -> tuple[str, str]:
    """The status and the score that the system keeps."""
    values = system.evaluate("values")
    return values["cmi.core.lesson_status"], values["cmi.core.score.raw"]


def answer(frame: FrameLocator, number: int, *, right: bool = True) -> None:
    question, field = quiz()[number], frame.locator("fieldset.asked").nth(number)
    field.locator("input").nth(question.right if right else (question.right + 1) % len(question.options)).check()
    expect(field.locator(".meaning:not([hidden])")).to_have_count(1)


@pytest.mark.visitor  # with a network: it is the test that answers
def test_a_lesson_is_walked_answered_left_and_taken_up_again(system: Page) -> None:
    frame = system.frame_locator("iframe")
    number, current = frame.locator(".round-number"), frame.locator(".strip .round.current")
    first, second, third, *others = PLAN.moments

    def follow(link: str) -> None:
        frame.get_by_role("link", name=link).click()

    def expect_moment(moment: Moment) -> None:
        expect(frame.get_by_role("heading", name=moment.title)).to_be_focused()
        expect(frame.get_by_text(moment.question)).to_be_visible()

    system.goto(SITE)
    expect(frame.locator(".moments li")).to_have_count(len(PLAN.moments) + 1)
    follow(first.title)
    expect_moment(first)
    follow("Next moment")
    expect_moment(second)
    expect(number).to_have_text("Round 2 of 14")
    expect(current.locator(".chip.drafted")).to_have_count(4)
    frame.get_by_role("button", name="Forward one step").click()
    expect(current.locator(".chip.rejected")).to_have_count(1)
    follow("Next moment")
    expect_moment(third)
    expect(current).to_have_attribute("data-phase", "check")
    system.keyboard.press("ArrowRight")  # the heading has the focus, and the keys still step the run
    expect(current).to_have_attribute("data-phase", "judge")
    system.emulate_media(color_scheme="dark")
    expect(frame.locator(".stage")).to_have_attribute("data-scheme", "dark")
    expect(current).to_have_attribute("data-phase", "judge")  # its place is kept
    system.evaluate("history.back()")
    expect(number).to_have_text("Round 2 of 14")
    follow("All moments")
    expect(frame.locator(".stage")).to_have_count(0)
    follow("Questions")
    answer(frame, 0, right=False)
    answer(frame, 0)  # only the first choice counts
    answer(frame, 1)
    system.goto(SITE)  # left, and opened again
    follow("Questions")
    expect(frame.locator(".score")).to_have_text(f"2 of {len(quiz())} answered, 1 right at the first choice.")
    for asked in range(2, len(quiz())):
        answer(frame, asked)
    score = str(round(100 * (len(quiz()) - 1) / len(quiz())))
    assert told(system) == ("incomplete", score)  # not all moments were opened
    for moment in others:
        follow("All moments")
        follow(moment.title)
        expect_moment(moment)
    assert told(system) == ("completed", score)
