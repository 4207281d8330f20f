"""The costs of decoding on this machine, each timed where decoding meets it, in turns of blocks; medians."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import NamedTuple

import torch

from specviz.core.drafters import method_of
from specviz.core.errors import DisturbedError
from specviz.core.judge import least_check
from specviz.core.metrics import Costs
from specviz.core.rounds import Round, known_seconds
from specviz.core.settings import DYNAMIC, MAX_DRAFT_LENGTH, MAX_NODES, DecodeSettings, parse_tree
from specviz.core.steps import Steps, drop_pauses
from specviz.core.texts import Sentences
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, fit_drafter
from specviz.decoding.drafters.choose import Loaded
from specviz.decoding.drafters.protocol import Draft, DraftContext, Proposer
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.models.loaded_model import LoadedModel
from specviz.models.pass_timing import BLOCK, interleave

say = Sentences("decoding")

TREE_NODES = (2, 4, 6, 8, 12, 16, 20, 32, 48, MAX_NODES)
LONGEST_PASS = MAX_DRAFT_LENGTH + 1  # the target reads the last token and every guess
TURNS = 9  # of blocks: the interval of a median leaves out the lowest and the highest of nine
AGREE = 1.25  # high / low of the time of a round, as its repeats have it; chosen: a length or a draft is judged by less
AGREE_AT = (1, 4, 16)  # drafted tokens of these rounds
LENGTHS = range(1, MAX_DRAFT_LENGTH + 1)
DRAFT_LENGTH = 4  # of the rounds that c and o are taken from, unless the tree has its own depth
PROMPT = "The cat and the dog. The cat and the dog. The cat and the"


@dataclass(frozen=True, slots=True)
class Calibration:
    target: str
    target_dtype: str
    draft: str | None  # None: prompt lookup, which costs almost nothing
    draft_dtype: str | None
    threads: int
    costs: Costs  # with v of a tree where no chain has as many tokens
    tree_verification: dict[int, float] = field(default_factory=dict)  # v of a tree, by its nodes; empty: not measured


def tree_sizes(tree: str | None) -> list[int]:
    most = parse_tree(tree).nodes if tree else 0
    return [*(nodes for nodes in TREE_NODES if nodes < most), *([most] if most else [])]


def calibration_steps(
    target: LoadedModel,
    draft: Loaded,
    nodes: Sequence[int] = (),
    tree: str | None = None,
    drafter: Drafter | None = None,
    turns: int = TURNS,
    lengths: Sequence[int] = LENGTHS,
) -> Steps[Calibration]:
    """Measure a pair: c, v(k) for the last token with each of `lengths` drafts, and the loop's overhead.

    Runs of one prompt take turns.

    Args:
        nodes: sizes of trees to measure v of too, for example `TREE_NODES`; a target that reads no tree is not asked.
        tree: the shape of the drafts, as in `DecodeSettings`; c is then the cost of one depth of it.
        drafter: what drafts, instead of the one that fits `draft`.
        turns: blocks of repeats; target, draft and every length have one in each.

    Raises DisturbedError: see `check_costs`.
    """
    drafter = drafter or fit_drafter(target, draft, DecodeSettings())
    runs = _Runs(target, drafter, turns * BLOCK)
    lengths = [length for length in lengths if length <= runs.longest]
    trees = [n for n in nodes if n <= runs.longest] if target.llama else []
    works: dict[object, Iterator[_Times]] = {"plain": runs.plain(), "drafter": runs.time_drafter(tree)}
    works |= {("chain", n): runs.time_size(n) for n in lengths}
    works |= {"plain again": runs.plain()}  # every figure is divided by its median
    works |= {("tree", n): runs.time_size(n, f"{DYNAMIC}{n}") for n in trees}
    found = yield from interleave(works, turns)
    blocks, sizes = list(_blocks(found)), [*(("tree", n) for n in trees), *(("chain", n) for n in lengths)]
    costs = [
        Costs(
            step,
            times["drafter"].draft,
            {1: 1.0} | {n + 1: times[kind, n].verify for kind, n in sizes},
            times["drafter"].overhead,
        )
        for step, times in blocks
    ]
    named = None if method_of(drafter.info.kind).loads == "nothing" else drafter.info
    measured = Calibration(
        target=target.name,
        target_dtype=target.info.dtype,
        draft=named.name if named else None,
        draft_dtype=named.dtype if named else None,
        threads=torch.get_num_threads(),
        costs=Costs.from_blocks(costs),
        tree_verification={n: median(times["tree", n].verify for _, times in blocks) for n in trees},
    )
    check_costs(measured.costs, measured.target_dtype)
    return measured


calibrate = drop_pauses(calibration_steps)


def check_costs(costs: Costs, target_dtype: str) -> None:
    """DisturbedError where no quiet machine has such costs, or where their repeats do not agree."""
    k, steps = min(costs.verification.items(), key=lambda each: each[1])
    if steps < least_check(target_dtype):
        raise DisturbedError(say("disturbed", count=k, least=steps, most=steps))
    for drafted in AGREE_AT:
        interval = costs.interval(partial(Costs.round_steps, drafted=drafted))
        if interval and interval[1] > AGREE * interval[0]:
            raise DisturbedError(say("disturbed_round", count=drafted, least=interval[0], most=interval[1]))


class _Times(NamedTuple):
    draft: float  # a step of it
    verify: float
    overhead: float


NOTHING = _Times(0.0, 0.0, 0.0)  # a drafter that never drafted


def _blocks(found: Mapping[object, list[list[_Times]]]) -> Iterator[tuple[float, dict[object, _Times]]]:
    """Of each turn: the seconds of a plain step, and the medians of everything else in it, in such steps.

    Only of turns in which nothing had ended: in a short context window a run ends early.
    """
    if not any(found["drafter"]):
        found = {**found, "drafter": [[NOTHING] for _ in found["plain"]]}
    for times in zip(*found.values(), strict=True):
        if all(times):
            turn = dict(zip(found, times, strict=True))
            step = median(each.verify for name in ("plain", "plain again") for each in turn[name])
            yield (
                step,
                {work: _Times(*(median(part) / step for part in zip(*its, strict=True))) for work, its in turn.items()},
            )


class _Runs:
    """Greedy runs of one prompt, long enough for so many rounds if the models' context windows allow it."""

    def __init__(self, target: LoadedModel, drafter: Drafter, rounds: int) -> None:
        self._target, self._drafter, self._rounds = target, drafter, rounds
        self._prompt = list(target.tokens(PROMPT)["input_ids"])
        self._window = min(loaded.context for loaded in (target, drafter.loaded) if loaded)
        self.longest = self._window - 1 - BLOCK  # the longest draft of which a block fits

    def plain(self) -> Iterator[_Times]:
        run = AutoregressiveRun(self._target, *self._task(self._rounds))
        return (_Times(0.0, seconds, 0.0) for _, seconds in run.steps())

    def time_drafter(self, tree: str | None) -> Iterator[_Times]:
        length = (parse_tree(tree).depth if tree else None) or DRAFT_LENGTH
        task = self._task(self._rounds * (length + 1), length, tree)
        run = SpeculativeRun(self._target, self._drafter, *task, record=False)
        return (_times(round) for round in run.rounds() if round.drafted)

    def time_size(self, size: int, tree: str | None = None) -> Iterator[_Times]:
        task = self._task(self._rounds + size, min(size, MAX_DRAFT_LENGTH), tree)
        run = SpeculativeRun(self._target, _OneSize(self._drafter, size, tree is not None), *task, record=False)
        return (_times(round) for round in run.rounds() if len(round.drafted) == size)

    def _task(self, tokens: int, length: int = 1, tree: str | None = None) -> tuple[list[int], DecodeSettings]:
        tokens = min(tokens, self._window - 1)
        settings = DecodeSettings(max_new_tokens=tokens, draft_length=length, tree=tree, stop_at_eos=False)
        return self._prompt[: self._window - tokens], settings


