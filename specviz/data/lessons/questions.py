"""The questions that users ask: answers, where their figures are from, and a run to try.

The figures that only answers name are computed here: of batches and experts, for example.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, log
from statistics import stdev
from typing import Literal
from urllib.parse import urlencode

from specviz.core.intervals import student_t
from specviz.core.languages import cache_by_language
from specviz.core.numbers import localize, percent
from specviz.core.texts import AppTexts, Facts, NonEmptyText
from specviz.data.lessons.facts import facts_of, stopping, swept_kinds, swept_speedups, written
from specviz.data.lessons.recorded_runs import CHAT_RUNS, DRAFT_LENGTH, story_figures, story_trace
from specviz.data.lessons.story import watch_link
from specviz.data.measured.batches import pass_shares, recorded_batches
from specviz.data.measured.measured_methods import PeerSystem, recorded_peers
from specviz.data.published import REPORTS, SERVED, PublishedReport, ServedGain
from specviz.data.texts import page_texts

AnswerSource = Literal["recorded", "published", "general"]
MeasuredBy = Literal["run", "sweeps", "passes", "batches", "peers", "stopping"]
Cited = Literal["eagle", "long", "experts", "sparse", "synthetic"]
GAINS: dict[Cited, ServedGain] = {
    "eagle": SERVED["busy-eagle"],
    "long": SERVED["busy-long-texts"],
    "experts": SERVED["experts"],
    "sparse": SERVED["sparse-batches"],
}
CITED: dict[Cited, PublishedReport] = {**GAINS, "synthetic": REPORTS["synthetic"]}

SAYS = page_texts("facts")
PEERS: dict[PeerSystem, str] = {"ours": "ours", "llama.cpp": "llama", "transformers": "hf"}  # in names of figures
SMALL_GAIN = 1.05  # hard to see
EXPERTS, CHOSEN, CHECKED = 8, 2, 5  # a mixture of experts for a sum: all, those of one token, tokens in a check


@dataclass(frozen=True, slots=True)
class FaqEntry:
    name: str
    question: NonEmptyText
    answer: NonEmptyText
    source: AnswerSource  # where the answer's figures are from
    trace: str  # the recorded run its figures are of
    run_it: NonEmptyText  # the link's label
    page: str = ""  # URL path of the page that shows it; empty for Watch
    link: Mapping[str, str] = field(default_factory=dict)  # what is other there than in the recorded run
    cites: tuple[Cited, ...] = ()  # what others published that is in the answer
    measured: MeasuredBy = "run"  # what its recorded figures are from

    @property
    def machine(self) -> str:
        return {
            "run": story_trace(self.trace).recorded_on.machine,
            "sweeps": story_figures().recorded_on,
            "passes": pass_shares().machine.machine,
            "batches": recorded_batches().recorded_on.machine,
            "peers": recorded_peers().machine.machine,
            "stopping": stopping().machine,
        }[self.measured]

    @property
    def published(self) -> list[PublishedReport]:
        return [CITED[name] for name in self.cites]

    @property
    def href(self) -> str:
        if self.trace in CHAT_RUNS:  # of a model that not every server has
            return f"./?{urlencode({'run': self.trace})}"
        return f"./{self.page}?{urlencode({**watch_link(story_trace(self.trace)), **self.link})}"


@dataclass(frozen=True, slots=True)
class Faq:
    sources: Mapping[AnswerSource, NonEmptyText]  # what stands below an answer
    questions: tuple[FaqEntry, ...]


faq = AppTexts("questions", Faq)


@cache_by_language
def answer_facts(trace: str) -> Facts:
    """The figures that an answer may use: of its recorded run, of others, and what was published."""
    pays = story_trace("pays")
    assert pays.drafter is not None
    return {
        **facts_of(trace),
        **{name: report.system for name, report in CITED.items()},
        **{f"{name}_speedup": localize(gain.speedup, "g") for name, gain in GAINS.items()},
        **{f"{name}_batch": gain.sequences for name, gain in GAINS.items() if gain.sequences},
        "pair": SAYS["two"].format(one=pays.drafter.name, other=pays.target.name),
        "easy_per_call": facts_of("pays")["per_call"],
        "hard_per_call": facts_of("no-gain")["per_call"],
        "easy_length": facts_of("pays")["draft_length"],
        "hard_length": facts_of("no-gain")["draft_length"],
        "draft_share": percent((pays.drafter.parameters or 0) / pays.target.parameters),
        **gather_facts(),
    }


def gather_facts() -> Facts:
    study = recorded_batches()
    long, short = (study.at(study.batches[-1], study.draft_lengths[place]) for place in (-1, 0))
    loses = next(size for size in study.batches if study.at(size, study.draft_lengths[-1]).full_speedup.high < 1)
    touched = EXPERTS * (1 - (1 - CHOSEN / EXPERTS) ** CHECKED)  # if each token of a check takes some at random
    facts = written("busy", long=long, short=short, loses=loses)
    facts |= written("experts", all=EXPERTS, used=CHOSEN, tokens=CHECKED, ratio=touched / CHOSEN)

    # what a pass takes in each number format, in ms
    names = {1: "one", CHECKED: "five"}
    passes = [one for one in pass_shares().passes if one.tokens in names]
    facts |= {f"{names[one.tokens]}_{one.dtype}": localize(one.ms["whole"].median, ".1f") for one in passes}

    found = recorded_peers()
    facts["peers_texts"] = str(found.agreement["ours plain"].prompts)
    facts["peers_length"] = str(found.options.draft_length)
    for system, name in PEERS.items():
        facts[f"{name}_gain"] = written("peers", found=found.kinds["story"][system])["gain"]

    # on how many prompts the 95 % interval of a gain of 5 % leaves out 1, from the spread of each kind of text
    spreads = [stdev(map(log, swept_speedups(kind, DRAFT_LENGTH))) / log(SMALL_GAIN) for kind in swept_kinds()]
    needed = [(spread * student_t(ceil(4 * spread**2))) ** 2 for spread in spreads]  # t is about 2 of so many prompts
    facts |= written("enough", least=min(needed), most=round(max(needed), -2))

    # one chat model and one draft, for an answer that repeats its prompt and one that does not
    facts["chat_model"] = story_trace(CHAT_RUNS[0]).target.name
    for kind, run in zip(("edit", "story"), CHAT_RUNS, strict=True):
        facts |= {f"{kind}_{name}": facts_of(run)[name] for name in ("per_call", "speedup")}
    return facts
