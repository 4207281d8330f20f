"""What "When it helps" computes: choices, links, estimates, the comparison of drafts, and how long it still takes."""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.judge import Interval, judge
from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses, Prospect
from specviz.core.request import RunRequest
from specviz.core.trace import DrafterInfo
from specviz.figures.parts import scatter
from specviz.figures.speedups import SpeedupRow, speedup_figure
from specviz.measure import paired
from specviz.measure.paired import Pace, show_duration
from specviz.measure.sweep.plan import SweepPair, SweepPrompt
from specviz.models.draft_menu import linked_names
from specviz.service import protocol as wire
from specviz.ui.when_it_helps import by_draft, when_it_helps_page
from specviz.ui.when_it_helps import sweeps as sweeps_module
from specviz.ui.when_it_helps.by_draft import Point, best_of, points_of, reading
from specviz.ui.when_it_helps.sweeps import SweepChoice, WhenItHelpsState, estimated_seconds
from tests.support.fake_rows import a_row
from tests.support.fake_service import FakeService
from tests.support.figures import lines_of

NAMES = ["wren-base", "wren-nano"]
MANY = SweepChoice(
    workloads=("prose", "copy"), drafts=("wren-nano", PROMPT_LOOKUP), draft_lengths=(3, 16), prompts=5, seed=7,
    temperatures=(0.0, 0.7), schedules=("fixed", "confidence"), tokens=32, constrain=True, top_k=40, top_p=0.9,
)  # fmt: skip
TREE = SweepChoice(drafts=("wren-eagle", "early-exit:2"), tree="4,2,1")
JOINT = SweepChoice(temperatures=(1.0,), draft_sampling="argmax", verification="block")


@pytest.mark.parametrize("choice", [SweepChoice(), MANY, TREE, JOINT])
def test_a_choice_survives_its_link(choice: SweepChoice) -> None:
    assert SweepChoice.read(choice.parameters(), context=linked_names()) == (choice, [])
    assert choice.problem() is None


def test_a_plan_has_the_settings_of_its_choice_and_the_visitors_own_prompts_last() -> None:
    settings = MANY.plan().settings
    assert (settings.seed, settings.top_k, settings.top_p, settings.max_new_tokens) == (7, 40, 0.9, 32)
    assert {(cell.settings.tree, cell.settings.draft_length) for cell in TREE.plan().cells()} == {("4,2,1", 3)}
    assert {cell.settings.manner for cell in JOINT.plan().cells()} == {", most probable drafts, block verification"}
    plan = SweepChoice(workloads=("story", "code"), prompts=2).plan((SweepPrompt("own", "line-1", "hello"),))
    assert [prompt.name for prompt in plan.prompts] == ["story-1", "code-1", "story-2", "code-2", "line-1"]
    assert len(plan.cells()) == 5 * 4


@pytest.mark.parametrize(
    "part",
    [
        "workload=nonsense", "target=<b>", "draft=../x", "gamma=0", "gamma=17", "gamma=٣", "temperature=nan",
        "temperature=0.123", "tokens=257", "prompts=-1", "constrain=yes", "dtype=int8", "schedule=", "seed=-1",
        f"seed={2**53}", "top_k=1001", "top_p=0", "top_p=1.01", "tree=x", "verification=all", "draft_sampling=beam",
    ],
)  # fmt: skip
def test_a_bad_value_of_a_link_falls_back_with_a_sentence_and_leaves_the_others(part: str) -> None:
    name, _, value = part.partition("=")
    choice, problems = SweepChoice.read({name: [value]}, context=NAMES)
    assert (choice, len(problems)) == (SweepChoice(), 1)
    mixed, problems = SweepChoice.read({"workload": ["story", "no", "story"], "gamma": ["5", "x"]}, context=NAMES)
    assert (mixed.workloads, mixed.draft_lengths, len(problems)) == (("story",), (5,), 2)


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        *((SweepChoice.model_construct(**{name: ()}), "Nothing is chosen: ") for name in sweeps_module.CHOICES),
        (SweepChoice(draft_lengths=range(1, 17), temperatures=(0, 0.3, 0.5, 0.7, 1, 1.5), prompts=5), "at most 1,"),
        (SweepChoice(drafts=(PROMPT_LOOKUP,), schedules=("confidence",)), "no confidence"),
        (SweepChoice(tree="dynamic:8", drafts=(PROMPT_LOOKUP,)), "it drafts no tree"),
        (SweepChoice(tree="dynamic:8", schedules=("fixed", "heuristic")), "A tree has a fixed draft length"),
        (SweepChoice(tree="dynamic:8", verification="block"), "None"),  # a link only: the control is locked
    ],
)
def test_what_cannot_be_started_says_so(choice: SweepChoice, says: str) -> None:
    assert says in str(choice.problem())


