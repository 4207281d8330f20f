"""The tab "Your server" of When it helps by AppTest: nothing opened, an opened bench, cleared again, harmful files."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz.core.errors import InputError
from specviz.figures.bench import load_figure, prompts_figure, times_figure
from specviz.measure.endpoints.result import BenchPrompt, BenchResult, dump_result
from specviz.ui.session import Session
from specviz.ui.when_it_helps import your_server_state
from specviz.ui.when_it_helps.sweeps import WhenItHelpsState
from specviz.ui.when_it_helps.your_server_state import UPLOAD_MEGABYTES, YourServer, recorded_benches
from tests.support import app_pages
from tests.support.app_pages import texts, visit
from tests.support.bench_results import make_bench
from tests.support.hostile import figures_of
from tests.support.known import known


@pytest.fixture(autouse=True)
def no_recorded_bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """So that a test does not depend on which recorded files ship."""
    monkeypatch.setattr(your_server_state, "MEASURED", tmp_path)
    recorded_benches.cache_clear()
    yield tmp_path
    recorded_benches.cache_clear()


def opened(result: BenchResult | None, name: str = "bench.json") -> AppTest:
    state = YourServer()
    if result:
        state.open(dump_result(result).encode(), name)
    session = Session().put(WhenItHelpsState(your_server=state))
    return app_pages.opened("pages/when_it_helps.py", session)


def tab(page: AppTest) -> str:
    (found,) = (each for each in page.tabs if each.label == "Your server")
    said = [each.value for kind in ("markdown", "caption", "warning", "error", "code") for each in found.get(kind)]
    return "\n".join(map(str, said)).replace("\\", "").replace("\u2060", "")


def test_an_opened_bench_says_first_whether_it_helps_and_from_which_load_not() -> None:
    page = opened(make_bench())
    said = tab(page)
    assert "Opened bench.json" in said
    assert "vLLM 0.32.0: 12 prompts, 4 times each" in said
    assert "Model wren-base; asked from specviz on a machine of a test" in said
    assert ":green[**Helps, 1.60× at concurrency 1.**] It pays up to concurrency 4 and no longer from 8 on" in said
    assert said.index("Helps, 1.60×") < said.index("guesses were accepted")
    for start in ("One user’s speedup", "Each prompt at concurrency", "Tokens a second of all users"):
        assert any(alt.startswith(start) for alt in figures_of(page)), start
    assert "One over the time per output token" in said  # the definitions


def test_a_file_can_be_cleared_and_the_clearing_undone() -> None:
    page = opened(make_bench({1: 1.5}))
    page.button(key="when_it_helps_bench_clear").click().run()
    assert "Opened bench.json" not in tab(page)
    assert visit(page).of(WhenItHelpsState).your_server.opened is None
    page.button(key="when_it_helps_bench_undo").click().run()
    assert "Opened bench.json" in tab(page)


def test_a_recorded_bench_is_shown_and_one_that_is_opened_comes_first(no_recorded_bench: Path) -> None:
    (no_recorded_bench / "bench_vllm.json").write_text(dump_result(make_bench({1: 1.5})), encoding="utf-8")
    (no_recorded_bench / "bench_llama.json").write_text("{", encoding="utf-8")  # damaged: left out
    recorded_benches.cache_clear()
    assert list(recorded_benches()) == ["vLLM, recorded"]
    assert "**Recorded**" in tab(opened(None))
    page = opened(make_bench({1: 0.7}))
    assert "Opened bench.json" in tab(page)
    assert "Hurts, 0.70×" in tab(page)
    known(visit(page).of(WhenItHelpsState).your_server).shown = "vLLM, recorded"
    page.run()
    assert "**Recorded**" in tab(page)


def test_a_busy_machine_has_no_verdict_and_one_server_alone_no_ratio() -> None:
    assert "Not trusted, 9.00×" in tab(opened(make_bench({1: 9.0})))
    result = make_bench({1: 1.5})
    alone = replace(result, without=None, answers=[each for each in result.answers if each.side == "with"])
    said = tab(opened(alone))
    assert "Only one server was measured" in said
    assert "×" not in said


HARMFUL = "<b>x</b> **bold** [link](http://evil.test) $\\alpha$ :smile: ![](http://evil.test/a.png)"


def test_names_and_texts_from_a_file_stay_text() -> None:
    result = make_bench({1: 1.5, 4: 1.2}, prompts=[(HARMFUL, HARMFUL), (f"{HARMFUL} 2", "code")])
    server = replace(result.with_, model=HARMFUL, system=HARMFUL, version=HARMFUL, drafts=HARMFUL)
    answers = [replace(each, text=f"{HARMFUL}{each.side}\n# big") for each in result.answers]
    problem = replace(answers[0], problem=HARMFUL)
    page = opened(
        replace(
            result, with_=server, client=HARMFUL, created=HARMFUL, imported=HARMFUL, notes=[HARMFUL],
            answers=[problem, *answers[1:]], prompts=[BenchPrompt(HARMFUL, HARMFUL, ""), result.prompts[1]],
        ),
        HARMFUL,
    )  # fmt: skip
    shown = texts(page)
    assert shown.count("smile") > 5
    for markup in ("<b>x", r"\*\*bold", r"\[link", r"\$\\alpha"):
        assert not re.search(rf"(?<!\\){markup}", shown), markup  # each is escaped
    assert not page.exception


def test_figures_have_the_line_at_1_each_interval_and_marks_of_the_judge() -> None:
    found = your_server_state.BenchFindings(make_bench({1: 1.6, 4: 1.01, 8: 0.8}))
    drawn = load_figure(found.measured)
    assert [part["name"] for part in drawn["data"][1:]] == ["helps", "about even", "hurts"]
    assert drawn["layout"]["shapes"][0]["y0"] == 1
    marks = drawn["data"][1]
    assert found.measured[0].speedup
    low, high = known(found.measured[0].speedup.interval)
    assert marks["error_y"]["array"] == pytest.approx([high - marks["y"][0]])
    assert marks["error_y"]["arrayminus"] == pytest.approx([marks["y"][0] - low])
    same = [BenchPrompt("<b>same", "story", "")] * len(found.result.prompts)
    labels = prompts_figure(found.measured[0], same)["layout"]["yaxis"]["categoryarray"]
    assert len(set(labels)) == len(same)  # numbered, so that none hides another
    assert all("&lt;b&gt;" in label for label in labels)


def with_answer(**changed: object) -> bytes:
    """A bench file whose first answer has these fields."""
    value = json.loads(dump_result(make_bench({1: 1.5})))
    value["answers"][0] |= changed
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not valid at the file: Invalid JSON"),
        (b"\xff\xfe", "not valid at the file"),
        (b"[]", "not valid at the file: Input should be an object"),
        (b'{"schema": 2, "answers": [], "prompts": []}', "created: Field required"),
        (b'{"answers": [], "prompts": [], "x": [' + b"0," * 40_000 + b"0]}", "too many values for its size"),
        (b"x" * (UPLOAD_MEGABYTES * 10**6 + 1), f"larger than {UPLOAD_MEGABYTES} MB"),
        (with_answer(prompt=7_000), "answers.0.prompt"),
        (with_answer(prompt=150), "is of prompt 150, and there are 12"),
        (with_answer(seconds=1e9), "answers.0.seconds"),
        (with_answer(seconds=float("nan")), "answers.0.seconds"),
        (with_answer(seconds=float("inf")), "answers.0.seconds"),
        (with_answer(first=5.0, seconds=1.0), "first part after its last"),
        (with_answer(tokens=-1), "answers.0.tokens"),
        (with_answer(tokens="<b>"), "answers.0.tokens"),
        (with_answer(side="both"), "answers.0.side"),
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


def test_times_have_their_percentiles_for_each_server_and_none_is_lost_to_the_logarithm() -> None:
    found = your_server_state.BenchFindings(make_bench({1: 1.6}, prompts=[("a", "story")], noise=0))
    ours, plain = times_figure(found, found.loads[0])["data"]
    assert ours["customdata"][:5] == ["p50", "p90", "p99", "", "p50"]
    token = slice(4, 7)  # after the three of the first token, and the break of the line
    assert ours["x"][token] == pytest.approx([22 / 1.6] * 3, rel=0.05)
    assert plain["x"][token] == pytest.approx([22] * 3, rel=0.05)
    at_once = replace(found.result, answers=[replace(each, part_seconds=[0.5] * 33) for each in found.result.answers])
    lumped = times_figure(your_server_state.BenchFindings(at_once), found.loads[0])["data"][0]
    assert min(value for value in lumped["x"] if value is not None) > 0
