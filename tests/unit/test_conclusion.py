"""What a sweep's rows say in the end."""

from specviz.measure.sweep.conclusion import conclusions
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.table import frame_of
from tests.support.fake_rows import row_at


def said(*rows: SweepRow) -> str:
    return "\n".join(conclusions(frame_of(rows)))


def speeds(length: int, *each: float) -> list[SweepRow]:
    return [row_at("own", length, speedup, number=number) for number, speedup in enumerate(each)]


def test_the_speedup_is_that_of_the_length_chosen_on_other_prompts() -> None:
    # Each prompt's own best is the other length: chosen on the others, a prompt gets the one that is good elsewhere.
    text = said(*speeds(2, 1.9, 1.2, 1.2, 1.2), *speeds(4, 1.5, 1.5, 1.5, 1.5))
    assert "with each prompt at the draft length that did best on the other prompts," in text
    assert "best draft length, chosen for each prompt on the other prompts of its workload: γ = 4 for 4 of 4" in text
    assert "1.50 times the speed" in text


def test_an_interval_that_contains_1_decides_nothing() -> None:
    text = said(*speeds(4, 0.7, 1.5, 1.1, 0.9))
    assert "at draft length 4 speculative decoding runs at" in text
    assert "95 % interval over 4 prompts" in text
    assert "these prompts cannot tell whether it pays" in text
    assert "best draft length" not in text


def test_what_is_sure_is_said() -> None:
    assert "It pays." in said(*speeds(4, 1.5, 1.52, 1.49))
    assert "It is slower than the target alone." in said(*speeds(4, 0.5, 0.52, 0.49))


def test_one_prompt_has_no_interval_and_its_best_length_flatters() -> None:
    text = said(*speeds(2, 1.5), *speeds(4, 1.2))
    assert "at each prompt's own best draft length, which flatters, speculative decoding runs at 1.50 times" in text
    assert "one prompt, so there is no interval" in text
    assert "chosen" not in text


def test_repeats_of_a_prompt_are_not_more_prompts() -> None:
    text = said(*speeds(4, 1.5, 1.4, 1.6), *speeds(4, 1.5, 1.4, 1.6))
    assert "95 % interval over 3 prompts" in text


def test_each_kind_of_machine_has_its_own_conclusion_and_is_named_where_there_are_several() -> None:
    one = speeds(4, 1.5, 1.52, 1.49)
    other = [row_at("own", 4, speed, number=number, machine="slow") for number, speed in enumerate((0.5, 0.52, 0.49))]
    text = said(*one, *other)
    assert "on a test's machine: at draft length 4 speculative decoding runs at 1.50 times" in text
    assert "on slow: at draft length 4 speculative decoding runs at 0.50 times" in text
    assert "machine" not in said(*one)


def test_outputs_that_differ_are_counted() -> None:
    rows = speeds(4, 1.5, 1.5)
    assert "all 2 outputs are the target's own" in said(*rows)
    assert "1 of 3 outputs differ" in said(*rows, row_at("own", 4, 1.5, number=9, identical=False))
    sampled = [row_at("own", 4, 1.5, number=number, temperature=1.0, identical=None) for number in (1, 2)]
    assert "outputs" not in said(*sampled)


def test_a_schedule_alone_has_its_speedup() -> None:
    speeds_of = enumerate((1.3, 1.4))
    rows = [row_at("own", 4, speed, number=number, draft_schedule="heuristic") for number, speed in speeds_of]
    assert "with the heuristic speculative decoding runs at 1.35 times" in said(*rows)


def test_without_rows_nothing_is_said() -> None:
    assert said() == ""
