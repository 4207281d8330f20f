"""The page that decodes in the browser: from disk, from a static site, without a network, and when things go wrong."""

import csv
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.core.trace import parse_trace
from specviz.data.first_run import first_trace
from specviz.data.lessons.plans import find_plan
from specviz.player.live import PIECE, live_file, write_site
from specviz.ui.watch.tried import COLUMNS
from tests.conftest import NewContext
from tests.support.known import known
from tests.support.visitor import expect_no_sideways_scroll, violations_now

READY = re.compile("^Ready: wren-base")
LIVE = ".stage[data-run^='live'][data-done]"


@pytest.fixture(scope="session")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "live.html"
    path.write_text(live_file(), encoding="utf-8")
    return path


@pytest.fixture
def offline_page(new_context: NewContext) -> Page:
    return new_context(offline=True, reduced_motion="reduce").new_page()


def told(page: Page) -> Locator:
    return page.locator(".state .told")


def control(page: Page, name: str) -> Locator:
    return page.locator(f".asked [name={name}]")


def open_file(page: Page, path: Path, fragment: str = "") -> None:
    page.goto(f"{path.as_uri()}{fragment}")
    expect(told(page)).to_have_text(READY)


def test_a_change_runs_at_once_and_the_run_is_kept_saved_and_opened_again(
    offline_page: Page, one_file: Path, tmp_path: Path
) -> None:
    page = offline_page
    open_file(page, one_file)
    expect(page.locator(".stage .badge")).to_have_text("recorded run")
    control(page, "draft").select_option("prompt-lookup")
    page.wait_for_selector(LIVE)
    expect(page.locator(".kept tbody tr")).to_have_count(2)
    expect(page.locator(".counted")).to_contain_text("Counted, exact:")
    expect(page.locator(".modelled")).to_contain_text("Modelled, not measured:")
    assert violations_now(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this run").click()
    trace = parse_trace(download.value.path().read_bytes())
    assert trace.output == known(first_trace()).output  # the target's own greedy text, as PyTorch wrote it
    assert trace.drafter is not None
    assert trace.drafter.kind == "prompt-lookup"
    assert "WebAssembly" in trace.recorded_on.machine
    page.get_by_role("button", name="Show again").last.click()
    expect(control(page, "draft")).to_have_value("wren-nano")
    expect(page.locator(".stage .badge")).to_have_text("recorded run")
    saved, rubbish = tmp_path / "saved.json", tmp_path / "rubbish.json"
    saved.write_bytes(download.value.path().read_bytes())
    rubbish.write_text('{"schema": 2, "rounds": "<b>"}', encoding="utf-8")
    page.get_by_label("Open a run").set_input_files(rubbish)
    expect(page.get_by_role("alert")).to_have_text(re.compile("^That file is no run"))
    page.get_by_label("Open a run").set_input_files(saved)
    page.wait_for_selector(".stage[data-run^='file']")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(control(page, "draft")).to_have_value("prompt-lookup")


def test_a_link_brings_settings_and_runs_and_an_empty_prompt_is_a_sentence(offline_page: Page, one_file: Path) -> None:
    page = offline_page
    open_file(page, one_file, "#draft=wren-nano&temperature=0.8&seed=5&tokens=24&gamma=2&prompt=A+dog&target=<b>")
    page.wait_for_selector(LIVE)
    expect(control(page, "prompt")).to_have_value("A dog")
    expect(control(page, "seed")).to_have_value("5")
    expect(control(page, "target")).to_have_value("wren-base")
    expect(page.locator(".stage .draft-length output")).to_have_text("2")
    control(page, "prompt").fill("")
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_role("alert")).to_have_text(re.compile("^The prompt is empty"))
    expect(page.locator(LIVE)).to_be_visible()  # nothing is lost
    page.set_viewport_size({"width": 320, "height": 640})
    expect_no_sideways_scroll(page)