# ---- by draft


def prospect(draft: str, right: bool, cost_ratio: float, noise: float = 0.01, repeats: int = 9) -> list[Point]:
    output = list(range(20))
    guesses = output if right else [token + 100 for token in output]
    draft_guesses = DraftGuesses(DrafterInfo("model", draft), output, guesses, None, {}, True)
    blocks = [Costs(0.01, cost_ratio, {1: 1.0, 17: 1.0}, noise * turn) for turn in range(max(1, repeats))]
    return points_of(Prospect(draft, draft_guesses, Costs.from_blocks(blocks) if repeats else blocks[0], 20, []))


def slower(points: list[Point], draft: str, times: float, interval: Interval) -> list[Point]:
    return [
        replace(point, draft=draft, modelled=judge(times * point.modelled.speedup, interval, modelled=True))
        for point in points
    ]


ALWAYS, NEVER = prospect("a", True, 0.0, 0.0), prospect("b", False, 0.1, 0.0)
COMPARED = {
    "one helps": [NEVER, ALWAYS],
    "another is near": [NEVER, ALWAYS, slower(ALWAYS, "near", 0.96, (9.5, 9.7))],
    "another is wide": [NEVER, ALWAYS, slower(ALWAYS, "wide", 0.9, (7.0, 11.0))],
    "none helps": [NEVER],
    "an interval that holds 1": [prospect("a", True, 0.9, noise=0.25)],
    "costs without an interval": [prospect("prompt-lookup", True, 0.0, repeats=0)],
    # Found: a curve zigzagged (2.0, 1.3, 1.9) after a calibration under load, and one peak was the verdict.
    "costs that tell lengths apart": [prospect("a", True, 0.3)],
    "noisy costs": [prospect("a", True, 0.3, noise=0.3)],
}


def test_the_best_draft_and_length_are_claimed_only_where_the_costs_can_tell(snapshot: SnapshotAssertion) -> None:
    lengths = {name: ", ".join(map(by_draft.lengths_in_words, drafts)) for name, drafts in COMPARED.items()}
    assert "\n".join(f"{name}: {reading(drafts)} | γ {lengths[name]}" for name, drafts in COMPARED.items()) == snapshot


def test_a_draft_that_is_always_right_and_free_is_best_long_and_one_that_never_is_best_short() -> None:
    assert best_of(ALWAYS).draft_length == 9  # 20 tokens in two rounds, and no longer draft does it in one
    assert (best_of(ALWAYS).modelled.speedup, best_of(ALWAYS).counts.acceptance_rate) == pytest.approx((10, 1))
    assert list(by_draft.best_lengths(ALWAYS)) == list(range(9, 17))
    never = best_of(NEVER)
    assert (never.draft_length, never.counts.tokens_per_target_call, never.counts.acceptance_rate) == (1, 1.0, 0.0)


