"""Calibration: its arithmetic on a clock that only the models move, its shape on the real one. No speed asserted."""

from collections.abc import Iterator

import pytest
import torch

from specviz.decoding import speculative
from specviz.measure.calibration import LONGEST_PASS, calibrate, calibration_steps
from specviz.models import pass_timing
from specviz.models.loaded_model import LoadedModel
from specviz.models.pass_timing import pass_seconds
from specviz.models.transformers_forward import TransformersForward
from tests.support.counted_reads import CountedReads
from tests.support.pauses import Clock, with_pauses
from tests.support.tiny_models import tiny_model, with_forward

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=2, layers=1, name="draft")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[LoadedModel, LoadedModel]:
    """Time stands still but in a forward pass: 3 s and 1 s a token for the target, 2 s for the draft.

    The target's first seven passes take 1000 s more, as first passes do.
    """
    now, passes = [0.0], [0]

    def target_pass(tokens: int) -> None:
        passes[0] += 1
        slow_start = 1000.0 if passes[0] <= 7 else 0.0
        now[0] += 3 + tokens + slow_start

    def draft_pass(_: int) -> None:
        now[0] += 2

    for module in (pass_timing, speculative):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    return CountedReads(TARGET, target_pass).loaded, CountedReads(DRAFT, draft_pass).loaded


def test_costs_are_medians_in_units_of_one_target_step(pair: tuple[LoadedModel, LoadedModel]) -> None:
    costs = calibrate(*pair)
    assert costs.step_seconds == 4
    assert costs.verification == {k: (3 + k) / 4 for k in range(1, 18)}
    assert costs.cost_ratio == 2 / 4
    assert costs.overhead == 0


def test_the_cost_of_checking_a_tree_is_by_its_nodes(pair: tuple[LoadedModel, LoadedModel]) -> None:
    """The text's last token is read with it: 3 + 1 + n seconds, where one target step is 4."""
    costs = calibrate(*pair, nodes=(2, 5, 40))
    assert costs.tree_verification == {n: (4 + n) / 4 for n in (2, 5, 40)}
    assert costs.verification == {k: (3 + k) / 4 for k in range(1, 18)}


def test_no_tree_is_measured_for_a_target_that_reads_none_or_that_is_too_small_for_it() -> None:
    by_transformers = with_forward(TARGET, TransformersForward(TARGET.model, "target"))
    assert calibrate(by_transformers, None, repeats=1, nodes=(4,)).tree_verification == {}
    small = tiny_model(seed=1, name="small", context=12)
    assert list(calibrate(small, None, repeats=1, nodes=(4, 10, 11)).tree_verification) == [4, 10]


def test_warm_up_passes_are_not_timed(pair: tuple[LoadedModel, LoadedModel]) -> None:
    # the seven: reading the context, and three lengths twice
    assert pass_seconds(pair[0], (1, 2, 3), repeats=1) == {1: 4, 2: 5, 3: 6}


def test_the_shape_of_a_calibration() -> None:
    costs = calibrate(TARGET, DRAFT, repeats=1)
    named = (costs.target, costs.target_dtype, costs.draft, costs.draft_dtype, costs.threads)
    assert named == ("target", "float32", "draft", "float32", 1)
    assert list(costs.verification) == list(range(1, LONGEST_PASS + 1))
    assert costs.verification[1] == 1
    assert min(costs.step_seconds, costs.cost_ratio, costs.overhead, *costs.verification.values()) > 0


def test_prompt_lookup_has_no_model_to_name() -> None:
    costs = calibrate(TARGET, None, repeats=1)
    assert (costs.draft, costs.draft_dtype) == (None, None)
    assert costs.cost_ratio >= 0


@pytest.mark.parametrize("window", [64, 20, 6])
def test_a_short_context_window_limits_the_measured_passes(window: int) -> None:
    reads = CountedReads(tiny_model(seed=1, name="small", context=window))
    costs = calibrate(reads.loaded, reads.loaded, repeats=1)
    assert list(costs.verification) == list(range(1, min(17, window - 1) + 1))
    assert 1 < reads.longest <= window


@pytest.mark.parametrize("draft", [DRAFT, None], ids=["model", "lookup"])
def test_pauses_are_in_no_figure(draft: LoadedModel | None, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    found, pauses = with_pauses(calibration_steps(TARGET, draft, repeats=3), clock)
    assert found == calibrate(TARGET, draft, repeats=3)
    assert pauses > 17 * 3


def test_the_global_generator_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    calibrate(TARGET, DRAFT, repeats=1)
    assert torch.equal(before, torch.random.get_rng_state())
