"""What the worksheet says of a model, and the exercises of a run: all of one, and what is other of others."""

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.rounds import DraftedToken, EmittedToken, Round
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, Prompt, Trace
from specviz.measure.worksheet.exercises import exercises, sheet
from specviz.measure.worksheet.model import (
    MeasuredPasses,
    WorksheetModel,
    agreeing,
    alpha_of_counts,
    batch_sentence,
    batch_shape,
    counts_sentence,
    symbols,
    verdict_sentence,
)
from tests.support.fake_traces import run_of

PASSES = MeasuredPasses("a target", "float32", "a machine", {1: {1: 1.0, 5: 1.5}, 4: {1: 1.0, 3: 1.6, 5: 2.5}})
PAYS = WorksheetModel(0.8, 4, 0.1, 1.4, 0.05, operations_ratio=0.2)
MODELS = {
    "pays": PAYS,
    "never pays": WorksheetModel(0.3, 3, 0.9, 3.5, 0.5),
    "always pays": WorksheetModel(0.5, 2, 0.0, 1.0, 0.0),
    "in a batch": replace(PAYS, batch=8),
    "in a batch, free checks": replace(PAYS, batch=8, verification=1.0),
    "in a measured batch": replace(PAYS, batch=4, passes=PASSES),
    "in a larger batch than measured": replace(PAYS, batch=16, passes=PASSES),
    "counted": WorksheetModel(0.7, 3, 0.2, 1.3, 0.1, survival=(0.75, 0.5, 0.25)),
    "counted for less": WorksheetModel(0.7, 4, 0.2, 1.3, 0.1, survival=(0.75, 0.5)),
    "a block": replace(PAYS, block=True),
    "checks as measured": replace(PAYS, checks={1: 1.0, 3: 1.1, 5: 1.4, 9: 2.2}),
}


def told(model: WorksheetModel) -> list[str]:
    said = [verdict_sentence(model), batch_sentence(model), batch_sentence(model, measured=True), batch_shape(model)]
    figures = {
        "steps of 1, 2, 5, 9 tokens": " ".join(f"{model.steps(tokens):.4g}" for tokens in (1, 2, 5, 9)),
        "cost of a guess": f"{model.guess_cost(2):.4g}",
        "longest, best, its speedup": f"{model.longest}, {model.best}, {model.best_speedup:.4g}",
        "speedup at 0.5, 2": f"{model.speedup_at(0.5, 2):.4g}",
        "accepted share at 0.5": f"{model.accepted_share(0.5):.4g}",
        "more operations": f"{model.extra_operations:.4g}",
    }
    return [*said, *symbols(model).splitlines(), *(f"{of}: {is_}" for of, is_ in figures.items())]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_in_words_and_figures(name: str, snapshot: SnapshotAssertion) -> None:
    base = [] if name == "pays" else told(PAYS)
    assert [line for line in told(MODELS[name]) if line not in base] == snapshot


def test_counts_in_words(snapshot: SnapshotAssertion) -> None:
    asked = [(0, 0, 4), (10, 11, 4), (80, 43, 4), (10, 10, 3), (7, 0, 1)]
    assert [counts_sentence(*each) for each in asked] == snapshot
    assert alpha_of_counts(10, 12, 4) == alpha_of_counts(10, 10, 4) == pytest.approx(1)


def test_figures_have_as_many_decimals_as_their_ratio_needs() -> None:
    assert agreeing(3.0, 1.5) == ("3.00", "1.50")
    assert agreeing(2.7749, 2.0151) == ("2.775", "2.015")
    assert agreeing(1.00049, 300.04) == ("1.00", "300.04")


PROBABILITIES = {"accepted": (0.5, 0.4, 0.25), "rejected": (0.125, 0.5, 0.75), "discarded": (0.3, 0.2, None)}


def a_round(index: int, fates: list[str], own: str, **times: float) -> Round:
    drafted = [
        DraftedToken(10 * index + at, f" g{at}", fate, *PROBABILITIES[fate][:2], u=PROBABILITIES[fate][2])  # type: ignore[arg-type]
        for at, fate in enumerate(fates)
    ]
    kind = "correction" if "rejected" in fates else "bonus"
    return Round(index, 0.002 * len(fates), 0.016, 0.001, drafted, EmittedToken(kind, 10 * index + 9, own))  # type: ignore[arg-type]


def a_run(temperature: float = 1.0, rounds: list[Round] | None = None) -> Trace:
    made = rounds or [
        a_round(0, ["accepted", "accepted", "accepted"], " a"),
        a_round(1, ["rejected", "discarded", "discarded"], " b"),
        a_round(2, ["accepted", "rejected", "discarded"], " <c>\n"),
        a_round(3, ["accepted", "accepted", "rejected"], " d"),
    ]
    written = [token for each in made for token in each.emitted_ids]
    settings = DecodeSettings(max_new_tokens=len(written), draft_length=3, temperature=temperature)
    plain = Autoregressive([0.01] * len(written), written)
    return run_of(made, plain, settings=settings, prompt=Prompt("Say & <go>", [1], ["Say & <go>"]))


def without_figures(round: Round) -> Round:
    return replace(round, drafted=[DraftedToken(each.id, each.text, each.status) for each in round.drafted])


RUNS = {
    "sampled": a_run(),
    "greedy": a_run(0.0),
    "only whole rounds": a_run(rounds=[a_round(0, ["accepted", "accepted"], " a"), a_round(1, ["accepted"], " b")]),
    "without probabilities": a_run(rounds=[without_figures(a_round(0, ["accepted", "rejected"], "\t"))]),
    "a sure draft": a_run(
        rounds=[
            replace(its := a_round(0, ["rejected"], "x"), drafted=[replace(its.drafted[0], draft_prob=0.0)]),
        ]
    ),
    "a number that was not recorded": a_run(
        rounds=[replace(its := a_round(0, ["rejected"], "x"), drafted=[replace(its.drafted[0], u=None)])]
    ),
    "without a draft": a_run(rounds=[a_round(0, [], " a"), a_round(1, [], " b")]),
    "without the target alone": replace(a_run(), autoregressive=None),
}


def asked(run: Trace) -> list[str]:
    return [line for each in exercises(run) for line in (f"? {each.question}", f"! {each.answer}")]


def test_the_exercises_of_a_run(snapshot: SnapshotAssertion) -> None:
    whole = asked(RUNS["sampled"])
    others = {
        name: [line for line in asked(run) if line not in whole] for name, run in RUNS.items() if name != "sampled"
    }
    assert {"sampled": whole} | others == snapshot
    assert {name: len(exercises(run)) for name, run in RUNS.items()} == snapshot


def test_students_get_room_and_teachers_the_answers(snapshot: SnapshotAssertion) -> None:
    run = RUNS["greedy"]
    pages = {key: sheet(run, "A <title>", "Run & source", key=key).partition("</style>")[2] for key in (False, True)}
    assert "answer" not in pages[False]
    assert "room" not in pages[True]
    assert pages[False].splitlines() == snapshot
    assert pages[True].splitlines()[:12] == snapshot
