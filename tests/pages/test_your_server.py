"""The tab "Your server" of When it helps by AppTest: nothing opened, an opened bench, what is no bench."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
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


def test_figures_have_the_line_at_1_and_no_prompt_hides_another() -> None:
    found = BenchFindings(make_bench({1: 1.6, 4: 1.01, 8: 0.8}))
    assert load_figure(found)["layout"]["shapes"][0]["x0"] == 1
    same = [BenchPrompt("<b>same", "story", "")] * len(found.result.prompts)
    labels = prompts_figure(found.loads[0], same)["layout"]["yaxis"]["categoryarray"]
    assert len(set(labels)) == len(same)
    assert all("&lt;b&gt;" in label for label in labels)
    many = replace(found.loads[0], prompts=found.loads[0].prompts * 21)
    assert not prompts_figure(many, same)["layout"]["yaxis"]["showticklabels"], "so many names do not fit"


def with_answer(**changed: object) -> bytes:
    """A bench file whose first answer has these fields."""
    value = json.loads(dump_result(make_bench({1: 1.5})))
    value["answers"][0] |= changed
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is no file of specviz bench"),
        (b'\xff"schema"', "not valid at the file: Invalid JSON"),
        (b'{"schema": 1, "answers": [], "x": [' + b"0," * 40_000 + b"0]}", "too many values for its size"),
        (b"x" * (UPLOAD_MEGABYTES * 10**6 + 1), f"larger than {UPLOAD_MEGABYTES} MB"),
        (with_answer(prompt=150), "is of prompt 150, and there are 12"),
        (with_answer(seconds=float("inf")), "answers.0.seconds"),
        (with_answer(first=5.0, seconds=1.0), "first part after its last"),
        (with_answer(tokens="<b>"), "answers.0.tokens"),
        (with_answer(accepted={"drafted": 2, "accepted": 3}), "accepts more guesses than it drafts"),
        (with_answer(accepted={"drafted": 8, "accepted": 4, "rounds": 2, "per_position": [3]}), "in more rounds than"),
        (with_answer(part_seconds=[0.1] * 5_000), "answers.0.part_seconds"),
        (with_answer(text="x" * 100_001), "answers.0.text"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_bench_is_one_sentence_and_changes_nothing(content: bytes, says: str) -> None:
    state = YourServer()
    state.open(dump_result(make_bench({1: 1.5})).encode(), "mine.json")
    with pytest.raises(InputError) as refused:
        state.open(content, "bench.json")
    assert says in str(refused.value)
    assert len(str(refused.value)) < 1_000
    assert known(state.opened)[0] == "mine.json"


def test_no_time_is_lost_to_the_logarithm() -> None:
    result = make_bench({1: 1.6}, prompts=[("a", "story")], noise=0)
    at_once = replace(result, answers=[replace(each, part_seconds=[0.5] * 33) for each in result.answers])
    found = BenchFindings(at_once)
    assert min(value for value in times_figure(found.loads[0])["data"][0]["x"] if value is not None) > 0
    failed = replace(at_once, answers=[*at_once.answers, make_answer("with", 9.0, problem="It failed.")])
    assert times_figure(BenchFindings(failed).loads[0]) == times_figure(found.loads[0]), "it has no time"
