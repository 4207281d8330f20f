"""Files in a Chromium without a network: a run as a page, in a notebook, as pictures, film and text; a lesson."""

import io
import re
import time
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
from tests.support.visitor import violations_now

pytestmark = pytest.mark.visitor(reduced_motion="no-preference", offline=True)
RECORDED = known(first_trace())
TEN_MINUTES = known(find_plan("ten-minutes"))
AROUND = "<!doctype html><meta charset='utf-8'><title>A notebook</title><body>{cell}</body>"
EVIL = "</script></style><img src=x onerror=alert(1)><script>alert(1)</script> & {{script}}"
HELD = LessonPlan(EVIL, 1, (EVIL,), (Moment(EVIL, 1, Screen.from_link("./?run=first&step=4"), *[EVIL] * 4),), "mine")


def opened(context: BrowserContext, folder: Path, text: str) -> tuple[Page, list[str]]:
    """Write the page and open it; also what it says, and what it asks of a network."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    page, heard = context.new_page(), list[str]()
    page.on("console", lambda message: heard.append(message.text))
    page.on("request", lambda asked: heard.append(asked.url) if not asked.url.startswith(file.as_uri()) else None)
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
    expect(page.get_by_text("44 of 54 judged guesses accepted")).to_be_visible()
    expect(page.locator(".copy-link")).to_be_hidden()
    assert heard == []


@pytest.mark.parametrize(("theme", "other"), [("light", "dark"), ("dark", "light")])
def test_a_notebooks_cell_plays_in_the_theme_that_was_asked_for(
    new_context: NewContext, tmp_path: Path, theme: Scheme, other: Scheme
) -> None:
    context = new_context(offline=True, color_scheme=other, reduced_motion="no-preference")
    page, heard = opened(context, tmp_path, AROUND.format(cell=specviz.show(RECORDED, theme)._repr_html_()))
    frame = page.frame_locator("iframe")
    expect(frame.locator(".stage .chip").first).to_be_visible()
    expect(frame.locator(f"[data-scheme={theme}]").first).to_be_attached()
    expect(frame.locator(".round-number")).not_to_contain_text("Round 1 of")  # it plays by itself
    assert heard == []


def test_a_hostile_run_does_nothing_to_its_page_and_to_a_notebook(context: BrowserContext, tmp_path: Path) -> None:
    trace = fake_trace(hostile=True)
    page, heard = opened(context, tmp_path, offline_page(trace))
    page.keyboard.press("End")
    for chip in page.locator(".strip .chip").all()[-12:]:
        chip.click()
    assert page.locator("main :is(script, img), .strip b").count() == 0
    notebook, said = opened(context, tmp_path, AROUND.format(cell=specviz.show(trace)._repr_html_()))
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


def test_a_lesson_is_walked_without_a_network(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path, lesson_page(TEN_MINUTES))
    number, current = page.locator(".round-number"), page.locator(".strip .round.current")
    expect(page.locator(".moments li")).to_have_count(len(TEN_MINUTES.moments))
    page.get_by_role("link", name="Which guess fails?").click()
    expect(number).to_have_text("Round 2 of 14")
    expect(page.locator(".current .chip.drafted")).to_have_count(4)
    expect(page.get_by_text(TEN_MINUTES.moments[1].question)).to_be_visible()
    page.get_by_role("button", name="Forward one step").click()
    expect(page.locator(".current .chip.rejected")).to_have_count(1)
    page.locator(".strip .current .chip.rejected").click()
    expect(page.locator(".inspector .title")).to_contain_text("was rejected")
    expect(page.get_by_text("26 of 35 judged guesses accepted")).to_be_hidden()  # as the moment's link has it
    page.get_by_role("link", name="Next moment").click()
    expect(number).to_have_text("Round 5 of 14")
    expect(current).to_have_attribute("data-phase", "check")
    page.keyboard.press("ArrowRight")  # the heading has the focus, and the keys still step the run
    expect(current).to_have_attribute("data-phase", "judge")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stage")).to_have_attribute("data-scheme", "dark")
    expect(current).to_have_attribute("data-phase", "judge")  # its place is kept
    page.go_back()
    expect(number).to_have_text("Round 2 of 14")
    page.get_by_role("link", name="All moments").click()
    expect(page.locator(".moments")).to_be_visible()
    expect(page.locator(".stage")).to_have_count(0)
    assert heard == []


# ---- as pictures, as a film and as text, made by the browser of the strictest page

READER = {"offline": True, "permissions": ["clipboard-read", "clipboard-write"]}
HOSTILE = fake_trace(hostile=True)
DRAWN = {"svg", "title", "defs", "pattern", "rect", "text", "g", "path"}
NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
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
    return [video.videoWidth, video.videoHeight, colours];
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


def asked_elsewhere(heard: list[str]) -> list[str]:
    return [said for said in heard if not said.startswith(("data:", "blob:"))]


@pytest.mark.visitor(**READER)
def test_a_step_is_a_picture_whose_text_is_text_and_a_run_is_read_and_copied_as_text(
    context: BrowserContext, tmp_path: Path
) -> None:
    page, heard = opened(context, tmp_path, offline_page(HOSTILE))
    choose(page, "The run as text")
    dialog = page.get_by_role("dialog", name="The run as text")
    expect(dialog.get_by_role("listitem")).to_have_count(len(HOSTILE.rounds))
    assert dialog.locator("script, img, b, [aria-live]").count() == 0
    before = page.locator(".round-number").text_content()
    page.keyboard.press("Home")  # scrolls the text: it is no key of the stage
    assert page.locator(".round-number").text_content() == before
    assert violations_now(page) == []
    dialog.get_by_role("button", name="Copy as text").click()
    expect(dialog.get_by_role("status")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.count("\nRound ") == len(HOSTILE.rounds)
    assert "<script" in copied
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(".save summary")).to_be_focused()
    assert heard == []
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
    assert asked_elsewhere(heard) == []


@pytest.mark.visitor(**READER)
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
    began = time.monotonic()
    name, film = saved(page, "The run as a film")
    assert time.monotonic() - began > 3, "its end stays for three seconds"
    assert (name, film[:4]) == ("specviz-run.webm", b"\x1aE\xdf\xa3")
    expect(box).to_be_hidden()
    assert asked_elsewhere(heard) == []
    page.goto("about:blank")
    width, height, colours = page.evaluate(LAST_PICTURE, b64encode(film).decode())
    assert (width, height) == (1280, 720)
    assert colours > 16, "something is drawn"


@pytest.mark.visitor(once=True, **READER)
def test_without_a_clipboard_the_text_can_be_selected_and_without_a_recorder_a_film_is_a_sentence(
    context: BrowserContext, tmp_path: Path
) -> None:
    context.add_init_script(f"{NO_CLIPBOARD}; delete window.MediaRecorder")
    page, _ = opened(context, tmp_path, offline_page(HOSTILE))
    choose(page, "The run as text")
    page.get_by_role("button", name="Copy as text").click()
    field = page.get_by_label("The run as text: select and copy")
    expect(field).to_be_focused()
    expect(field).to_have_value(re.compile("drafts for"))
    expect(page.locator(".account [role=status]")).to_have_text("Copied")
    page.keyboard.press("Escape")
    choose(page, "The run as a film")
    expect(page.locator(".filming [role=status]")).to_have_text(re.compile("^This browser cannot record a film."))
    expect(page.locator(".filming progress")).to_be_hidden()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.locator(".filming")).to_be_hidden()


# ---- a SCORM package in a small run-time: walked, answered, left, taken up again

SITE = "http://lms.example"
# A learning system as SCORM 1.2 has it: a window with an API, which keeps what a lesson says, and one in a frame.
SYSTEM = """<!doctype html><title>LMS</title><script>
const values = JSON.parse(localStorage.values ?? '{"cmi.core.lesson_status": "not attempted"}');
window.API = {
  LMSInitialize: () => "true",
  LMSGetValue: (name) => values[name] ?? "",
  LMSSetValue: (name, value) => ((values[name] = value), "true"),
  LMSCommit: () => ((localStorage.values = JSON.stringify(values)), "true"),
  LMSFinish: () => ((localStorage.values = JSON.stringify(values)), "true"),
};
</script><iframe src="lesson/index.html" style="width:100%;height:96vh;border:0"></iframe>"""


@pytest.fixture
def served(context: BrowserContext) -> BrowserContext:
    """The system and the package's files, without a network."""
    with zipfile.ZipFile(io.BytesIO(scorm_package(TEN_MINUTES))) as archive:
        files = {f"/lesson/{name}": archive.read(name) for name in archive.namelist()}
    files["/"] = SYSTEM.encode()

    def fulfill(route: Route) -> None:
        content = files.get(route.request.url.removeprefix(SITE).partition("#")[0])
        route.fulfill(status=200 if content else 404, content_type="text/html; charset=utf-8", body=content or b"")

    context.route(f"{SITE}/**", fulfill)
    return context


