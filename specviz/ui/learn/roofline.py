"""Under load: the lesson about latency and throughput. Its picture and its figures are made in the browser."""

from html import escape
from typing import TypedDict

import streamlit as st

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, NEUTRAL
from specviz.data.lessons.roofline import LoadQuestion, ModelShape, PublishedMachine, published_peaks, roofline
from specviz.data.texts import page_texts
from specviz.ui.learn.learn_page import LearnState, paragraph
from specviz.ui.shared.components import component

SAYS = page_texts("learn")


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

    limits: str
    machines: tuple[PublishedMachine, ...]
    models: tuple[ModelShape, ...]
    draft: SpeculationPayload
    labels: dict[str, str]
    sentences: dict[str, str]
    questions: tuple[LoadQuestion, ...]
    judged: JudgedPayload


def show_roofline(_: LearnState) -> None:
    texts, peaks = roofline(), published_peaks()
    batching = texts.batching
    st.markdown(f"## {texts.title}")
    paragraph(texts.introduction, "roofline-introduction")
    _ROOFLINE(key="learn-roofline", data=roofline_payload())
    st.markdown(f"### {batching['title']}")
    paragraph(batching["text"], "roofline-batching")
    lines = [_source(each, each.says) for each in peaks.machines]
    for each in peaks.models:
        lines.append(_source(each, SAYS["model_dense" if each.experts == 1 else "model_experts"].format(each=each)))
    with st.expander(SAYS["figures_from"], icon=":material/menu_book:"):
        st.markdown("\n".join(lines))


def _source(each: PublishedMachine | ModelShape, says: str) -> str:
    return "- " + SAYS["figure_from"].format(name=each.name, says=says, url=each.url, day=each.checked)


def roofline_payload() -> RooflinePayload:
    texts, peaks = roofline(), published_peaks()
    draft = texts.draft
    return {
        "limits": texts.limits,
        "machines": peaks.machines,
        "models": peaks.models,
        "draft": {"alpha": draft["acceptance"] / 100, "length": draft["length"], "cost": draft["cost"] / 100},
        "labels": dict(texts.labels),
        "sentences": dict(texts.sentences),
        "questions": texts.questions,
        "judged": {
            "neutral": NEUTRAL,
            "helps": LOOKS[HELPS].said.capitalize(),
            "even": LOOKS[EVEN].said.capitalize(),
            "hurts": LOOKS[HURTS].said.capitalize(),
        },
    }


_ROOFLINE = component(
    "specviz_roofline",
    lambda: f'<section class="stage roofline" aria-label="{escape(SAYS["roofline_label"])}"></section>',
    ("stage/stage.css", "roofline/roofline.css"),
    "roofline/roofline",
)
