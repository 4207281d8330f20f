"""Under load: the lesson about latency and throughput. Its picture and its figures are made in the browser."""

from dataclasses import asdict
from typing import Any, Literal, TypedDict

import streamlit as st

from specviz.core.judge import EVEN, HELPS, HURTS, NEUTRAL
from specviz.data.lessons.roofline import LoadQuestion, Machine, PublishedPeaks, Shape, published_peaks, roofline
from specviz.data.published import SERVED
from specviz.data.texts import Words
from specviz.ui.learn.learn_page import paragraph
from specviz.ui.learn.learn_state import Learning
from specviz.ui.shared.components import component


class MachinePayload(TypedDict):
    """A machine's published peak figures: 10^12 operations and 10^12 bytes a second, and 10^9 bytes of memory."""

    name: str
    short: str
    teraflops: float
    terabytes: float
    memory: int


class ShapePayload(TypedDict):
    """A model's published shape; one expert: it is dense."""

    name: str
    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int
    head: int
    vocabulary: int
    experts: int
    active: int


class ShownPayload(TypedDict):
    """A setting of the sliders that an answer is about."""

    machine: str
    model: str
    batch: int
    context: int


class LoadAnswerPayload(TypedDict):
    """A question, its answer with named figures, and the settings that they are computed from."""

    name: Literal["batch", "context", "experts"]
    question: str
    answer: str
    shows: list[ShownPayload]


class JudgedPayload(TypedDict):
    """The words of the one judge, and the speedup up to which nobody would notice a difference."""

    neutral: float
    helps: str
    even: str
    hurts: str


class DraftPayload(TypedDict):
    """The draft of the answers: acceptance of the checked guesses and the cost of one guess, in per cent."""

    acceptance: int
    length: int
    cost: int


class RooflinePayload(TypedDict):
    """The whole lesson: published figures in, everything else is computed from them."""

    words: Literal["technical", "plain"]
    limits: str
    machines: list[MachinePayload]
    models: list[ShapePayload]
    draft: DraftPayload
    questions: list[LoadAnswerPayload]
    judged: JudgedPayload


def show_roofline(state: Learning) -> None:
    texts, words = roofline(), state.words
    st.markdown(f"## {texts.title.in_(words)}")
    paragraph(texts.introduction.in_(words), "roofline-introduction", words)
    _ROOFLINE(key="learn-roofline", data=roofline_payload(words))
    st.markdown(f"### {texts.batching.title.in_(words)}")
    paragraph(texts.batching.text.in_(words), "roofline-batching", words)
    st.caption(_measured_by_others())
    with st.expander("Where the figures are from", icon=":material/menu_book:"):
        st.markdown(_sources(published_peaks()))


def roofline_payload(words: Words) -> RooflinePayload:
    texts, peaks = roofline(), published_peaks()
    draft = texts.draft
    return {
        "words": words,
        "limits": texts.limits.in_(words),
        "machines": [_without_source(each) for each in peaks.machines],
        "models": [_without_source(each) for each in peaks.models],
        "draft": {"acceptance": draft.acceptance, "length": draft.length, "cost": draft.cost},
        "questions": [_answer(asked, words) for asked in texts.questions],
        "judged": {"neutral": NEUTRAL, "helps": HELPS, "even": EVEN, "hurts": HURTS},
    }


def _without_source(each: Machine | Shape) -> Any:
    """The figures alone: addresses and dates are said below the picture."""
    return {name: value for name, value in asdict(each).items() if name not in ("says", "url", "checked", "billions")}


def _answer(asked: LoadQuestion, words: Words) -> LoadAnswerPayload:
    return {
        "name": asked.name,
        "question": asked.question.in_(words),
        "answer": asked.answer.in_(words),
        "shows": [
            {"machine": shown.machine, "model": shown.model, "batch": shown.batch, "context": shown.context}
            for shown in asked.shows
        ],
    }


def _measured_by_others() -> str:
    eagle, long = SERVED["busy-eagle"], SERVED["busy-long-texts"]
    return (
        f"Measured by others, on servers: {eagle.system}, {eagle.speedup:g}× with {eagle.setting} "
        f"([{eagle.source}]({eagle.url})); {long.system}, up to {long.speedup:g}× with {long.setting} "
        f"([{long.source}]({long.url})). Measured by this app, on a processor: [When it helps](./helps), In batches."
    )


def _sources(peaks: PublishedPeaks) -> str:
    lines = [f"- **{each.name}**: {each.says}. {_source(each)}" for each in peaks.machines]
    for each in peaks.models:
        layers = "dense" if each.experts == 1 else f"{each.active} of {each.experts} experts"
        lines.append(
            f"- **{each.name}**: {each.layers} layers of {each.width}, {each.kv_heads} key-value heads, {layers}, "
            f"{each.vocabulary:,} tokens. {_source(each)}"
        )
    return "\n".join(lines)


def _source(each: Machine | Shape) -> str:
    return f"[Source]({each.url}), checked in {each.checked}."


_HTML = '<section class="stage roofline" aria-label="Latency against throughput, modelled"></section>'
_ROOFLINE = component("specviz_roofline", _HTML, ("stage/stage.css", "roofline/roofline.css"), "roofline/roofline.js")
