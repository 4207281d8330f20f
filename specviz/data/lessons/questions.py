"""The questions that users ask: answers, where their figures are from, and a run to try.

The figures that only answers name are computed here: of batches, experts, heads and lossy rules.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import geometric_mean
from typing import Any, Literal
from urllib.parse import urlencode

from specviz.core.files import ASSETS
from specviz.core.languages import cache_by_language
from specviz.core.metrics import span, speedup
from specviz.core.names import machine_in_words
from specviz.core.numbers import localize, percent
from specviz.core.texts import AppTexts, Facts, NonEmptyText, spell_count
from specviz.data.lessons.block_example import BLOCK_EXAMPLE
from specviz.data.lessons.facts import UNKNOWN, chain_of, facts_of, method_facts, swept_speedups, written
from specviz.data.lessons.recorded_runs import CHAT_RUNS, DRAFT_LENGTH, story_figures, story_trace
from specviz.data.lessons.story import watch_link
from specviz.data.measured.batches import pass_shares, recorded_batches
from specviz.data.measured.first_run import first_trace
from specviz.data.measured.measured_methods import ALL, stored_methods
from specviz.data.measured.peers import PeerSystem, recorded_peers
from specviz.data.published import REPORTS, SERVED, PublishedReport, ServedGain
from specviz.data.texts import page_texts

AnswerSource = Literal["recorded", "computed", "published", "example", "general"]
MeasuredBy = Literal["run", "sweeps", "passes", "methods", "batches", "peers", "several"]
Cited = Literal["eagle", "long", "experts", "sparse", "synthetic"]
GAINS: dict[Cited, ServedGain] = {
    "eagle": SERVED["busy-eagle"],
    "long": SERVED["busy-long-texts"],
    "experts": SERVED["experts"],
    "sparse": SERVED["sparse-batches"],
}
CITED: dict[Cited, PublishedReport] = {**GAINS, "synthetic": REPORTS["synthetic"]}

SAYS = page_texts("facts")
RACE = ASSETS / "traces" / "race.json"
PROOF = ASSETS / "traces" / "proof.json"
TRAINING = ASSETS / "models" / "wren-eagle" / "training.json"  # what was logged of the head's training
PEERS: dict[PeerSystem, str] = {"ours": "ours", "llama.cpp": "llama", "transformers": "hf"}  # in names of figures
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
        figures, methods = story_figures(), stored_methods()
        return {
            "run": story_trace(self.trace).recorded_on.machine,
            "sweeps": figures.recorded_on,
            "passes": pass_shares().machine.machine,
            "methods": methods.machine.machine if methods else UNKNOWN,
            "batches": recorded_batches().recorded_on.machine,
            "peers": recorded_peers().machine.machine,
            "several": SAYS["named_machines"],
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
        **{f"{name}_batch": gain.setting for name, gain in GAINS.items()},
        "pair": SAYS["two"].format(one=pays.drafter.name, other=pays.target.name),
        "easy_per_call": facts_of("pays")["per_call"],
        "hard_per_call": facts_of("no-gain")["per_call"],
        "hard_length": facts_of("no-gain")["draft_length"],
        "draft_share": percent((pays.drafter.parameters or 0) / pays.target.parameters),
        **gather_facts(),
    }


def gather_facts() -> Facts:
    study = recorded_batches()
    long, short = (study.at(study.batches[-1], study.draft_lengths[place]) for place in (-1, 0))
    touched = EXPERTS * (1 - (1 - CHOSEN / EXPERTS) ** CHECKED)  # if each token of a check takes some at random
    return {
        **written("busy", long=long, short=short),
        **written("block", one=BLOCK_EXAMPLE),
        **written("experts", all=EXPERTS, used=CHOSEN, tokens=CHECKED, touched=touched, ratio=touched / CHOSEN),
        **_gather_heads(),
        **_gather_lossy(),
        **_gather_peers(),
        **_gather_one_pair(),
        **_gather_chats(),
    }


def _gather_chats() -> Facts:
    """One chat model and one draft, for an answer that repeats its prompt and one that does not."""
    edit, story = map(facts_of, CHAT_RUNS)
    said = {"edit": edit, "story": story}
    names, model = ("per_call", "speedup", "acceptance"), story_trace(CHAT_RUNS[0]).target
    about = {"chat_model": model.name, "chat_numbers": localize(model.parameters / 1e6, ".0f")}
    return about | {f"{kind}_{name}": facts[name] for kind, facts in said.items() for name in names}


def _gather_one_pair() -> Facts:
    """One pair of models, greedy, with drafts of four tokens: its speedup in each experiment that has it."""
    first, race = first_trace(), json.loads(RACE.read_bytes())
    raced = next(kind for kind in race["kinds"] if kind["kind"] == "story")
    four = next(row for row in story_figures().draft_lengths if row.draft_length == DRAFT_LENGTH)
    swept, compared = swept_speedups("story", DRAFT_LENGTH), chain_of("nano", "story")
    return written(
        "one_pair",
        pair=SAYS["two"].format(one=four.draft, other=four.target),
        first=(speedup(first) if first else None) or 0.0,
        first_on=machine_in_words(first.recorded_on.machine) if first else UNKNOWN,
        raced=raced["speedup"],
        raced_on=machine_in_words(race["laps"][0]["figures"]["machine"]),
        four=four.speedup,
        swept=geometric_mean(swept),
        swept_prompts=spell_count(len(swept)),
        compared=compared.speedup if compared else 0.0,
    )


def _gather_peers() -> Facts:
    found = recorded_peers()
    facts = {"peers_texts": str(found.agreement["ours plain"].prompts), "peers_length": str(found.options.draft_length)}
    for system, name in PEERS.items():
        gains = [each.gain for each in found.select_system(system)]
        facts |= {
            f"{name}_plain": localize(found.plain_ms(system), ".1f"),
            f"{name}_with": localize(found.speculative_ms(system), ".1f"),
        }
        facts[f"{name}_gains"] = span((min(gains), max(gains)))
    return facts


def _gather_heads() -> Facts:
    drafters = {"eagle": story_trace("method-eagle").drafter, "nano": story_trace("method-small-model").drafter}
    first = {name: at.by_position[0] or 0.0 for name in ("eagle", "medusa") if (at := chain_of(name, ALL))}
    return {
        "head_stories": method_facts()["eagle_stories"],
        "model_stories": method_facts()["nano_stories"],
        **{f"{name}_numbers": localize((it.parameters or 0) / 1e6, ".2f") for name, it in drafters.items() if it},
        **dict.fromkeys(("eagle_first", "medusa_first"), UNKNOWN),
        **{f"{name}_first": percent(rate) for name, rate in first.items()},
        "eagle_training": localize(_tokens_read(json.loads(TRAINING.read_bytes())) / 1e6, ".1f"),
    }


def _tokens_read(training: Mapping[str, Any]) -> int:
    """By a head, in all runs of its training: a log has that of the run before it."""
    return int(training["tokens_seen"]) + (_tokens_read(training["before"]) if "before" in training else 0)


def _gather_lossy() -> Facts:
    """At the first token, exactly: a distance that is counted over bins contains chance, and misses what is inside."""
    draws = {each["rule"]: each for each in json.loads(PROOF.read_bytes())["draws"]}
    exact = {name: draws[name]["exact"] for name in ("lenient", "typical", "ensemble")}
    return {
        "lossless_accepted": percent(draws["lossless"]["batches"][0]["sum_of_minima"]),
        **{f"{name}_accepted": percent(each["accepted"]) for name, each in exact.items()},
        **{f"{name}_distance": percent(each["distance"]) for name, each in exact.items()},
    }
