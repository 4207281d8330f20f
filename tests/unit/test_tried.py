"""What a session tried: the run before beside the run on screen, and the list of all runs."""

import csv
from dataclasses import replace
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest

from specviz.core.judge import Judgement
from specviz.core.metrics import Costs, Estimate, count
from specviz.core.metrics import speedup as speedup_of
from specviz.core.request import RunRequest
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict
from specviz.data.measured.measured_methods import Quiet
from specviz.data.measured.quiet_costs import MachineCosts, QuietCosts
from specviz.player.data import compared, differences, run_name
from specviz.service.job import RunResult, tokens_in
from specviz.service.run_store import StoredRun
from specviz.ui.watch import tried
from specviz.ui.watch.tried import COLUMNS, ON_SCREEN, TriedRun, tried_csv, tried_figure, tries
from specviz.ui.watch.watch_state import FIRST, LIST_BYTES, MAX_RUNS, MAX_TOKENS, ShownRun, WatchState, first_run
from tests.support.fake_traces import draft_guesses_of, fake_run, fake_trace
from tests.support.figures import by_name
from tests.support.known import known
from tests.unit.test_result import BUSY
from tests.unit.test_verdict import CALIBRATED, in_turns

REQUEST = RunRequest("Once upon a time", "wren-base", "wren-nano")
RUN = fake_run(REQUEST)


CHAT = "[system]\nBe brief.\n[user]\nWhat is a tree?\n[assistant]\nA plant.\n[user]\nAnd a bush?"


def changed(**parts: Any) -> Trace:
    """The run with other values in it, and in some of its parts."""
    inner = {name: replace(getattr(RUN, name), **its) for name, its in parts.items() if isinstance(its, dict)}
    return replace(RUN, **parts | inner)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (RUN, ""),
        (changed(settings={"draft_length": 9}), ""),  # the name has it
        (changed(target={"name": "openai-community/gpt2"}), "for openai-community/gpt2"),
        (changed(prompt={"text": "=1+1"}), "“=1+1”"),
        (changed(prompt={"text": "A text of a visitor's own"}), "“A text of a visi…”"),
        (changed(prompt={"text": CHAT}, settings={"prompt_format": "chat"}), "“And a bush?”, as a chat"),
        (changed(prompt={"text": CHAT}), "“[system] Be brie…”"),  # read as a text, the marks are words of it
        (changed(settings={"temperature": 0.7, "max_new_tokens": 20}), "temperature 0.7, 20 tokens"),
        (changed(settings={"tree": "2,2,1,1"}), "tree 2,2,1,1"),
        (changed(created="2020-01-01", recorded_on={"machine": "elsewhere"}), "recorded on another machine"),
        (changed(created="2100-01-01", recorded_on={"machine": "elsewhere"}), "measured here"),
    ],
)
def test_what_else_is_different_about_a_run_is_said_in_a_few_words(run: Trace, said: str) -> None:
    assert differences(run, RUN) == said
    assert run_name(run).startswith("wren-nano, ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CHAT, "And a bush?"),
        ("[user]\nWhat is a tree?\n[assistant]\nA plant.", "What is a tree?"),
        ("Hi,\nyou", "Hi, you"),
        ("[user]\n\\[user]\n[system]\nBe brief.", "[user]"),  # a message that looks like a mark
        ("[system]\nBe brief.", "[system] Be brief."),  # nobody asked
        ("[user]\n", "[user]"),
    ],
)
def test_a_turn_of_a_chat_is_named_by_what_its_user_said_last(text: str, said: str) -> None:
    """Before: "[user] What is…", the same words for each turn of a chat."""
    row = TriedRun(2, Mock(trace=changed(prompt={"text": text}, settings={"prompt_format": "chat"})), None)
    assert row.name.endswith(f" · {said}")
    assert dict(COLUMNS)["prompt"](row) == said


def test_the_run_before_has_its_lines_and_its_figures_at_each_length() -> None:
    before = compared(RUN, draft_guesses_of(RUN), None)
    counts = count(RUN.rounds)
    shown = [before[name] for name in ("name", "differs", "draft_length", "pinned")]
    assert shown == ["wren-nano, 4", "", 4, False]
    assert len(before["acceptance"]) == len(before["speedup"]) == len(RUN.rounds)
    assert before["acceptance"][-1] == pytest.approx(counts.acceptance_rate, abs=1e-4)
    assert before["speedup"][-1] == pytest.approx(speedup_of(RUN), abs=1e-4)
    assert before["lengths"][3] == (before["acceptance"][-1], pytest.approx(before["speedup"][-1], abs=0.005))
    assert before["trusted"]
    assert compared(RUN, None, None)["lengths"] == [], "without the draft's guesses nothing can be replayed"
    in_turns = replace(known(RUN.autoregressive), alternating=True)
    busy = replace(RUN, rounds=[replace(RUN.rounds[0], verify_seconds=1.0), *RUN.rounds[1:]], autoregressive=in_turns)
    assert not compared(busy, None, None)["trusted"]
    assert run_name(replace(RUN, drafter=None, rounds=[])) == "no draft, 4"


