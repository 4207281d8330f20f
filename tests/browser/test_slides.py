"""A run as pictures, as a film and as text, made by the browser of the strictest page: the offline one."""

import re
import time
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

READER = {"offline": True, "permissions": ["clipboard-read", "clipboard-write"]}
pytestmark = pytest.mark.visitor(**READER)
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
    context.drawImage(video, 0, 0);
    const colours = new Set(new Uint32Array(context.getImageData(0, 0, 1280, 720).data.buffer));
    return [video.videoWidth, video.videoHeight, colours.size];
}"""


def opened(context: BrowserContext, folder: Path, text: str = "") -> tuple[Page, list[str]]:
    page, heard = open_from_disk(context, folder / "run.html", text or offline_page(HOSTILE))
    expect(page.locator(".stage .chip").first).to_be_visible()
    return page, heard


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


def test_a_step_is_a_picture_whose_text_is_text_and_a_run_is_read_and_copied_as_text(
    context: BrowserContext, tmp_path: Path
) -> None:
    page, heard = opened(context, tmp_path)
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
    page, _ = opened(context, tmp_path)
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
