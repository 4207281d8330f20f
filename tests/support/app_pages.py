"""The app's pages in AppTest: opened by a link, what they say, and waiting for what a job brings."""

import time
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from specviz.ui.session import Session
from tests.conftest import ROOT
from tests.support.hostile import PAPER

SECONDS = 300  # far more than any page needs, so that a busy machine fails no test
LOOK = 0.1


def page_of(file: str = "app.py", session: Session | None = None, **link: Any) -> AppTest:
    """Not drawn yet."""
    page = AppTest.from_file(ROOT / file, default_timeout=SECONDS)
    if session is not None:
        page.session_state["session"] = session
    page.query_params.update(link)
    return page


def opened(file: str = "app.py", session: Session | None = None, **link: Any) -> AppTest:
    """A page as a visitor with this link finds it; `session` is what other pages left there."""
    return page_of(file, session, **link).run()


def opened_in_app(name: str, **link: Any) -> AppTest:
    """The same through app.py, so that its buttons lead to other pages."""
    return page_of(**link).switch_page(f"pages/{name}.py").run()


def visit(page: AppTest) -> Session:
    """What the server remembers of the page's visitor."""
    return page.session_state["session"]


def alone(script: Callable[[], None]) -> AppTest:
    """A part of a page alone."""
    return AppTest.from_function(script, default_timeout=SECONDS).run()


def texts(page: AppTest) -> str:
    """All that a page says on screen, but for its figures and components."""
    kinds = (page.markdown, page.caption, page.text, page.info, page.warning, page.error, page.success)
    bodies = (element.proto.body for element in page.get("html"))
    html = [body for body in bodies if not body.startswith(("<style", PAPER))]
    return "\n".join([*(element.value for kind in kinds for element in kind), *html])


def until(page: AppTest, holds: Callable[[], object]) -> None:
    """Run the script until it is so, as the page's own polling would."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, f"it did not come to that: {texts(page)}"
        time.sleep(LOOK)
        page.run()
