"""The costs of decoding on this machine: one-token and k-token steps, medians of interleaved repeats."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import torch

from specviz.core.metrics import Costs
from specviz.core.rounds import known_seconds
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings
from specviz.core.steps import Steps, result_of
from specviz.core.tree_shape import MAX_NODES, parse_tree
from specviz.decoding import Drafter, fit_drafter, iter_speculative_decode
from specviz.decoding.drafters.choose import Loaded
from specviz.models.loaded_model import LoadedModel
from specviz.models.pass_timing import chain_and_tree_steps

TREE_NODES = (2, 4, 6, 8, 12, 16, 20, 32, 48, MAX_NODES)
LONGEST_PASS = MAX_DRAFT_LENGTH + 1  # the target reads the last token and every guess


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs of one pair on this machine, in units of one single-token target step."""

    target: str
    target_dtype: str
    draft: str | None  # None: prompt lookup, which costs almost nothing
    draft_dtype: str | None
    threads: int
    step_seconds: float  # that unit
    cost_ratio: float  # c: one draft step, with the choice of its token
    verification: dict[int, float]  # v(k): k tokens at once
    overhead: float  # o: the time of a round that is neither drafting nor verifying
    tree_verification: dict[int, float] = field(default_factory=dict)  # v of a tree, by its nodes; empty: not measured

    @property
    def costs(self) -> Costs:
        """The same without names, as formulas take them."""
        trees = {nodes + 1: steps for nodes, steps in self.tree_verification.items()}
        return Costs(self.step_seconds, self.cost_ratio, trees | self.verification, self.overhead)


def calibrate(
    target: LoadedModel,
    draft: Loaded,
    repeats: int = 9,
    nodes: Sequence[int] = (),
    tree: str | None = None,
    drafter: Drafter | None = None,
) -> Calibration:
    """Measure a pair: c, v(k) for k from 1 to 17, and the loop's overhead.

    Args:
        target: the target model.
        draft: the draft model or head; None for prompt lookup.
        repeats: interleaved repeats behind each median.
        nodes: sizes of trees to measure v of too, for example `TREE_NODES`; a target that reads no tree is not asked.
        tree: the shape of the drafts, as in `DecodeSettings`; c is then the cost of one depth of it.
        drafter: what drafts, instead of the one that fits `draft`.
    """
    return result_of(calibration_steps(target, draft, repeats, nodes, tree, drafter))


def tree_sizes(tree: str | None) -> list[int]:
    """The sizes up to that of this tree, to measure v of; none for a chain."""
    most = parse_tree(tree).nodes if tree else 0
    return [*(nodes for nodes in TREE_NODES if nodes < most), *([most] if most else [])]


def calibration_steps(
    target: LoadedModel,
    draft: Loaded,
    repeats: int = 9,
    nodes: Sequence[int] = (),
    tree: str | None = None,
    drafter: Drafter | None = None,
) -> Steps[Calibration]:
    """The same in steps: it may be paused between two passes or rounds, each of which is timed by itself."""
    drafter = drafter or fit_drafter(target, draft, DecodeSettings())
    named = None if drafter.info.kind == "prompt-lookup" else drafter.info
    lengths = range(1, min(LONGEST_PASS, target.context - 1) + 1)
    trees = [n for n in nodes if n + 1 < target.context] if target.forward.reads_trees else []
    target_seconds, tree_seconds = yield from chain_and_tree_steps(target, lengths, trees, repeats)
    step = target_seconds[1]
    draft_seconds, overhead_seconds = yield from _round_seconds(target, drafter, tree)
    return Calibration(
        target=target.name,
        target_dtype=target.info.dtype,
        draft=named.name if named else None,
        draft_dtype=named.dtype if named else None,
        threads=torch.get_num_threads(),
        step_seconds=step,
        cost_ratio=draft_seconds / step,
        verification={k: seconds / step for k, seconds in target_seconds.items()},
        overhead=overhead_seconds / step,
        tree_verification={n: seconds / step for n, seconds in tree_seconds.items()},
    )


def _round_seconds(target: LoadedModel, drafter: Drafter, tree: str | None) -> Steps[tuple[float, float]]:
    """Median seconds of one draft step and of a round's overhead, from a short greedy run."""
    length = (parse_tree(tree).depth if tree else None) or 4
    prompt = target.tokens("The cat and the dog. The cat and the dog. The cat and the")["input_ids"]
    window = min(loaded.context for loaded in (target, drafter.loaded) if loaded)
    tokens = min(48, window // 2)
    settings = DecodeSettings(max_new_tokens=tokens, draft_length=length, tree=tree, stop_at_eos=False)
    prompt = list(prompt)[: window - settings.max_new_tokens]
    rounds = []
    for round in iter_speculative_decode(target, drafter, prompt, settings, record=False):
        rounds.append(round)
        yield
    steps = [known_seconds(round.draft_seconds) / round.depth for round in rounds if round.drafted]
    return median(steps) if steps else 0.0, median(known_seconds(round.overhead_seconds) for round in rounds)
