"""Batches as recorded: what the file supports, and the words, figures and starts that are made of a study."""

from dataclasses import replace

import pytest

from specviz.core.errors import InputError
from specviz.data import batches
from specviz.data.batches import recorded_batches
from specviz.data.lessons.steps import STEPS
from specviz.data.lessons.story import facts_of, fill
from specviz.measure.batch_sentences import checks_sentence, compared, outcome, reading, times, where
from specviz.measure.worksheet.serving import contain_load
from specviz.measure.worksheet.starts import batch_starts
from specviz.ui.helps.batch_figures import batch_figure, check_figure
from specviz.ui.helps.batches import batch_table
from tests.support.fake_batches import COUNTS, fake_point, fake_study, ratio
from tests.support.figures import by_name, layout_of

STUDY = fake_study(1.5, 1.2, 0.9)

# ---- the recorded study


def test_the_recorded_study_has_every_size_and_length() -> None:
    study = recorded_batches()
    assert study.batches == [1, 2, 4, 8, 16]
    assert len(study.speedups) == len(study.batches) * len(study.draft_lengths)
    assert [each.batch for each in study.passes] == study.batches
    assert len(study.prompts) % 16 == 0
    for each in study.speedups:
        assert each.speedup.low < each.speedup.value < each.speedup.high
        assert each.counts.emitted == len(study.prompts) * study.new_tokens


def test_the_recorded_study_supports_what_the_lesson_says() -> None:
    study = recorded_batches()
    length = study.draft_lengths[-1]
    alone, together = study.at(1, length), study.at(16, length)
    assert together.speedup.high < alone.speedup.low
    assert together.verification.low > alone.verification.high
    assert together.empty_places > 0 == alone.empty_places
    for size in study.batches:  # "every text accepts as much as it does alone": all of it, or all but a near-tie
        rate = study.at(size, length).counts.acceptance_rate
        assert rate == pytest.approx(alone.counts.acceptance_rate, abs=0.01)


def test_the_lesson_has_the_recorded_figures_in_both_voices() -> None:
    study = recorded_batches()
    (step,) = [step for step in STEPS if step.name == "together"]
    point = study.at(16, study.draft_lengths[-1])
    for voice in (step.text.technical, step.text.plain):
        said = fill(voice, facts_of(step.trace))
        assert f"{point.speedup.value:.2f} times" in said
        assert f"{point.verification.value:.2f}" in said
    assert study.recorded_on.machine in fill(step.text.technical, facts_of(step.trace))


def test_a_missing_or_damaged_file_is_said_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("batches")
    for name, text in (("missing.json", None), ("damaged.json", '{"created": 1}')):
        if text:
            (folder / name).write_text(text)
        monkeypatch.setattr(batches, "RECORDED", folder / name)
        with pytest.raises(InputError, match=f"{name}, the study of batches, cannot be read"):
            recorded_batches.__wrapped__()


# ---- words


def test_the_gain_shrinks_only_where_the_intervals_say_so() -> None:
    assert "is 1.50× (1.48–1.52) in batches of 1 and 0.90× (0.88–0.92) in batches of 4" in reading(STUDY)
    assert "the gain shrinks, and the draft loses." in reading(STUDY)
    assert "the gain shrinks." in reading(fake_study(1.5, 1.2))
    assert "the gain grows." in reading(fake_study(1.2, 1.5))
    assert "cannot tell the two apart" in reading(fake_study(1.50, 1.52))


def test_the_best_draft_length_of_the_largest_batch_is_named() -> None:
    assert reading(STUDY).endswith("In batches of 4 γ = 4 has the highest, 0.90×.")
    worse = replace(STUDY, speedups=[*STUDY.speedups[:-1], fake_point(4, 4, speedup=0.7)])
    assert reading(worse).endswith("In batches of 4 γ = 2 has the highest, 0.80×.")


