"""A run as pictures, as a film and as text, made by the browser of the strictest page: the offline one."""

import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Download, Page, expect

from specviz.player.offline import offline_page
from tests.support.fake_traces import fake_trace
from tests.support.from_disk import open_from_disk
from tests.support.visitor import violations_now

CLIPBOARD = ["clipboard-read", "clipboard-write"]
READER = {"reduced_motion": "reduce", "offline": True, "permissions": CLIPBOARD}
pytestmark = pytest.mark.visitor(**READER)
DRAWN = {"svg", "title", "defs", "pattern", "rect", "text", "g", "path"}
WEBM = b"\x1aE\xdf\xa3"
NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
LENGTH = """async (film) => {
    const video = Object.assign(document.createElement("video"), { src: `data:video/webm;base64,${film}` });
    await new Promise((resolve, reject) => Object.assign(video, { onloadedmetadata: resolve, onerror: reject }));
    const ended = new Promise((resolve) => (video.onseeked = resolve));
    video.currentTime = 1e6; // such a file does not say how long it is
    await ended;
    return [video.videoWidth, video.videoHeight, video.currentTime];
}"""


def opened(context: BrowserContext, folder: Path, text: str = "") -> tuple[Page, list[str]]:
    page, heard = open_from_disk(context, folder / "run.html", text or offline_page(fake_trace(hostile=True)))
    expect(page.locator(".stage .chip").first).to_be_visible()
    return page, heard


def chosen(page: Page, name: str) -> None:
    page.get_by_text("Save…").click()
    page.get_by_role("button", name=name).click()


def saved(page: Page, name: str) -> Download:
    with page.expect_download() as download:
        chosen(page, name)
    return download.value


def test_a_step_is_a_picture_whose_text_is_text(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path)
    page.keyboard.press("End")
    drawing = saved(page, "This step as SVG")
    assert drawing.suggested_filename.startswith("specviz-run-round-")
    root = ET.fromstring(drawing.path().read_bytes())
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {element.tag.split("}")[1] for element in root.iter()} <= DRAWN
    assert page.locator(".round-number").inner_text() in texts
    assert any("<script" in text for text in texts), "a hostile token is there, as text"
    assert b"var(--" not in drawing.path().read_bytes()
    expect(page.locator(".save summary")).to_be_focused()
    picture = saved(page, "This step as PNG").path().read_bytes()
    assert picture.startswith(b"\x89PNG")
    image = Image.open(BytesIO(picture)).convert("RGB")
    assert image.size == (2560, 1440)
    assert len(image.getcolors(2**24) or []) > 16, "something is drawn"
    assert [said for said in heard if not said.startswith(("data:", "blob:"))] == []


def test_a_run_is_a_film(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path, offline_page(fake_trace(tokens=2)))
    page.locator(".speed").select_option("4")
    film = saved(page, "The run as a film")
    assert film.suggested_filename == "specviz-run.webm"
    found = film.path().read_bytes()
    assert found.startswith(WEBM)
    expect(page.locator(".filming")).to_be_hidden()
    expect(page.locator(".save summary")).to_be_focused()
    assert [said for said in heard if not said.startswith(("data:", "blob:"))] == []
    page.goto("about:blank")
    width, height, seconds = page.evaluate(LENGTH, b64encode(found).decode())
    assert (width, height) == (1280, 720)
    assert seconds > 3, "each step, and its end for three seconds: also where the recorder is slow"


def test_a_film_is_stopped_without_a_file_and_can_be_made_again(context: BrowserContext, tmp_path: Path) -> None:
    page, _ = opened(context, tmp_path)
    downloads: list[Download] = []
    page.on("download", lambda download: downloads.append(download))
    for _ in range(2):
        chosen(page, "The run as a film")
        box = page.locator(".filming")
        expect(box.get_by_role("status")).to_contain_text("Recording a film of")
        expect(box.get_by_role("progressbar", name="How far the film is")).to_be_visible()
        expect(box.get_by_role("button", name="Stop")).to_be_focused()
        page.keyboard.press("Enter")
        expect(box).to_be_hidden()
        expect(page.locator(".save summary")).to_be_focused()
    assert downloads == []


def test_a_run_is_read_and_copied_as_text(context: BrowserContext, tmp_path: Path) -> None:
    trace = fake_trace(hostile=True)
    page, heard = opened(context, tmp_path, offline_page(trace))
    chosen(page, "The run as text")
    dialog = page.get_by_role("dialog", name="The run as text")
    rounds = dialog.get_by_role("listitem")
    expect(rounds).to_have_count(len(trace.rounds))
    expect(rounds.first).to_contain_text("Round 1: The draft guesses 4 tokens. The target checks all 4 in one pass.")
    expect(dialog).to_contain_text("<script")
    assert dialog.locator("script, img, b").count() == 0
    assert dialog.locator("[aria-live]").count() == 0
    before = page.locator(".round-number").text_content()
    page.keyboard.press("Home")  # scrolls the text: it is no key of the stage
    assert page.locator(".round-number").text_content() == before
    assert violations_now(page) == []
    dialog.get_by_role("button", name="Copy as text").click()
    expect(dialog.get_by_role("status")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.count("\nRound ") == len(trace.rounds)
    assert "<script" in copied
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(".save summary")).to_be_focused()
    assert heard == []


@pytest.mark.visitor(once=True, **READER)
def test_a_run_is_copied_where_there_is_no_clipboard(context: BrowserContext, tmp_path: Path) -> None:
    context.add_init_script(NO_CLIPBOARD)
    page, _ = opened(context, tmp_path)
    chosen(page, "The run as text")
    page.get_by_role("button", name="Copy as text").click()
    field = page.get_by_label("The run as text: select and copy")
    expect(field).to_be_visible()
    expect(field).to_be_focused()
    assert field.input_value().startswith("small drafts") or "drafts for" in field.input_value()
    expect(page.locator(".account [role=status]")).to_have_text("Copied")


@pytest.mark.visitor(once=True, **READER)
def test_a_browser_that_records_no_film_is_a_sentence(context: BrowserContext, tmp_path: Path) -> None:
    context.add_init_script("delete window.MediaRecorder")
    page, _ = opened(context, tmp_path)
    chosen(page, "The run as a film")
    expect(page.locator(".filming [role=status]")).to_have_text(re.compile("^This browser cannot record a film."))
    expect(page.locator(".filming progress")).to_be_hidden()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.locator(".filming")).to_be_hidden()
