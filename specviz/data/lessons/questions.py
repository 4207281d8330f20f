"""The questions that users of speculative decoding ask: answers, where the figures are from, and a run to try."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from urllib.parse import urlencode

from specviz.data.batches import recorded_batches
from specviz.data.lessons.answers import more_facts
from specviz.data.lessons.facts import facts_of, method_facts
from specviz.data.lessons.pass_shares import pass_shares
from specviz.data.lessons.recorded_runs import story_figures, story_trace
from specviz.data.lessons.story import watch_link
from specviz.data.published import SERVED, ServedGain
from specviz.data.texts import AppTexts, Facts, Voices, percent

Source = Literal["recorded", "published", "general"]
Measured = Literal["run", "sweeps", "passes", "methods", "batches", "proof"]
Cited = Literal["eagle", "long", "experts", "sparse"]
CITED: dict[Cited, ServedGain] = {
    "eagle": SERVED["busy-eagle"],
    "long": SERVED["busy-long-texts"],
    "experts": SERVED["experts"],
    "sparse": SERVED["sparse-batches"],
}


@dataclass(frozen=True, slots=True)
class FaqEntry:
    name: str
    question: Voices
    answer: Voices
    source: Source  # where the answer's figures are from
    trace: str  # the recorded run its figures are of
    run_it: Voices  # the link's label
    page: str = ""  # URL path of the page that shows it; empty for Watch
    link: Mapping[str, str] = field(default_factory=dict)  # what is other there than in the recorded run
    cites: tuple[Cited, ...] = ()  # published figures in the answer
    measured: Measured = "run"  # what its recorded figures are from

    @property
    def machine(self) -> str:
        figures = story_figures()
        return {
            "run": story_trace(self.trace).recorded_on.machine,
            "sweeps": figures.recorded_on,
            "passes": pass_shares().machine.machine,
            "methods": method_facts()["methods_machine"],
            "batches": recorded_batches().recorded_on.machine,
            "proof": more_facts()["lossy_machine"],
        }[self.measured]

    @property
    def published(self) -> list[ServedGain]:
        return [CITED[name] for name in self.cites]

    @property
    def href(self) -> str:
        return f"./{self.page}?{urlencode({**watch_link(story_trace(self.trace)), **self.link})}"


@dataclass(frozen=True, slots=True)
class Faq:
    sources: Mapping[Source, Voices]  # what stands below an answer
    questions: tuple[FaqEntry, ...]


faq = AppTexts("questions", Faq)


@cache
def answer_facts(trace: str) -> Facts:
    """The figures that an answer may use: of its recorded run, of others, and what was published."""
    pays = story_trace("pays")
    assert pays.drafter is not None
    return {
        **facts_of(trace),
        **{name: gain.system for name, gain in CITED.items()},
        **{f"{name}_speedup": f"{gain.speedup:g}" for name, gain in CITED.items()},
        **{f"{name}_batch": gain.setting for name, gain in CITED.items()},
        "pair": f"{pays.drafter.name} and {pays.target.name}",
        "easy_per_call": facts_of("pays")["per_call"],
        "hard_per_call": facts_of("no-gain")["per_call"],
        "hard_length": facts_of("no-gain")["draft_length"],
        "draft_share": percent((pays.drafter.parameters or 0) / pays.target.parameters),
        **more_facts(),
    }
