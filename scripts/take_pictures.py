"""Take the README's moving picture from the running app: python -m scripts.take_pictures [FOLDER]

Starts its own server, opens the recorded run on Watch, steps through its first rounds with the stage's own button, and
takes a picture of each step. The pictures become one animated WebP, watch.webp, in FOLDER (docs).
"""

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from benchmarks.serving import ROOT, served
from scripts.find_chromium import find_chromium

STEPS = 24  # of the run: tokens of every status are then on screen
SIZE = (960, 540)  # of the picture, of a window of 1280 × 720
STEP_MS, LAST_MS = 450, 2500  # how long a step is shown, and the last one


def main() -> None:
    chromium = find_chromium(install=False)
    folder, pictures = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs", []
    folder.mkdir(parents=True, exist_ok=True)
    with served() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
        page.goto(f"{server.url}/")
        page.wait_for_selector(".stage figure svg")
        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_role("button", name="First step").click()
        for _ in range(STEPS):
            page.wait_for_timeout(500)
            picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
            pictures.append(picture.resize(SIZE, Image.Resampling.LANCZOS))
            page.get_by_role("button", name="Forward one step").click()
        browser.close()
    first, *others = pictures
    times = [STEP_MS] * len(others) + [LAST_MS]
    how = {"duration": times, "loop": 0, "quality": 70, "method": 6}
    first.save(folder / "watch.webp", None, save_all=True, append_images=others, **how)


if __name__ == "__main__":
    main()
