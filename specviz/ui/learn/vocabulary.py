"""The vocabulary on the page: each word with a sentence, a picture from a recorded run and a link to its step."""

from html import escape
from typing import Literal, TypedDict
from urllib.parse import urlencode

import streamlit as st

from specviz.core.metrics import costs
from specviz.core.numbers import localize
from specviz.core.readable import readable
from specviz.core.rounds import known_seconds
from specviz.core.texts import Words, fill, join_choices
from specviz.core.trace import Trace
from specviz.data.lessons.facts import facts_of
from specviz.data.lessons.glossary import RUN, GlossaryWord, glossary
from specviz.data.lessons.recorded_runs import story_trace
from specviz.data.lessons.story import round_at
from specviz.data.texts import page_texts
from specviz.player.data import tokens_of
from specviz.player.payload import TokenPayload
from specviz.ui.learn.learn_page import LearnState
from specviz.ui.shared.components import component

SAYS = page_texts("learn")
STATUSES = page_texts("token_statuses")
BarKind = Literal["draft", "verify", "wasted"]
MARKED = {  # words for several kinds of tokens
    "drafted": ("accepted", "rejected", "discarded"),
    "judged": ("accepted", "rejected"),
    "emitted": ("accepted", "correction", "bonus", "own"),
}
TimeBar = tuple[str, float, BarKind]  # what took the time, ms, the colour


class RoundPicture(TypedDict):
    """A recorded round; the chips that the word is about have a ring."""

    kind: Literal["round"]
    alt: str
    chips: list[TokenPayload]
    ringed: list[int]


class TimesPicture(TypedDict):
    kind: Literal["times"]
    alt: str
    bars: list[TimeBar]


class EntryPayload(TypedDict):
    """One word with its sentence, and a picture where there is one."""

    id: str
    name: str
    symbol: str
    text: str
    figure: str
    link: str
    picture: RoundPicture | TimesPicture | None


class VocabularyPayload(TypedDict):
    words: list[EntryPayload]


def show_vocabulary(state: LearnState) -> None:
    st.markdown(f"## {SAYS['words_title']}")
    st.caption(SAYS["words_from"].format(machine=story_trace(RUN).recorded_on.machine))
    words = [entry(word, state.words) for word in glossary()]
    _WORDS(key="learn-vocabulary", data=VocabularyPayload(words=words))


def entry(word: GlossaryWord, words: Words) -> EntryPayload:
    link = {"lesson": word.lesson, "words": words}
    return {
        "id": word.id,
        "name": word.name,
        "symbol": word.symbol if words == "technical" else "",
        "text": word.says.choose(words),
        "figure": fill(word.figure, facts_of(RUN)) if words == "technical" else "",
        "link": f"./learn?{urlencode(link)}",
        "picture": _picture(word, story_trace(RUN)),
    }


def _picture(word: GlossaryWord, trace: Trace) -> RoundPicture | TimesPicture | None:
    if not word.picture:
        return None
    if word.picture in ("round", "full"):
        index = round_at(trace, "full" if word.picture == "full" else "mixed").index
        chips = tokens_of(readable(trace).rounds[index])
        ringed = [i for i, chip in enumerate(chips) if chip["status"] in MARKED.get(word.marked, (word.marked,))]
        statuses = join_choices([STATUSES[chip["status"]] for chip in chips], "and")
        alt = SAYS["round_alt"].format(statuses=statuses)
        return {"kind": "round", "alt": alt, "chips": chips, "ringed": ringed}
    bars = _bars(word, trace)
    return {
        "kind": "times",
        "bars": bars,
        "alt": "; ".join(f"{name}: {localize(ms, '.2f')} ms" for name, ms, _ in bars),
    }


def _bars(word: GlossaryWord, trace: Trace) -> list[TimeBar]:
    measured, plain = costs(trace), trace.autoregressive
    assert measured is not None
    assert plain is not None
    step = 1000 * measured.step_seconds
    if word.picture == "prefill":
        reading = 1000 * known_seconds(trace.prefill_seconds.target)
        return [(SAYS["bar_prompt"], reading, "verify"), (SAYS["bar_token"], step, "verify")]
    if word.picture == "speedup":
        both = 1000 * sum(known_seconds(round.seconds) for round in trace.rounds)
        alone = 1000 * sum(plain.seconds_per_token)
        return [(SAYS["bar_alone"], alone, "verify"), (SAYS["bar_both"], both, "draft")]
    checked = measured.verification.get(trace.settings.draft_length + 1, 1.0)
    return [
        (SAYS["bar_target"], step, "verify"),
        (SAYS["bar_draft"], step * measured.cost_ratio, "draft"),
        (SAYS["bar_check"], step * checked, "verify"),
        (SAYS["bar_overhead"], step * measured.overhead, "wasted"),
    ]


_WORDS = component(
    "specviz_words",
    lambda: f'<section class="stage words" aria-label="{escape(SAYS["words_label"])}"></section>',
    ("stage/stage.css", "components/words.css", "stage/paper.css"),
    "components/vocabulary",
)
