"""What the page says while a run is on its way. No engine: job views made by hand."""

import pytest

from specviz.service.job import JobView
from specviz.ui.watch.page import _notice


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (JobView(1, "interactive", place=3), "waiting: place 3 in the queue"),
        (JobView(1, "interactive", place=1, message="The engine is starting."), "The engine is starting."),
        (JobView(1, "interactive", state="loading", model="wren-small"), "loading wren-small"),
        (
            JobView(1, "interactive", state="loading", model="gpt2", bytes_done=12_000_000, bytes_total=548_000_000),
            "downloading gpt2: 12 of 548 MB",
        ),
        (JobView(1, "interactive", state="comparing", plain_tokens=12), "now the target alone: 12 tokens"),
        (JobView(1, "interactive", state="running"), None),
        (JobView(1, "interactive", state="done"), None),
    ],
)
def test_every_wait_is_named(view: JobView, said: str | None) -> None:
    assert _notice(view) == said
