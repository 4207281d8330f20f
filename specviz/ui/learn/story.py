"""Learn's story: one step at a time beside the stage, each with a question to predict and a reveal."""

from html import escape
from urllib.parse import urlencode

import streamlit as st

from specviz.core.files import BATCH_CODE, PACKAGE
from specviz.core.settings import UNSURE_BELOW
from specviz.core.texts import fill
from specviz.core.trace import Trace
from specviz.data.lessons.facts import facts_of, stopping
from specviz.data.lessons.recorded_runs import drawn_round, overlap_of
from specviz.data.lessons.story import StoryStep, steps, watch_link
from specviz.data.measured.batches import PARTS, pass_shares, recorded_batches
from specviz.data.texts import page_texts
from specviz.player.data import stage_data
from specviz.player.payload import BatchPayload, LosslessPayload, PassesPayload, PassPayload, SentStage, StopsPayload
from specviz.ui.learn.learn_page import LearnState, paragraph
from specviz.ui.learn.questions import show_question
from specviz.ui.session import session
from specviz.ui.shared.parts import button
from specviz.ui.shared.stage import stage

SAYS = page_texts("learn")
CODE = {  # by step of the story
    "round": PACKAGE / "decoding/speculative.py",
    "rejection": PACKAGE / "decoding/verification.py",
    "arithmetic": PACKAGE / "models/llama.py",
    "together": BATCH_CODE,
}
CODE_HEIGHT = 460  # px


def show_story(state: LearnState) -> None:
    step = steps()[state.lesson]
    facts, at, number = facts_of(step.trace), state.lesson, len(steps())
    with st.container(key="learn-way", horizontal=True, vertical_alignment="center"):
        button(SAYS["back"], "learn-back", _go, at - 1, shortcut="PageUp", disabled=not at)
        # progress as filled, current and open dots, and in words
        dots = "".join(f'<i class="{kind}"></i>' for kind in ["done"] * at + ["here"] + ["open"] * (number - at - 1))
        label = escape(SAYS["step"].format(at=at + 1, count=number))
        st.html(f'<div class="progress-dots" role="img" aria-label="{label}">{dots}</div>')
        button(SAYS["to_quiz" if at == number - 1 else "next"], "learn-next", _go, at + 1, shortcut="PageDown")
        address = f"./?{urlencode(watch_link(step.run, step.live_playhead))}"
        st.link_button(SAYS["see_live"], address, icon=":material/play_circle:")
    left, right = st.columns([5, 9], gap="medium")
    with left:
        st.markdown(f"## {state.lesson + 1}. {fill(step.title.choose(state.words), facts)}")
        paragraph(fill(step.text.choose(state.words), facts), f"step-{step.name}", state.words)
        show_question(step.question, f"step-{step.name}", facts, state)
    with right, st.container(key="learn-stage"):
        stage(_stage_data(step, state), key="learn-lesson")
    if file := CODE.get(step.name):
        label = SAYS[f"code_{step.name}"]
        with st.expander(label, icon=":material/code:"):
            st.caption("/".join(file.parts[-3:]))
            st.code(file.read_text(encoding="utf-8"), language="python", line_numbers=True, height=CODE_HEIGHT)


def _go(lesson: int) -> None:
    state = session().of(LearnState)
    state.problems = []
    if lesson >= len(steps()):
        state.part = "quiz"
    state.lesson = max(0, min(lesson, len(steps()) - 1))


def _stage_data(step: StoryStep, state: LearnState) -> SentStage:
    answered = f"step-{step.name}" in state.answers
    place, run = step.playhead(answered), step.shown
    run_id = f"story-{step.trace}-alone" if step.picture == "alone" else f"story-{step.trace}"
    data = stage_data(run, run_id=run_id, source="recorded", running=False)
    data["link"], data["playhead"] = state.link(), place
    data["phases"] = list(step.phases)
    data["diagram"] = {
        "words": state.words,
        "focus": step.focus,
        "picture": step.picture,
        "step": place,
        "place": f"{step.name}-{answered}",
    }
    if step.picture == "weights":
        data["diagram"]["passes"] = _passes()
    if step.picture == "lossless":
        data["diagram"]["rule"] = _rule(run)
    if step.picture == "stops":
        data["diagram"]["stops"] = _stops()
    if step.picture == "texts":
        data["diagram"]["batch"] = _batch()
    return data


def _rule(run: Trace) -> LosslessPayload:
    """The probabilities at the place of a token that was rejected by chance."""
    round = drawn_round(run)
    assert round is not None
    found = overlap_of(round)
    tokens = [(each.text, each.p, each.q) for each in found.tokens]
    return {"round": round.index + 1, "tokens": tokens, "others": found.others}


def _passes() -> PassesPayload:
    found = pass_shares()
    passes: list[PassPayload] = []
    for timed in found.passes:
        weights, attention, program, rest = (timed.ms[part].median for part in PARTS)
        ms = (weights, attention, program, rest)
        passes.append({"dtype": timed.dtype, "tokens": timed.tokens, "ms": ms, "ratio": timed.ratio.value})
    return {"tokens": found.most, "passes": passes}


def _stops() -> StopsPayload:
    study, sweep = recorded_batches(), stopping()
    sizes = (study.batches[0], study.batches[-1])
    points = [study.at(texts, length) for texts in sizes for length in study.draft_lengths]
    return {
        "limit": UNSURE_BELOW,
        "schedules": [(schedule, each.value, each.low, each.high) for schedule, each in sweep.speedups.items()],
        "batches": [
            (each.batch, each.draft_length, found.value, found.low, found.high)
            for each in points
            for found in [each.full_speedup]
        ],
        "measured": (
            SAYS["prompts_on"].format(prompts=sweep.prompts, machine=sweep.machine),
            SAYS["prompts_on"].format(prompts=len(study.prompts), machine=study.recorded_on.machine),
        ),
    }


def _batch() -> BatchPayload:
    study = recorded_batches()
    length, texts = study.draft_lengths[-1], study.batches[-1]
    alone, together = study.at(study.batches[0], length), study.at(texts, length)
    return {
        "texts": texts,
        "tokens": length + 1,
        "alone": alone.verification.value,
        "together": together.verification.value,
        "empty": together.empty_places,
    }
