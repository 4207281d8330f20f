"""The replay against real decoding for every draft length, and by hand. Nothing here depends on a clock."""

import pytest

from specviz import ModelDrafter, load_model
from specviz.core.metrics import Costs, speedup_at
from specviz.core.replay import DraftGuesses, dump_draft_guesses, parse_draft_guesses, replay, replay_lengths
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.steps import result_of
from specviz.core.theory import realistic_speedup
from specviz.core.trace import DrafterInfo
from specviz.models.loaded_model import Dtype
from tests.support.known import known

NANO = DrafterInfo("model", "wren-nano")


def foreseen(output: list[int], guesses: list[int]) -> DraftGuesses:
    return DraftGuesses(NANO, output, guesses, None, {}, True)


@pytest.mark.parametrize(("target", "draft"), [("float32", "bfloat16"), ("bfloat16", "float32")])
def test_with_bfloat16_the_replay_says_that_it_may_differ(target: Dtype, draft: Dtype) -> None:
    """Passes over one, two or nine tokens round differently, so another draft length may write another text."""
    drafter = ModelDrafter(load_model("wren-nano", draft))
    assert not known(result_of(drafter.guess_along(load_model("wren-base", target), [5, 6], [7, 8, 9]))).exact


def test_modelled_time_adds_up_drafting_checking_and_overhead() -> None:
    rounds = replay(foreseen([10, 11, 12, 13, 14, 15], [10, 11, 99, 13, 14, 15]), 2, 6)
    costs = Costs(step_seconds=0.01, cost_ratio=0.1, verification={1: 1.0, 3: 1.4}, overhead=0.05)
    assert speedup_at(rounds, costs) == pytest.approx(6 / (2 * (0.2 + 1.4 + 0.05)))
    assert speedup_at([], costs) is None
    all_kept = replay(foreseen(list(range(30)), list(range(30))), 2, 30)
    assert speedup_at(all_kept, costs) == pytest.approx(realistic_speedup(1, 2, 0.1, costs.verification, 0.05))
    replays = replay_lengths(foreseen([1, 2, 3, 4, 5, 6, 7, 8], [1, 9, 3, 4, 5, 9, 7, 8]), 8)
    assert list(replays) == list(range(1, MAX_DRAFT_LENGTH + 1))
    assert list(map(len, replays.values())) == sorted(map(len, replays.values()), reverse=True), "a model's guesses"


def test_draft_guesses_survive_their_file_and_broken_ones_are_refused() -> None:
    lookup = DraftGuesses(DrafterInfo("prompt-lookup", "lookup"), [1, 2], None, [[], [5]], {5: "five"}, True)
    for draft_guesses in (foreseen([1, 2], [1, 3]), lookup):
        assert parse_draft_guesses(dump_draft_guesses(draft_guesses)) == draft_guesses
    for broken in (foreseen([1, 2], [1]), DraftGuesses(NANO, [1], None, None, {}, True)):
        with pytest.raises(ValueError, match="each place"):
            parse_draft_guesses(dump_draft_guesses(broken))
    with pytest.raises(ValueError, match="DraftGuesses"):
        parse_draft_guesses("{}")
