"""Under load: the lesson about latency and throughput. Its picture and its figures are made in the browser."""

from typing import TypedDict

import streamlit as st

from specviz.core.judge import EVEN, HELPS, HURTS, NEUTRAL
from specviz.core.texts import Words
from specviz.data.lessons.roofline import LoadQuestion, ModelShape, PublishedMachine, published_peaks, roofline
from specviz.data.published import SERVED
from specviz.ui.learn.learn_page import paragraph
from specviz.ui.learn.learn_state import LearnState
from specviz.ui.shared.components import component


class JudgedPayload(TypedDict):
    """The words of the one judge, and the speedup up to which nobody would notice a difference."""

    neutral: float
    helps: str
    even: str
    hurts: str


class SpeculationPayload(TypedDict):
    """Acceptance of a judged guess, draft length, cost of a guess in plain passes."""

    alpha: float
    length: int
    cost: float


class RooflinePayload(TypedDict):
    """The whole lesson: published figures in, everything else is computed from them."""

    words: Words
    limits: str
    machines: tuple[PublishedMachine, ...]
    models: tuple[ModelShape, ...]
    draft: SpeculationPayload
    labels: dict[str, str]
    sentences: dict[str, str]
    questions: tuple[LoadQuestion, ...]
    judged: JudgedPayload


def show_roofline(state: LearnState) -> None:
    texts, words, peaks = roofline(), state.words, published_peaks()
    st.markdown(f"## {texts.title.choose(words)}")
    paragraph(texts.introduction.choose(words), "roofline-introduction", words)
    _ROOFLINE(key="learn-roofline", data=roofline_payload(words))
    st.markdown(f"### {texts.batching.title.choose(words)}")
    paragraph(texts.batching.text.choose(words), "roofline-batching", words)
    eagle, long = SERVED["busy-eagle"], SERVED["busy-long-texts"]
    st.caption(
        f"Measured by others, on servers: {eagle.system}, {eagle.speedup:g}× with {eagle.setting} "
        f"([{eagle.source}]({eagle.url})); {long.system}, up to {long.speedup:g}× with {long.setting} "
        f"([{long.source}]({long.url})). Measured by this app, on a processor: "
        "[When it helps](./when_it_helps), In batches."
    )
    lines = [_source(each, each.says) for each in peaks.machines]
    for each in peaks.models:
        layers = "dense" if each.experts == 1 else f"{each.active} of {each.experts} experts"
        heads = f"{each.kv_heads} key-value heads, {layers}, {each.vocabulary:,} tokens"
        lines.append(_source(each, f"{each.layers} layers of {each.width}, {heads}"))
    with st.expander("Where the figures are from", icon=":material/menu_book:"):
        st.markdown("\n".join(lines))


def _source(each: PublishedMachine | ModelShape, says: str) -> str:
    return f"- **{each.name}**: {says}. [Source]({each.url}), checked in {each.checked}."


def roofline_payload(words: Words) -> RooflinePayload:
    texts, peaks = roofline(), published_peaks()
    draft = texts.draft
    return {
        "words": words,
        "limits": texts.limits.choose(words),
        "machines": peaks.machines,
        "models": peaks.models,
        "draft": {"alpha": draft.acceptance / 100, "length": draft.length, "cost": draft.cost / 100},
        "labels": {name: said.choose(words) for name, said in texts.labels.items()},
        "sentences": {name: said.choose(words) for name, said in texts.sentences.items()},
        "questions": texts.questions,
        "judged": {
            "neutral": NEUTRAL,
            "helps": HELPS.capitalize(),
            "even": EVEN.capitalize(),
            "hurts": HURTS.capitalize(),
        },
    }


_HTML = '<section class="stage roofline" aria-label="Latency against throughput, modelled"></section>'
_ROOFLINE = component("specviz_roofline", _HTML, ("stage/stage.css", "roofline/roofline.css"), "roofline/roofline.js")
