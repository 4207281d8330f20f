"""The questions that users of speculative decoding ask: answers, where the figures are from, and a run to try.

The texts are in assets/texts/questions.yaml.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import urlencode

from specviz.core.files import ASSETS
from specviz.core.names import in_words
from specviz.data.batches import recorded_batches
from specviz.data.lessons.facts import DRAFT_LENGTH, NAMES, UNKNOWN, facts_of, method_facts, percent
from specviz.data.lessons.lossy import recorded_rules
from specviz.data.lessons.recorded_runs import story_figures, story_trace
from specviz.data.lessons.story import watch_link
from specviz.data.measured_methods import ALL, AtSetting, stored_methods
from specviz.data.published import SERVED, ServedGain
from specviz.data.texts import FOLDER, STRICT, Facts, Voices, read_texts

Source = Literal["recorded", "published", "general"]
Measured = Literal["run", "sweeps", "passes", "methods", "batches", "proof"]
Cited = Literal["eagle", "long", "experts", "sparse"]
QUESTIONS_FILE = FOLDER / "questions.yaml"
TRAINING = ASSETS / "models" / "wren-eagle" / "training.json"  # what was logged of the head's training
CITED: dict[Cited, ServedGain] = {
    "eagle": SERVED["busy-eagle"],
    "long": SERVED["busy-long-texts"],
    "experts": SERVED["experts"],
    "sparse": SERVED["sparse-batches"],
}
EXPERTS, CHOSEN, CHECKED = 8, 2, 5  # a mixture of experts for a sum: all, those of one token, tokens in a check


@dataclass(frozen=True, slots=True)
class FaqEntry:
    """One question and its answer, whose figures are those of `answer_facts`."""

    __pydantic_config__ = STRICT
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
            "passes": figures.passes[0].recorded_on,
            "methods": method_facts()["methods_machine"],
            "batches": recorded_batches().recorded_on.machine,
            "proof": recorded_rules().machine,
        }[self.measured]

    @property
    def published(self) -> list[ServedGain]:
        return [CITED[name] for name in self.cites]

    @property
    def href(self) -> str:
        """A relative address with every setting that shows it."""
        return f"./{self.page}?{urlencode({**watch_link(story_trace(self.trace)), **self.link})}"


@dataclass(frozen=True, slots=True)
class Faq:
    __pydantic_config__ = STRICT
    sources: Mapping[Source, Voices]  # what stands below an answer
    questions: tuple[FaqEntry, ...]


@cache
def faq() -> Faq:
    return read_texts(QUESTIONS_FILE, Faq).content


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
        **_of_busy(),
        **_of_experts(),
        **_of_heads(),
        **_of_lossy(),
    }


def _of_busy() -> Facts:
    """The largest measured batch while all its texts write, and with the shortest draft to the end."""
    study = recorded_batches()
    most, lengths = study.batches[-1], study.draft_lengths
    writing, short = study.at(most, lengths[-1]).full_speedup, study.at(most, lengths[0]).speedup
    return {
        "busy_writing": f"{writing.value:.2f}",
        "busy_writing_range": f"{writing.low:.2f} to {writing.high:.2f}",
        "busy_short": f"{short.value:.2f}",
        "busy_short_length": in_words(lengths[0]),
        "busy_short_range": f"{short.low:.2f} to {short.high:.2f}",
    }


def _of_experts() -> Facts:
    """How many experts a check touches if each of its tokens takes some at random."""
    touched = EXPERTS * (1 - (1 - CHOSEN / EXPERTS) ** CHECKED)
    return {
        "experts_all": in_words(EXPERTS),
        "experts_used": in_words(CHOSEN),
        "experts_tokens": in_words(CHECKED),
        "experts_touched": f"{touched:.1f}",
        "experts_ratio": f"{touched / CHOSEN:.2f}",
    }


def _of_heads() -> Facts:
    """The sizes of a head and a small model, the head's further training, and what they do on some texts."""
    drafters = {"eagle": story_trace("method-eagle").drafter, "nano": story_trace("method-small-model").drafter}
    stories = {name: at.costs.tokens_per_target_call for name in ("eagle", "nano") if (at := _chain(name, "story"))}
    first = {name: at.by_position[0] or 0.0 for name in ("eagle", "medusa") if (at := _chain(name, ALL))}
    return {
        **dict.fromkeys(("eagle_stories", "nano_stories", "eagle_first", "medusa_first"), UNKNOWN),
        **{f"{name}_numbers": f"{(it.parameters or 0) / 1e6:.2f}" for name, it in drafters.items() if it},
        **{f"{name}_stories": f"{tokens:.2f}" for name, tokens in stories.items()},
        **{f"{name}_first": percent(rate) for name, rate in first.items()},
        "eagle_training": f"{_tokens_read(json.loads(TRAINING.read_bytes())) / 1e6:.1f}",
    }


def _chain(name: str, kind: str) -> AtSetting | None:
    """A drafter of `NAMES` on one kind of text, greedy, at the draft length of the methods' runs."""
    measured = stored_methods()
    method = measured.greedy.find(NAMES[name]) if measured and measured.greedy else None
    return method.kinds[kind].at(DRAFT_LENGTH) if method and kind in method.kinds else None


def _tokens_read(training: Mapping[str, Any]) -> int:
    """By a head, in all runs of its training: a log has that of the run before it."""
    return int(training["tokens_seen"]) + (_tokens_read(training["before"]) if "before" in training else 0)


def _of_lossy() -> Facts:
    """What the proof counted of lossy rules, and of a lossless one with as many draws."""
    rules = recorded_rules()
    counted = {name: rules.counts(name) for name in ("block", "lenient", "typical", "ensemble")}
    return {
        "lossy_draws": f"{min(each.draws for each in counted.values()):,}",
        **{f"{name}_accepted": percent(each.accepted) for name, each in counted.items()},
        **{f"{name}_distance": percent(each.distance) for name, each in counted.items()},
    }