def _times(round: Round) -> _Times:
    draft, verify, overhead = map(known_seconds, (round.draft_seconds, round.verify_seconds, round.overhead_seconds))
    return _Times(draft / round.depth, verify, overhead)


class _OneSize(Drafter, Proposer):
    """Lets a drafter make one guess, and the target check a number of others, which are almost never accepted."""

    _inner: Proposer

    def __init__(self, drafter: Drafter, size: int, tree: bool) -> None:
        self._drafter, self._size = drafter, size
        self._parents = [guess // 2 - 1 for guess in range(size)] if tree else None  # two children each
        self.info, self.loaded = drafter.info, drafter.loaded

    def set_up(self, target: LoadedModel, prompt: str | Sequence[int], settings: DecodeSettings) -> RunSetup:
        return set_up_run(target, None, prompt, settings)  # the drafter itself need not grow trees

    def begin(self, context: DraftContext) -> Proposer:
        self._inner = self._drafter.begin(context)
        return self

    def read_prompt(self) -> Iterator[None]:
        yield from self._inner.read_prompt()

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        self._inner.propose(token_ids, 1)
        size = min(count, self._size) if self._parents is None else self._size
        return Draft([guess % 2 for guess in range(size)], None, parents=self._parents)

    def commit(self, length: int) -> None:
        self._inner.commit(length)
