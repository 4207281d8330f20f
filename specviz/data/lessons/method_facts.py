"""The figures that texts about drafting methods use: of a recorded tree, and of the stored comparison of methods."""

from collections.abc import Mapping
from functools import cache

from specviz.core.number_words import in_words
from specviz.core.trace import Trace
from specviz.data.lessons.method_runs import DRAFT_LENGTH, TREE, TREE_DEPTH, branch_round, siblings_of
from specviz.data.measured_methods import ALL, AtSetting, stored_methods

UNKNOWN = "?"
NAMES = {"nano": "wren-nano", "eagle": "wren-eagle", "medusa": "wren-medusa"}

Facts = Mapping[str, str]


def tree_facts(trace: Trace) -> Facts:
    """Figures of the first round whose accepted path takes a sibling, where the run has one."""
    round = branch_round(trace)
    pair = siblings_of(round) if round else None
    if round is None or pair is None:
        return {}
    failed, taken = pair
    return {
        "branch_round": str(round.index + 1),
        "tree_nodes": in_words(len(round.drafted)),
        "tree_depths": in_words(round.depth),
        "branch_failed": failed.shown.strip(),
        "branch_taken": taken.shown.strip(),
    }


@cache
def method_facts() -> Facts:
    """Greedy, over all kinds of text: heads and a draft model at one draft length, a tree and a chain of its depth."""
    found: dict[str, AtSetting | None] = {
        **{name: _at(drafter, DRAFT_LENGTH, None) for name, drafter in NAMES.items()},
        "chain": _at("wren-nano", TREE_DEPTH, None),
        "tree": _at("wren-nano tree", TREE_DEPTH, TREE),
    }
    measured = stored_methods()
    return {
        "methods_machine": measured.machine.machine if measured else UNKNOWN,
        "methods_prompts": in_words(measured.prompts) if measured else UNKNOWN,
        "methods_length": in_words(DRAFT_LENGTH),
        **{name: text for key, at in found.items() for name, text in _of(key, at).items()},
    }


def _at(name: str, draft_length: int, tree: str | None) -> AtSetting | None:
    measured = stored_methods()
    greedy = measured.greedy if measured else None
    method = greedy.find(name) if greedy else None
    if method is None:
        return None
    settings = method.kinds[ALL].settings
    return next((at for at in settings if (at.way.draft_length, at.way.tree) == (draft_length, tree)), None)


def _of(key: str, at: AtSetting | None) -> Facts:
    costs = at.costs if at else None
    numbers = {
        "per_call": costs.tokens_per_target_call if costs else None,
        "step": costs.draft_step if costs else None,
        "draft": costs.draft if costs else None,
        "check": costs.verify if costs else None,
        "speedup": at.speedup if at else None,
    }
    return {f"{key}_{name}": UNKNOWN if value is None else f"{value:.2f}" for name, value in numbers.items()}