def test_a_lesson_shows_its_moments_with_what_they_ask_and_the_link_holds_which(
    offline_page: Page, one_file: Path
) -> None:
    page, plan = offline_page, find_plan("fifty-minutes")
    assert plan is not None
    moment, question = page.locator(".moment"), page.locator(".moment .question")
    open_file(page, one_file)
    expect(moment).to_be_hidden()
    control(page, "lesson").select_option("lesson=fifty-minutes&moment=1")
    expect(question).to_have_text(plan.moments[0].question)
    expect(moment.locator(".needs")).to_have_text("This moment is the page “Learn”. It needs the server.")
    page.get_by_role("button", name="Next moment").click()
    expect(question).to_have_text(plan.moments[1].question)
    expect(moment.locator(".needs")).to_be_hidden()
    expect(page.locator(".stage")).to_have_attribute("data-hide", "result")
    expect(page.locator(".stage .badge")).to_have_text("recorded run")
    expect(page.locator(".outcome")).to_be_hidden()
    expect(moment.get_by_role("heading")).to_be_focused()
    assert violations_now(page) == []
    page.get_by_role("button", name="Show what is hidden").click()
    expect(page.locator(".outcome")).to_be_visible()
    page.go_back()
    expect(question).to_have_text(plan.moments[0].question)
    costly = next(at for at, each in enumerate(plan.moments, 1) if each.screen.last("run") == "story-costly")
    open_file(page, one_file, f"#lesson=fifty-minutes&moment={costly}")
    page.reload()
    expect(question).to_have_text(plan.moments[costly - 1].question)
    said = (
        "New runs on this page use target wren-base in place of wren-mini and draft wren-nano in place of wren-small."
    )
    expect(page.locator(".instead")).to_have_text(said)
    expect(told(page)).to_have_text(READY)
    page.get_by_role("button", name="Run again").click()  # the moment's settings, decoded here
    page.wait_for_selector(LIVE)
    expect(question).to_be_visible()
    assert f"&lesson=fifty-minutes&moment={costly}" in page.url
    page.set_viewport_size({"width": 320, "height": 640})
    expect_no_sideways_scroll(page)
    page.get_by_role("button", name="Leave the lesson").click()
    expect(moment).to_be_hidden()
    expect(control(page, "lesson")).to_be_focused()
    assert "lesson" not in page.url


def test_a_link_to_no_moment_is_a_sentence(offline_page: Page, one_file: Path) -> None:
    open_file(offline_page, one_file, "#lesson=fifty-minutes&moment=99")
    expect(offline_page.get_by_role("alert")).to_have_text(
        "This page has no such moment of a lesson: choose one from the menu."
    )
    expect(offline_page.locator(".moment")).to_be_hidden()


def test_a_run_is_compared_with_until_it_is_released_and_the_list_is_a_file(
    offline_page: Page, one_file: Path, tmp_path: Path
) -> None:
    page, earlier = offline_page, offline_page.locator(".stage .before-name").first
    open_file(page, one_file, '#draft=prompt-lookup&gamma=2&tokens=24&prompt==1%2B1,+"two"')
    page.wait_for_selector(LIVE)
    page.get_by_role(
        "button", name="Compare with it"
    ).first.click()  # the run on screen: with itself nothing is compared
    control(page, "draft").select_option("wren-nano")
    rows = page.locator(".kept tbody tr")
    expect(rows).to_have_count(3)
    control(page, "seed").fill("3")
    control(page, "seed").press("Tab")
    expect(rows).to_have_count(4)
    expect(earlier).to_contain_text("prompt lookup")
    page.get_by_role("button", name="Stop comparing").click()
    expect(earlier).to_contain_text("wren-nano")  # the run before again
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the list as CSV").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    with file.open(encoding="utf-8", newline="") as lines:
        saved = list(csv.DictReader(lines))
    assert list(saved[0]) == [name for name, _ in COLUMNS if name != "at calibrated costs"] + ["link"]
    assert [row["run"] for row in saved] == ["0, recorded", "1", "2", "3"]
    assert saved[1]["prompt"] == '\'=1+1, "two"'  # no formula
    assert (saved[1]["draft"], saved[1]["draft length"], saved[1]["target"]) == ("prompt lookup", "2", "wren-base")
    assert all(0 <= float(row["accepted %"] or 0) <= 100 <= 100 * float(row["tokens a call"]) for row in saved)
    page.goto(saved[1]["link"])
    expect(control(page, "draft")).to_have_value("prompt-lookup")
    expect(control(page, "prompt")).to_have_value('=1+1, "two"')


