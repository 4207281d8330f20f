"""A question that users of speculative decoding ask: its answer, where the figures are from, and a run to try.

The questions themselves are in `questions`.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal
from urllib.parse import urlencode

from specviz.core.metrics import costs, count
from specviz.core.request import PROMPT_LOOKUP
from specviz.core.theory import realistic_speedup
from specviz.data.lessons.recorded_runs import story_figures, story_trace
from specviz.data.lessons.story import Facts, Says, facts_of, percent, request_of
from specviz.data.permalink import link_of
from specviz.data.published import BUSY_EAGLE, BUSY_LONG_TEXTS, EXPERTS, ServedGain

Source = Literal["recorded", "modelled", "published", "general"]
BUSY_SLOPE = 0.6  # assumed slope of v(k) in a busy server: what each further token adds to a pass


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
    measured: Literal["run", "sweeps", "passes"] = "run"  # what its recorded figures were measured by

    @property
    def machine(self) -> str:
        """Where its figures were recorded."""
        figures = story_figures()
        return {
            "run": story_trace(self.trace).recorded_on.machine,
            "sweeps": figures.recorded_on,
            "passes": figures.passes[0].recorded_on,
        }[self.measured]

    @property
    def href(self) -> str:
        """A relative address with every setting that shows it."""
        return f"./{self.page}?{urlencode(_link(self))}"


@cache
def answer_facts(entry: FaqEntry) -> Facts:
    """The figures the answer may use."""
    return {**facts_of(entry.trace), **modelled_facts(), **_published_facts(), **_of_other_runs()}


@cache
def modelled_facts() -> Facts:
    """A quiet machine and a busy one, by the formula E(γ) / (γc + v(γ+1)): modelled, not measured."""
    trace = story_trace("round")
    alpha = count(trace.rounds).per_judgement_rate or 0.0
    measured = costs(trace)
    length, cost = trace.settings.draft_length, measured.cost_ratio if measured else 0.0
    idle = realistic_speedup(alpha, length, cost)
    busy = realistic_speedup(alpha, length, cost, 1 + BUSY_SLOPE * length)
    return {
        "idle_speedup": f"{idle:.2f}",
        "busy_speedup": f"{busy:.2f}",
        "busy_slope": percent(BUSY_SLOPE),
    }


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