@pytest.mark.parametrize(
    ("speedup", "width", "says"),
    [
        (1.5, 0.02, "pays"),
        (0.8, 0.02, "loses"),
        (1.0, 0.02, "about even"),
        (1.03, 0.01, "about even"),
        (1.2, 0.3, "cannot be told"),
        (1.0, 0.2, "cannot be told"),
    ],
)
def test_an_outcome_needs_an_interval_without_1_and_more_than_5_per_cent(
    speedup: float, width: float, says: str
) -> None:
    assert outcome(ratio(speedup, width)) == says


def test_it_is_said_where_a_study_is_from_and_whether_the_texts_were_the_same() -> None:
    said = where(STUDY)
    assert "Recorded on a machine, 1 thread, clock time: nano → base (float32), greedy, 2 prompts of 64 new" in said
    assert "processor time" in where(replace(STUDY, clock="processor"))
    assert compared(STUDY) == "All 80 texts have the token ids that the target writes alone."
    assert "3 of 80 texts differ somewhere" in compared(fake_study(1.5, different=3))


def test_v_in_a_batch_is_said_beside_v_of_one_text() -> None:
    said = checks_sentence(STUDY, 4, 4)
    assert said is not None
    assert "v(5) = 1.50 (1.48–1.52) for one text and 1.80 (1.78–1.82) in batches of 4" in said
    alone = checks_sentence(STUDY, 4, 1)
    assert alone is not None
    assert alone.endswith("v(5) = 1.50 (1.48–1.52) for one text.")
    assert checks_sentence(STUDY, 3, 4) is None  # v(4) was not measured
    assert checks_sentence(STUDY, 4, 64) is None


# ---- figures and starts


def test_each_draft_length_has_a_line_until_the_end_and_one_while_all_write() -> None:
    found = by_name(batch_figure(STUDY))
    assert set(found) == {f"γ = {length}{more}" for length in (2, 4) for more in ("", ", while every text writes")}
    assert "showlegend" not in found["γ = 4"]
    assert not found["γ = 4, while every text writes"]["showlegend"]  # the caption says what thin lines are
    assert found["γ = 4"]["x"] == [1, 2, 4]
    assert found["γ = 4"]["y"] == [1.5, 1.2, 0.9]
    assert found["γ = 4"]["error_y"]["array"] == pytest.approx([0.02] * 3)
    assert found["γ = 4, while every text writes"]["y"] == [1.6] * 3
    assert found["γ = 4"]["marker"]["symbol"] != found["γ = 2"]["marker"]["symbol"]
    assert layout_of(batch_figure(STUDY))["shapes"][0]["y0"] == 1


def test_v_has_a_line_for_each_size() -> None:
    found = by_name(check_figure(STUDY.passes))
    assert list(found) == ["one by one", "one text", "2 texts", "4 texts"]
    assert found["4 texts"]["x"] == [1, 2, 5]
    assert found["4 texts"]["y"] == pytest.approx([1.0, 1.1, 1.8])


def test_the_table_has_every_point() -> None:
    table = batch_table(STUDY)
    assert len(table) == 6
    last = table.iloc[-1]
    assert (last["texts"], last["γ"], last["speedup"]) == (4, 4, "0.90× (0.88–0.92)")
    assert last["empty places"] == 25
    assert last["modelled"] == pytest.approx(3 / (4 * 0.1 + 1.8 + 0.05))
    assert times(ratio(2.0)) == "2.00× (1.98–2.02)"


def test_the_worksheet_can_start_from_a_batch() -> None:
    two, four = batch_starts(STUDY)
    assert (two.label, four.label) == ("measured in batches of 2: nano → base", "measured in batches of 4: nano → base")
    assert contain_load(four.named_costs)
    assert "recorded on a machine" in four.source
    assert (four.drafted, four.accepted) == (COUNTS.drafted, COUNTS.accepted)
    assert four.model.batch == 1  # its costs contain the other texts
    assert four.model.alpha == pytest.approx(200 / 280)
    assert four.model.verification == pytest.approx(1.8)
    assert four.verification_at(1) == pytest.approx(1.1)