def told(page: Page) -> tuple[str, str]:
    """The status and the score that the system keeps."""
    values = page.evaluate("values")
    return values["cmi.core.lesson_status"], values["cmi.core.score.raw"]


def answer(frame: FrameLocator, number: int, *, right: bool = True) -> None:
    question, field = quiz()[number], frame.locator("fieldset.asked").nth(number)
    field.locator("input").nth(question.right if right else (question.right + 1) % len(question.options)).check()
    expect(field.locator(".meaning:not([hidden])")).to_have_count(1)


@pytest.mark.visitor  # with a network: it is the test that answers
def test_a_lesson_is_walked_answered_left_and_taken_up_again(served: BrowserContext) -> None:
    page, score = served.new_page(), f"2 of {len(quiz())} answered, 1 right at the first choice."
    page.goto(f"{SITE}/")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".moments li")).to_have_count(len(TEN_MINUTES.moments) + 1)
    *most, last = TEN_MINUTES.moments
    for moment in most:
        frame.get_by_role("link", name=moment.title).first.click()
        expect(frame.get_by_role("heading", name=moment.title)).to_be_visible()
        frame.get_by_role("link", name="All moments").first.click()
    frame.get_by_role("link", name="Questions").click()
    answer(frame, 0, right=False)
    answer(frame, 0)  # only the first choice counts
    answer(frame, 1)
    expect(frame.locator(".score")).to_have_text(score)
    page.goto(f"{SITE}/")  # left, and opened again
    expect(frame.locator(".moments li")).to_have_count(len(TEN_MINUTES.moments) + 1)
    assert told(page) == ("incomplete", str(round(100 / len(quiz()))))
    frame.get_by_role("link", name="Questions").click()
    expect(frame.locator(".score")).to_have_text(score)
    for number in range(2, len(quiz())):
        answer(frame, number)
    assert told(page)[0] == "incomplete"  # one moment was not opened
    frame.get_by_role("link", name="All moments").last.click()
    frame.get_by_role("link", name=last.title).first.click()
    expect(frame.get_by_role("heading", name=last.title)).to_be_visible()
    assert told(page) == ("completed", str(round(100 * (len(quiz()) - 1) / len(quiz()))))
