"""The tab "Your server" of When it helps by AppTest: nothing opened, an opened bench, what is no bench."""

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.figures.bench import load_figure, prompts_figure, times_figure
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.result import BenchPrompt, BenchResult, dump_result
from specviz.ui.session import Session
from specviz.ui.when_it_helps.your_server import UPLOAD_MEGABYTES, YourServer
from tests.support import app_pages
from tests.support.app_pages import texts, visit
from tests.support.bench_results import PROMPTS, make_answer, make_bench
from tests.support.known import known
from tests.support.seen import seen, step
from tests.support.strategies import refusal


def opened(result: BenchResult | None, name: str = "bench.json") -> AppTest:
    state = YourServer()
    if result:
        state.open(dump_result(result).encode(), name)
    return app_pages.opened("pages/when_it_helps.py", Session().put(state))


THREE = PROMPTS[::5]
ALONE = make_bench({1: 1.5, 4: 1.2}, prompts=THREE)
BENCHES = {
    "it pays up to a load": make_bench({1: 1.6, 4: 1.01, 8: 0.8}, prompts=THREE),
    "not trusted": make_bench({1: 9.0}, prompts=THREE),
    "one server": replace(ALONE, without=None, answers=[each for each in ALONE.answers if each.side == "with"]),
}


@pytest.mark.parametrize("name", BENCHES)
def test_an_opened_bench_says_first_whether_it_helps_and_from_which_load_not(
    name: str, snapshot: SnapshotAssertion
) -> None:
    before = seen(opened(None))
    assert step(before, opened(BENCHES[name])) == snapshot


def test_a_recorded_bench_is_shown_and_one_that_is_opened_comes_first() -> None:
    page = opened(make_bench({1: 0.7}))
    assert "**Opened bench.json**" in texts(page)
    assert "Hurts, 0.70×" in texts(page)
    visit(page).of(YourServer).shown = "llama.cpp, recorded"
    assert "**Opened" not in texts(page.run())
    visit(page).of(YourServer).open(dump_result(make_bench({1: 0.6})).encode(), "other.json")
    assert "**Opened other.json**" in texts(page.run())


def test_figures_have_the_line_at_1_no_prompt_hides_another_and_no_time_is_lost_to_the_logarithm() -> None:
    found = BenchFindings(make_bench({1: 1.6, 4: 1.01, 8: 0.8}))
    assert load_figure(found)["layout"]["shapes"][0]["x0"] == 1
    same = [BenchPrompt("<b>same", "story", "")] * len(found.result.prompts)
    labels = prompts_figure(found.loads[0], same)["layout"]["yaxis"]["categoryarray"]
    assert len(set(labels)) == len(same)
    assert all("&lt;b&gt;" in label for label in labels)
    many = replace(found.loads[0], prompts=found.loads[0].prompts * 21)
    assert not prompts_figure(many, same)["layout"]["yaxis"]["showticklabels"], "so many names do not fit"
    at_once = [make_answer(side, 0.02, part_seconds=[0.5] * 33) for side in ("with", "without")]
    one, failed = make_bench({1: 1.6}, prompts=PROMPTS[:1]), make_answer("with", 9.0, problem="It failed.")
    first, again = (
        times_figure(BenchFindings(replace(one, answers=answers)).loads[0]) for answers in (at_once, [*at_once, failed])
    )
    assert min(value for value in first["data"][0]["x"] if value is not None) > 0
    assert first == again, "what failed has no time"


def changed(kind: str = "answers", **fields: Any) -> bytes:
    """A bench file whose first answer has these fields, or the only span."""
    span = {"side": "with", "concurrency": 1, "written": None, "ours": 0}
    value = json.loads(dump_result(make_bench({1: 1.5}))) | {"spans": [span]}
    value[kind][0] |= fields
    return json.dumps(value).encode()


COUNTS = {"drafted": 8, "accepted": 4, "rounds": 2}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is no file of specviz bench"),
        (b'\xff"schema"', "not valid at the file: Invalid JSON"),
        (b'{"schema": 1, "answers": [], "x": [' + b"0," * 40_000 + b"0]}", "too many values for its size"),
        (b"x" * (UPLOAD_MEGABYTES * 10**6 + 1), f"larger than {UPLOAD_MEGABYTES} MB"),
        (changed(prompt=150), "is of prompt 150, and there are 12"),
        (changed(seconds=float("inf")), "answers.0.seconds"),
        (changed(first=5.0, seconds=1.0), "first part after its last"),
        (changed(tokens="<b>"), "answers.0.tokens"),
        (changed(accepted={"drafted": 2, "accepted": 3}), "accepts more guesses than it drafts"),
        (changed(accepted=COUNTS | {"per_position": [3]}), "in more rounds than"),
        (changed(part_seconds=[0.1] * 5_000), "answers.0.part_seconds"),
        (changed(text="x" * 100_001), "answers.0.text"),
        (changed(rate=1.0), "answers.0 has not the kind of load"),
        (changed(concurrency=3), "answers.0 has not the kind of load"),
        (changed("spans", concurrency=3), "spans.0 has not the kind of load"),
    ],
)
def test_a_file_that_is_no_bench_is_one_sentence_and_changes_nothing(content: bytes, says: str) -> None:
    """Found: a file of 1.3 MB with a load for each pair of answers kept a page busy for 41 s."""
    state = YourServer()
    state.open(dump_result(make_bench({1: 1.5})).encode(), "mine.json")
    assert says in refusal(lambda: state.open(content, "bench.json"))
    assert known(state.opened)[0] == "mine.json"