def test_an_engine_that_dies_is_started_again_and_nothing_is_lost(offline_page: Page, one_file: Path) -> None:
    page = offline_page
    open_file(page, one_file)
    page.workers[0].evaluate("() => void setTimeout(() => { throw new Error('dead'); })")
    expect(told(page)).to_have_text("The engine of this page stopped. Your runs are still here.")
    expect(page.locator(".kept tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Try again").click()
    expect(told(page)).to_have_text(READY)
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(LIVE)


def test_an_engine_that_somebody_ended_is_noticed(offline_page: Page, one_file: Path) -> None:
    """A browser short of memory ends a thread and tells the page nothing."""
    page = offline_page
    page.clock.install()
    open_file(page, one_file)
    page.workers[0].evaluate("() => void setTimeout(() => close())")
    for _ in range(6):  # the questions that stay without an answer
        page.clock.run_for(5000)
    expect(told(page)).to_have_text("The engine of this page stopped. Your runs are still here.")
    page.get_by_role("button", name="Try again").click()
    expect(told(page)).to_have_text(READY)


@pytest.mark.parametrize(
    ("name", "typed", "used", "says"),
    [
        ("tokens", "999", "256", "new tokens 256 in place of 999"),
        ("tokens", "", "64", "new tokens 64 in place of nothing"),
        ("tokens", "0", "1", "new tokens 1 in place of 0"),
        ("seed", "1.5", "2", "seed 2 in place of 1.5"),
        ("top_p", "7", "1", "top-p 1 in place of 7"),
    ],
)
def test_a_number_that_no_run_can_have_becomes_the_nearest_one_and_the_page_says_so(
    offline_page: Page, one_file: Path, name: str, typed: str, used: str, says: str
) -> None:
    page = offline_page
    open_file(page, one_file)
    page.get_by_text("More", exact=True).click()
    control(page, name).fill(typed)
    control(page, name).press("Control+Enter")
    page.wait_for_selector(LIVE)
    expect(control(page, name)).to_have_value(used)
    expect(page.locator(".instead")).to_have_text(f"New runs on this page use {says}.")
    assert f"{name}={used}" in page.url.split("#")[1]
    control(page, "draft").select_option("prompt-lookup")
    expect(page.locator(".instead")).to_be_hidden()


def test_a_recorded_run_says_so_everywhere_and_the_page_leads_to_the_first_live_one(
    offline_page: Page, one_file: Path
) -> None:
    page, run = offline_page, offline_page.get_by_role("button", name="Run again")
    open_file(page, one_file)
    expect(page.locator(".stage .reason")).to_contain_text("One run, recorded on ")
    expect(page.locator("main")).not_to_contain_text("measured in this browser")
    expect(told(page)).to_contain_text("The run below is a recorded one: press “Run again”")
    expect(page.locator(".kept tbody tr td").first).to_have_text("0, recorded")
    expect(run).to_have_class("run first")
    run.click()
    page.wait_for_selector(LIVE)
    expect(run).to_have_class("run")
    expect(page.locator(".kept tbody tr td").first).to_have_text("1")
    expect(page.locator(".compared")).to_have_text("Texts, identical: the target alone wrote the same 64 tokens.")


def test_undo_brings_back_what_was_there_before(offline_page: Page, one_file: Path) -> None:
    page, undo = offline_page, offline_page.get_by_role("button", name="Undo")
    open_file(page, one_file)
    expect(undo).to_be_disabled()
    for runs, draft in enumerate(("prompt-lookup", "wren-nano"), start=2):
        control(page, "draft").select_option(draft)
        expect(page.locator(".kept tbody tr")).to_have_count(runs)
    undo.click()
    expect(control(page, "draft")).to_have_value("prompt-lookup")
    expect(page.locator(".stage .badge")).to_have_text("live · this browser")
    undo.click()
    expect(control(page, "draft")).to_have_value("wren-nano")
    expect(page.locator(".stage .badge")).to_have_text("recorded run")
    expect(undo).to_be_disabled()


def test_the_tour_is_there_and_ends_without_pages_that_are_not(offline_page: Page, one_file: Path) -> None:
    page, tour = offline_page, offline_page.get_by_role("region", name="Tour")
    open_file(page, one_file, "#draft=prompt-lookup&gamma=2")
    page.wait_for_selector(LIVE)
    page.get_by_role("button", name="Three-minute tour").click()
    expect(tour).to_contain_text("Step 1 of ")
    expect(control(page, "draft")).to_have_value("wren-nano")
    page.get_by_role("button", name="Forward one step").click()
    expect(tour).to_contain_text("You stepped to the check.")
    assert violations_now(page) == []
    skip = tour.get_by_role("button", name="Skip this step")
    while skip.is_visible():
        skip.click()
    expect(tour).to_contain_text("End of the tour")
    expect(tour.get_by_role("link")).to_have_count(0)
    tour.get_by_role("button", name="Close the tour").click()
    expect(tour).to_be_hidden()


def test_a_drawing_is_saved_as_a_picture(offline_page: Page, one_file: Path) -> None:
    page = offline_page
    open_file(page, one_file)
    page.get_by_text("Save…").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Timeline as PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_play_has_the_look_of_the_app_and_no_word_of_a_plot_is_cut(offline_page: Page, one_file: Path) -> None:
    page = offline_page
    open_file(page, one_file)
    play, other = (page.locator(f".stage .buttons {which}") for which in (".play", "[data-move=first]"))
    colors = [button.evaluate("node => getComputedStyle(node).backgroundColor") for button in (play, other)]
    assert colors[0] != colors[1]
    cut = page.locator(".stage .plot").evaluate_all(
        """plots => plots.flatMap((plot) => [...plot.querySelectorAll(".axes text")]
          .filter((word) => word.getBoundingClientRect().left < plot.getBoundingClientRect().left - 0.5)
          .map((word) => word.textContent))"""
    )
    assert cut == []
    assert page.locator(".stage .plot .axes text").count() > 5


def test_no_script_of_the_file_is_one_that_a_browser_stops_at(one_file: Path) -> None:
    """WebKit shows a blank window while it reads a script element of many megabytes."""
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", one_file.read_text(encoding="utf-8"), re.DOTALL)
    assert len(scripts) > 30
    assert max(map(len, scripts)) <= max(PIECE, 2_000_000)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("WebAssembly.validate(build)", "false", "This browser cannot run the models"),
        ('id="weights-wren-nano">', 'id="weights-wren-nano">AAAA', "The weights of wren-nano are damaged or not whole"),
    ],
    ids=["no SIMD", "damaged weights"],
)
def test_what_cannot_work_is_one_sentence_beside_the_recorded_run(
    offline_page: Page, one_file: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    page, broken = offline_page, tmp_path / "broken.html"
    content = one_file.read_text(encoding="utf-8")
    assert old in content
    broken.write_text(content.replace(old, new), encoding="utf-8")
    page.goto(broken.as_uri())
    expect(told(page)).to_contain_text(says)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.locator(".stage .chip").first).to_be_visible()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A site in a subfolder of a static host: its folder and its address."""
    folder = tmp_path / "a" / "class"
    write_site(folder)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}/a/class/"
    server.shutdown()
    server.server_close()


def test_a_site_works_without_its_server_once_it_was_visited(new_context: NewContext, site: tuple[Path, str]) -> None:
    folder, address = site
    context = new_context(once=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    expect(told(page)).to_have_text(READY)
    page.evaluate("async () => (await navigator.serviceWorker.ready).active.state")
    for path in json.loads((folder / "files.json").read_text(encoding="utf-8")):
        if path != "./":
            (folder / path).unlink()  # the server has lost what the visitor has
    context.set_offline(True)
    page.reload()
    expect(told(page)).to_have_text(READY)
    for other in ("index.html", "?from=a-link", "index.html?from=a-link"):
        page.goto(f"{address}{other}")
        expect(told(page)).to_have_text(READY)
    control(page, "draft").select_option("wren-small")
    page.wait_for_selector(LIVE)


def test_the_page_of_a_site_opened_from_disk_says_what_it_needs(new_context: NewContext, tmp_path: Path) -> None:
    write_site(tmp_path)
    page = new_context(once=True).new_page()
    page.goto((tmp_path / "index.html").as_uri())
    expect(told(page)).to_contain_text("A browser loads no models for a page of a site that lies on a disk")
    expect(page.locator(".stage .chip").first).to_be_visible()


def test_a_half_loaded_model_is_a_sentence_and_the_whole_one_works(
    new_context: NewContext, site: tuple[Path, str]
) -> None:
    folder, address = site
    model = next((folder / "models").glob("wren-nano*"))
    whole = model.read_bytes()
    model.write_bytes(whole[: len(whole) // 2])
    page = new_context(once=True).new_page()
    page.goto(address)
    expect(told(page)).to_contain_text("The weights of wren-nano are damaged or not whole")
    model.write_bytes(whole)
    page.get_by_role("button", name="Try again").click()
    expect(told(page)).to_have_text(READY)