@pytest.fixture(autouse=True)
def nothing_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No quiet costs come with the app: only a calibration says what a pair costs."""
    monkeypatch.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, []))


def watching_of(*requests: RunRequest) -> WatchState:
    watching = WatchState()
    for number, request in enumerate(requests, start=1):
        watching.past.finish(shown(request, number))
    return watching


def shown(request: RunRequest, number: int) -> ShownRun:
    return ShownRun(fake_run(request), f"live-{number}", "live", None, stored_id=f"id{number}", asked=(request, None))


def judged(speedup: float, interval: tuple[float, float] | None = None, trusted: bool = True) -> Verdict:
    return Verdict(Judgement("helps", speedup, "interval"), "", None, None, interval, trusted=trusted)


QUIETLY = Estimate(1.75, (1.7, 1.81))
FORMULA = replace(REQUEST, prompt="=1+1", draft="prompt-lookup")


def test_each_run_of_the_session_is_a_row_and_the_list_is_saved_with_links_and_without_a_formula() -> None:
    runs = tries(watching_of(REQUEST, FORMULA))
    assert [run.number for run in runs] == [0, 1, 2]
    assert (runs[0].shown.run_id, runs[0].link) == (FIRST, f"./?run={FIRST}")
    assert runs[1].name == "1: wren-nano, 4 · Once upon a time"
    assert "run=id2" in runs[2].link
    assert "draft=prompt-lookup" in runs[2].link
    row = {name: value(runs[1]) for name, value in COLUMNS}
    counts = count(runs[1].shown.trace.rounds)
    assert (row["run"], row["draft"], row["draft length"], row["temperature"]) == ("1", "wren-nano", 4, 0.0)
    assert (row["tokens a round"], row["accepted %"]) == (
        counts.tokens_per_target_call,
        100 * known(counts.acceptance_rate),
    )
    assert row["speedup"] == speedup_of(runs[1].shown.trace)
    assert (row["prompt"], row["target"], row["time trusted"]) == ("Once upon a time", "wren-base", "yes")
    assert row["at calibrated costs"] is None, "nothing was calibrated"
    heads, *rows = csv.reader(StringIO(tried_csv(runs, "https://specviz.test/")))
    assert heads == [*(name for name, _ in COLUMNS), "link"]
    assert [saved[0] for saved in rows] == ["0, recorded", "1", "2"]
    assert rows[2][heads.index("prompt")] == "'=1+1"
    assert all(saved[-1].startswith("https://specviz.test/?") for saved in rows)


def test_on_screen_a_speed_that_is_not_trusted_says_so_and_its_estimate_stands_beside_it() -> None:
    own = shown(REQUEST, 1)
    row = {name: value(TriedRun(1, own, judged(1.5, (1.25, 1.6), trusted=False), QUIETLY)) for name, value in ON_SCREEN}
    assert (row["pair"], row["speedup"], row["95 %"], row["estimated"]) == (
        "wren-nano → wren-base", "1.50×?", "1.25 to 1.60", "1.70 to 1.81×",
    )  # fmt: skip
    unsure = TriedRun(1, own, None, Estimate(1.75, None))
    assert {name: value(unsure) for name, value in ON_SCREEN}["estimated"] == "about 1.75×"
    saved = {name: value(TriedRun(1, own, None, QUIETLY, "AMD EPYC")) for name, value in COLUMNS}
    last = ("at calibrated costs", "at calibrated costs from", "at calibrated costs to", "calibrated on")
    assert [saved[name] for name in last] == [1.75, 1.7, 1.81, "AMD EPYC"]
    none = {name: value(TriedRun(1, own, None)) for name, value in ON_SCREEN}
    assert (none["speedup"], none["95 %"], none["estimated"]) == (None, None, None)


def test_the_costs_that_come_with_the_app_speak_for_runs_on_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known_here = MachineCosts(
        "2026-11-26", "a machine", RUN.recorded_on, RUN.target.name, RUN.target.dtype, Quiet(3.0),
        {RUN.drafter.asked_as if RUN.drafter else "": Costs.from_blocks([CALIBRATED] * 9)},
    )  # fmt: skip
    monkeypatch.setattr("specviz.data.measured.quiet_costs.quiet_costs", lambda: QuietCosts(1, [known_here]))
    own = tries(watching_of(REQUEST))[1]
    assert known(own.estimated).interval
    assert own.costs_of == "a machine"


def test_a_pair_whose_costs_a_trusted_run_refutes_has_no_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    watching = watching_of(REQUEST)
    busy, steady = (replace(shown(REQUEST, number), trace=trace) for number, trace in ((2, BUSY), (3, in_turns())))
    later = (busy.run_id, steady.run_id)
    watching.past.finish(busy)
    monkeypatch.setattr(WatchState, "costs_of", lambda self, run: CALIBRATED if run.run_id in later else None)
    assert tries(watching)[2].estimated
    monkeypatch.setattr(
        WatchState, "costs_of", lambda self, run: replace(CALIBRATED, cost_ratio=0.35) if run.run_id in later else None
    )
    assert tries(watching)[2].estimated, "a busy run refutes nothing"
    watching.past.finish(steady)
    assert [run.estimated for run in tries(watching)] == [None] * 4


def test_a_run_that_is_shown_again_is_no_second_row() -> None:
    watching = watching_of(REQUEST, FORMULA)
    watching.past.finish(replace(shown(REQUEST, 1), run_id="live-3", source="stored"))
    assert ([run.run_id for run in watching.past.finished], watching.past.count) == (["live-1", "live-2"], 2)
    without = replace(shown(REQUEST, 3), stored_id="")
    for _ in range(2):
        watching.past.finish(without)
    assert watching.past.count == 4, "runs that no store has are different runs"


RUN_IDS = [f"{number:016x}" for number in range(10_000)]


def engine_with(*ids: str, run: Trace | None = None) -> Mock:
    """An engine that has finished runs of these ids. `found` notes which are asked for."""
    results = {name: RunResult(run or fake_run(replace(REQUEST, prompt=name)), id=name) for name in ids}
    runs = {name: StoredRun("key", REQUEST, result) for name, result in results.items()}
    found = Mock(side_effect=runs.get)
    return Mock(found=found, stored_runs=Mock(side_effect=lambda ids, most_bytes: map(found, ids)))


def test_runs_of_before_a_reload_come_back_in_front_of_those_since(monkeypatch: pytest.MonkeyPatch) -> None:
    seven, eight, nine = RUN_IDS[7:10]
    monkeypatch.setattr(tried, "engine", lambda: engine_with(seven, eight))
    watching = watching_of(FORMULA)
    tried.restore_list(watching, f"{seven} {nine} {eight} {seven}")
    assert (watching.past.ids, watching.past.count, watching.past.gone) == ([seven, eight, "id1"], 3, 1)
    assert [run.shown.asked for run in tries(watching)[1:3]] == [(REQUEST, None)] * 2
    assert [run.number for run in tries(watching)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("sent", "most"),
    [
        ("", 0),
        ("../../etc/passwd <script> id1 \x00", 0),
        (" ".join(RUN_IDS), MAX_RUNS),
        ("f" * 100_000, MAX_RUNS + 3),
    ],
)
def test_whatever_a_browser_sends_only_so_many_runs_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, sent: str, most: int
) -> None:
    engine = engine_with()
    monkeypatch.setattr(tried, "engine", lambda: engine)
    watching = watching_of(REQUEST)
    tried.restore_list(watching, sent)
    assert engine.found.call_count <= most
    assert [run.run_id for run in watching.past.finished] == ["live-1"]


def test_a_list_comes_back_once_and_only_to_a_visitor_who_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: each message had all runs read again, also where its sender was gone."""
    held = " ".join(RUN_IDS[:MAX_RUNS])
    engine = engine_with(*RUN_IDS[:MAX_RUNS], run=fake_trace(tokens=MAX_TOKENS // 8))
    monkeypatch.setattr(tried, "engine", lambda: engine)
    watching = watching_of(REQUEST)
    for _ in range(3):
        tried.restore_list(watching, held)
    here = len(watching.past.ids)
    assert watching.past.ids == [*RUN_IDS[MAX_RUNS - here + 1 : MAX_RUNS], "id1"], "the newest, in their order"
    assert 3 < here < 10
    assert sum(tokens_in(run.trace) for run in watching.past.finished) <= MAX_TOKENS
    assert (engine.found.call_count, watching.past.gone) == (MAX_RUNS, 0), "asked for once"
    assert engine.stored_runs.call_args.args[1] == LIST_BYTES
    engine.found.reset_mock()
    monkeypatch.setattr(tried, "visitor_left", lambda: engine.found.call_count == 2)
    watching = watching_of(REQUEST)
    tried.restore_list(watching, held)
    assert engine.found.call_count == 2


def test_each_draft_has_its_mark_and_a_run_that_is_not_trusted_a_hollow_one() -> None:
    first = known(first_run())
    quiet, busy = (judged(1.5, (1.4, 1.6), trusted) for trusted in (True, False))
    other = shown(FORMULA, 2)
    runs = [TriedRun(0, first, quiet), TriedRun(1, first, busy), TriedRun(2, other, quiet), TriedRun(3, other, None)]
    found = by_name(tried_figure(runs))
    assert list(found) == ["break-even 1×", runs[0].draft, runs[2].draft]
    assert found[runs[0].draft]["marker"]["symbol"] == ["circle", "circle-open"]
    assert found[runs[0].draft]["text"] == ["0", "1"]
    assert found[runs[0].draft]["error_y"]["array"] == [pytest.approx(0.1)] * 2
    assert found[runs[2].draft]["marker"]["symbol"] == ["square"]
    assert found[runs[2].draft]["y"] == [1.5], "a run without a speed is no point"


def test_the_numbers_of_runs_that_lie_on_each_other_do_not_and_a_wild_speed_does_not_stretch_the_axis() -> None:
    first = known(first_run())
    runs = [TriedRun(number, first, judged(1.1)) for number in range(12)]
    points = by_name(tried_figure(runs))[runs[0].draft]
    places = [place for text, place in zip(points["text"], points["textposition"], strict=True) if text]
    assert points["text"][:2] == ["0", "1"]
    assert len(places) == len(set(places)) == len(tried.PLACES), "where there is no room for a number, it is in the tip"
    assert points["customdata"] == [(number, "1.10×") for number in range(12)]
    points = by_name(tried_figure([runs[0], TriedRun(1, first, judged(0.9))]))[runs[0].draft]
    assert points["textposition"] == ["middle right"] * 2
    figure = tried_figure(
        [TriedRun(0, first, judged(2.0, (1.9, 2.1))), TriedRun(1, first, judged(9.0, (5.0, 13.0), False))]
    )
    low, high = figure["layout"]["yaxis"]["range"]
    points = by_name(figure)[runs[0].draft]
    assert (low, high) == (0, pytest.approx(1.1 * 2.1))
    assert 2.0 < points["y"][1] < high
    assert points["error_y"]["arrayminus"][1] == 0, "the whole bar is above the axis"
    assert points["text"] == ["0", "1 ↑"]
    assert points["customdata"] == [(0, "2.00× (1.90 to 2.10)"), (1, "9.00× (5.00 to 13.00), busy machine")]


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    "timed",
    [(1.5, (1.4, 1.6)), (1.9, (1.2, 2.9)), (1.3, (0.7, 3.8)), (0.4, (0.02, 0.9)), (4.8, (4.1, 5.2)), (9.0, None)],
)
def test_no_bar_of_an_interval_is_cut_by_the_axis_and_no_label_lies_in_the_plot(
    timed: tuple[float, tuple[float, float] | None], trusted: bool
) -> None:
    first = known(first_run())
    figure = tried_figure([TriedRun(0, first, judged(1.2)), TriedRun(1, first, judged(*timed, trusted))])
    assert figure["layout"]["xaxis"]["range"][0] < 0, "a mark at 0 % is drawn whole"
    points, (low, high) = by_name(figure)[TriedRun(0, first, None).draft], figure["layout"]["yaxis"]["range"]
    bars = points["error_y"]
    for speed, above, below in zip(points["y"], bars["array"], bars["arrayminus"], strict=True):
        assert low <= speed - below <= speed + above < high
    beyond = timed[1][1] > high if timed[1] else timed[0] > high
    assert points["text"][1] == ("1 ↑" if beyond else "1"), "a bar that goes on says so"
    assert not (beyond and trusted), "the axis reaches all that is trusted"
    assert high >= 1.1 * timed[0] or (not trusted and timed[0] > tried.WILD)
    assert not figure["layout"].get("annotations")