def test_each_draft_is_a_line_of_its_own_look_and_its_name_is_text(snapshot: SnapshotAssertion) -> None:
    drafts = [prospect("<b>x</b>%{x}", True, 0.05), NEVER]  # a name from a file
    assert (
        f"{lines_of(by_draft.drafts_figure(drafts))}\n{lines_of(by_draft.drafts_figure(drafts, speedups=True))}"
        == snapshot
    )


# ---- how long it still takes: at this machine's pace, with no engine and no clock


def test_a_sweep_takes_its_runs_and_the_plain_runs_that_they_share() -> None:
    pair = SweepPair("wren-base", "wren-nano")
    cells = SweepChoice(workloads=("story",), prompts=1, draft_lengths=(1, 2), tokens=100).plan().cells()
    assert estimated_seconds(cells, {pair: Pace(0.01, 0.02)}) == pytest.approx(2 * 100 * 0.01 + 106 * 0.02)
    assert estimated_seconds(cells, {pair: None}) is None
    said = {1: "about 5 s", 30: "about 30 s", 72: "about 70 s", 200: "about 3 min", 6000: "about 1.7 h"}
    assert {seconds: show_duration(seconds) for seconds in said} == said


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its one number is the time."""
    now = [1_000.0]
    for module in (paired, sweeps_module, by_draft):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_what_is_left_of_a_sweep_goes_by_this_machine_from_its_first_cell(
    service: FakeService, clock: list[float]
) -> None:
    """Found on a busy machine: the page promised what the stored sweep took, and that grew eightfold."""

    def left_of(sweeps: WhenItHelpsState) -> str:
        sweeps.refresh()
        line = when_it_helps_page._progress_line(sweeps, sweeps.slot.view)
        return line.partition("; ")[2].partition(" left")[0]

    sweeps, row = WhenItHelpsState(), a_row()
    seconds = {"speculative_seconds": 0.3 * row.new_tokens, "autoregressive_seconds": 0.7 * row.plain_tokens}
    sweeps.start(SweepChoice(workloads=("story",), prompts=1).plan())
    job = sweeps.slot.view.job
    clock[0] += 600  # in a queue, and while a model was loaded
    service.tell(wire.JobProgress(job, "measuring", 31), wire.JobItem(job, "sweep", "This cannot be measured."))
    assert left_of(sweeps) == ""
    service.tell(wire.JobItem(job, "sweep", replace(row, **seconds)))
    assert left_of(sweeps) == show_duration(29 * row.new_tokens)
    clock[0] += row.new_tokens  # nothing comes: others have their turns
    assert left_of(sweeps) == show_duration(2 * 29 * row.new_tokens)


def test_the_first_of_some_drafts_promises_nothing_because_its_costs_may_be_known(
    service: FakeService, clock: list[float]
) -> None:
    """Found: they are measured when the server starts, so it was there at once, and seconds were promised for all."""
    state = by_draft.ByDraft()
    found: Any = Prospect("wren-nano", DraftGuesses(DrafterInfo("model", "wren-nano"), [1], [1], None, {}, True),
        Costs(0.04, 0.1, {1: 1.0}, 0.1), 64, [])  # fmt: skip
    job = state.slot.start(lambda job: wire.GuessAlong(job, RunRequest("Once"), by_draft.drafts_to_compare()))
    for left in ("", f"{show_duration(3 * 40)} left"):
        service.tell(wire.JobProgress(job, "guessing", 5), wire.JobItem(job, "guess along", found))
        state.refresh()
        clock[0] += 40 if left else 0
        service.tell(wire.JobProgress(job, "guessing", 5))
        line = by_draft._progress_line(state, state.slot.view)
        assert left in line
        assert ("left" in line) == bool(left)


def test_the_dot_of_a_prompt_that_is_far_faster_is_inside_the_figure() -> None:
    row = SpeedupRow("story", judge(1.1, (1.0, 1.2)))
    figure = speedup_figure([row], [scatter("a prompt", [0.9, 3.0], [row.label, row.label])])
    assert figure["layout"]["xaxis"]["range"][1] > 3.0
