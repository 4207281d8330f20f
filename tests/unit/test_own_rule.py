"""Rules of pieces: which are lossless, what each writes, what is said of it, and the draws of a student's own."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from specviz.core.errors import InputError
from specviz.core.trace import parse_trace
from specviz.data.lessons.lab_words import lab_words
from specviz.lab.draws import DrawnPosition, LabDraws, dump_run, read_draws
from specviz.measure.proof.algebra import BONUS, Probs, distance, enumerated, to_probs, written_by
from specviz.measure.proof.findings import judge_pieces
from specviz.measure.proof.rows import RULES, DrawBatch, Pieces, RuleName, judging, recorded_proof, rule_text
from tests.support.fake_traces import fake_trace
from tests.support.known import known

WIDE = 40  # tokens: more than the rule of the most probable ones accepts
JUDGING = list(judging())


def rows(seed: int, count: int) -> list[Probs]:
    random = np.random.default_rng(seed)
    return [to_probs(random.random(WIDE) ** 3) for _ in range(count)]


@pytest.mark.parametrize("pieces", JUDGING, ids=lambda each: f"{each.accept}-{each.replace}")
def test_a_way_to_judge_writes_p_exactly_where_it_is_called_lossless(pieces: Pieces) -> None:
    """For 20 random pairs; where it is not, every one of them shows it. A certain token is written, if rejected too."""
    for seed in range(20):
        p, q = rows(seed, 2)
        accepted, written = written_by(pieces, p, q)
        assert 0 <= accepted <= 1 + 1e-12
        assert (written >= -1e-12).all()
        assert written.sum() == pytest.approx(1)
        assert (distance(p, written) < 1e-12) == pieces.lossless == (distance(p, written) < 0.001)
    _, written = written_by(pieces, to_probs([1.0, 0.0]), to_probs([0.5, 0.5]))
    assert written.sum() == pytest.approx(1)


def test_a_bonus_is_right_or_missing_in_a_lossless_rule_only() -> None:
    p = np.stack(rows(3, 3))
    for name, bonus in BONUS.items():
        right = (found := bonus(p)) is None or distance(p[-1], found) < 1e-12
        assert right == Pieces(bonus=name).lossless, name
    assert all(rule.lossless == rule.pieces.lossless for rule in RULES if rule.pieces)


@pytest.mark.parametrize(
    ("rule", "p", "accepted", "off"),
    [
        ("no-residual", [0.5, 0.3, 0.2], 0.7, 0.15),  # writes 0.35, 0.39, 0.26
        ("lenient", [0.5, 0.3, 0.2], 1.0, 0.3),  # 0.2 / (0.3 · 0.5) is above 1: writes q
        ("ensemble", [0.5, 0.3, 0.2], 0.85, 0.15),  # writes the mean of p and q
        ("typical", [0.5, 0.45, 0.05], 0.5, 0.075),  # 0.05 is below 0.09: writes 0.45, 0.525, 0.025
        ("match", [0.5, 0.3, 0.2], 0.29, 0.0),  # the sum of p·q
    ],
)
def test_the_exact_values_by_hand(rule: RuleName, p: list[float], accepted: float, off: float) -> None:
    share, written = written_by(known(rule_text(rule).pieces), to_probs(p), to_probs([0.2, 0.3, 0.5]))
    assert (share, distance(to_probs(p), written)) == pytest.approx((accepted, off))


def test_a_rule_is_proved_or_refuted_with_the_place_and_the_kind_of_mistake() -> None:
    found, kinds = known(known(recorded_proof()).enumerated), lab_words()["judge"].kinds
    assert "together p" in judge_pieces(Pieces(), found).sentence
    match = Pieces("accepted_when_equal", "without_rejected")
    assert "whatever q is" in judge_pieces(match, found).sentence
    for pieces, place, mistake in (
        (Pieces(replace="replaced_from_target"), "1", kinds["replaced_from_target"]),
        (Pieces(bonus="most_probable_bonus"), "4", kinds["most_probable_bonus"]),
        (Pieces(bonus="bonus_forgotten"), "", kinds["bonus_forgotten"]),  # lossless, and slower
        (Pieces(accept="typical"), "", rule_text("typical").why),
    ):
        judged = judge_pieces(pieces, found)
        assert (judged.mistakes, judged.lossless) == ([mistake], pieces.bonus == "bonus_forgotten")
        assert place in judged.sentence.partition("“")[0]
    p = np.stack(rows(1, 2))
    same = judge_pieces(Pieces(accept="always_accepted"), enumerated(p, [p[0]], [3], str))
    assert same.sentence.startswith("With this prompt and these models"), "a draft that is the target refutes nothing"
    assert not same.lossless


# ---- the file of `specviz lab run`

BATCHES = next(each.batches for each in known(recorded_proof()).draws if each.rule == "no-residual")
ONE = BATCHES[0]


def student_file(batches: Sequence[DrawBatch]) -> bytes:
    return dump_run(fake_trace(), LabDraws([DrawnPosition("first", [*batches])], "replaced_from_target")).encode()


def test_a_students_file_is_a_trace_with_draws() -> None:
    content = student_file(BATCHES)
    assert parse_trace(content) == fake_trace()
    request, draws = read_draws(content)
    assert (request.prompt, request.settings.draft_length) == (fake_trace().prompt.text, 2)
    assert draws == LabDraws([DrawnPosition("first", BATCHES)], "replaced_from_target")
    whole = json.loads(content)
    many = whole["same_quality"] | {"positions": whole["same_quality"]["positions"] * 40}
    for part, said in ((None, "a run and no draws"), ({"positions": []}, "a run and no draws"), (many, "positions")):
        with pytest.raises(InputError, match=said):
            read_draws(json.dumps(whole | {"same_quality": part}).encode())


@pytest.mark.parametrize(
    "batches",
    [
        [],
        [replace(ONE, speculative=ONE.speculative[:-1])],
        [replace(ONE, plain=[0] * len(ONE.plain))],
        [replace(ONE, expected=[1e8] * len(ONE.expected))],
        [replace(ONE, speculative_places=[1] * 20)],
        [replace(ONE, plain_places=[])],  # found: an IndexError on the page
        [ONE, replace(ONE, tokens=[*ONE.tokens[:-1], "others"])],
        [replace(ONE, speculative=[0] * 31, plain=[0] * 31, expected=[0.0] * 31)],
    ],
)
def test_draws_that_contradict_themselves_are_refused(batches: list[DrawBatch]) -> None:
    with pytest.raises(InputError, match="contradicts itself: draws"):
        read_draws(student_file(batches))
