"""A question that users of speculative decoding ask: its answer, where the figures are from, and a run to try.

The questions themselves are in `questions`.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal
from urllib.parse import urlencode

from specviz.core.request import PROMPT_LOOKUP
from specviz.data.batches import recorded_batches
from specviz.data.lessons.method_facts import method_facts
from specviz.data.lessons.recorded_runs import story_figures, story_trace
from specviz.data.lessons.story import Facts, Says, facts_of, percent, request_of
from specviz.data.permalink import link_of
from specviz.data.published import BUSY_EAGLE, BUSY_LONG_TEXTS, EXPERTS, ServedGain

Source = Literal["recorded", "published", "general"]


@dataclass(frozen=True, slots=True)
class FaqEntry:
    """One question and its answer."""

    name: str
    question: Says
    answer: Says  # templates; their facts are those of `answer_facts`
    source: Source  # where the answer's figures are from
    trace: str  # the recorded run its figures are of
    page: str  # URL path of the page that shows it; empty for Watch
    run_it: Says  # the link's label
    cites: tuple[ServedGain, ...] = ()  # published figures in the answer
    measured: Literal["run", "sweeps", "passes", "methods", "batches"] = "run"  # what its recorded figures are from

    @property
    def machine(self) -> str:
        """Where its figures were recorded."""
        figures = story_figures()
        return {
            "run": story_trace(self.trace).recorded_on.machine,
            "sweeps": figures.recorded_on,
            "passes": figures.passes[0].recorded_on,
            "methods": method_facts()["methods_machine"],
            "batches": recorded_batches().recorded_on.machine,
        }[self.measured]

    @property
    def href(self) -> str:
        """A relative address with every setting that shows it."""
        return f"./{self.page}?{urlencode(_link(self))}"


@cache
def answer_facts(entry: FaqEntry) -> Facts:
    """The figures the answer may use."""
    return {**facts_of(entry.trace), **_published_facts(), **_of_other_runs()}


def _published_facts() -> Facts:
    """What others reported."""
    return {
        "eagle": BUSY_EAGLE.system,
        "eagle_speedup": f"{BUSY_EAGLE.speedup:.2f}",
        "eagle_batch": BUSY_EAGLE.setting,
        "long": BUSY_LONG_TEXTS.system,
        "long_speedup": f"{BUSY_LONG_TEXTS.speedup:.0f}",
        "long_batch": BUSY_LONG_TEXTS.setting,
        "experts": EXPERTS.system,
        "experts_speedup": f"{EXPERTS.speedup:.2f}",
    }


def _of_other_runs() -> Facts:
    """One pair on an easy text and on a hard one, and the size of its draft."""
    pays = story_trace("pays")
    assert pays.drafter is not None
    share = (pays.drafter.parameters or 0) / pays.target.parameters
    return {
        "pair": f"{pays.drafter.name} and {pays.target.name}",
        "easy_per_call": facts_of("pays")["per_call"],
        "hard_per_call": facts_of("no-gain")["per_call"],
        "hard_length": facts_of("no-gain")["draft_length"],
        "draft_share": percent(share),
    }


def _link(entry: FaqEntry) -> dict[str, str]:
    trace = story_trace(entry.trace)
    request, preset = request_of(trace)
    changed = {
        "longer": replace(request, settings=replace(request.settings, draft_length=16)),
        "bigger": replace(request, draft="wren-small"),
        "memory": replace(request, draft=PROMPT_LOOKUP),
        "quantised": replace(request, precision="fast"),
    }
    return link_of(changed.get(entry.name, request), preset=preset)
