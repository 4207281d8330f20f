"""The Learn page's story: one step at a time beside the stage, each with a question to predict and a reveal."""

from html import escape
from typing import get_args
from urllib.parse import urlencode

import streamlit as st

from specviz.core.errors import InputError, without_folders
from specviz.data.batches import recorded_batches
from specviz.data.lessons.glossary import explained
from specviz.data.lessons.method_runs import METHOD_RUNS
from specviz.data.lessons.recorded_runs import RECORDED_RUNS, story_figures, story_trace
from specviz.data.lessons.steps import STEPS
from specviz.data.lessons.story import Facts, Question, Step, Words, facts_of, fill, watch_link
from specviz.data.lessons.story_payoff import TOGETHER
from specviz.player.data import stage_data
from specviz.player.payload import PassesPayload, StagePayload
from specviz.ui.classes.membership import class_in_link
from specviz.ui.classes.strip import class_chip, class_question
from specviz.ui.learn.code import show_code
from specviz.ui.learn.plain_sentences import plain_sentences
from specviz.ui.learn.state import PARTS, Learning, Part, take
from specviz.ui.session import session
from specviz.ui.shared.address import address, write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.heading import heading
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import set_widgets
from specviz.ui.stage.component import stage

PART_LABELS: dict[Part, str] = {
    "story": "Story",
    "methods": "Methods",
    "quiz": "Quiz",
    "words": "Words",
    "why": "Why?",
    "teach": "For teachers",
}
WORDS_LABELS: dict[Words, str] = {"technical": "Technical", "plain": "Plain words"}


def begin() -> Learning | None:
    """The head of the page: title, parts, technical or plain words. None, with an error, without the recorded runs."""
    state = session().learn
    _follow_address(state)
    with st.container(key="learn-head", horizontal=True, vertical_alignment="center"):
        heading("**Learn** how a small model and a big one write together.")
        _choose("part", "Part of this page", PART_LABELS, state)
        _choose("words", "In which words", WORDS_LABELS, state)
        class_chip()
    class_question()
    notices(state.problems)
    write_address(state.link() | class_in_link())
    state.written = state.link()
    try:
        for name in (*RECORDED_RUNS, *METHOD_RUNS):
            story_trace(name)
        story_figures()
    except InputError as error:
        sentence = without_folders(f"Some recorded runs of the story are missing. {error}")
        st.error(plain(sentence), icon=":material/error:")
        return None
    return state


def _follow_address(state: Learning) -> None:
    """Go where the address says, unless this page wrote it itself."""
    given = {name: values[-1] for name, values in address().items() if name in state.link()}
    if given and given != state.written:
        state.problems = take(state, given)


def _choose(name: str, label: str, labels: dict[Part, str] | dict[Words, str], state: Learning) -> None:
    """A choice that survives a page switch: the state holds it, the widget only shows it."""
    set_widgets({f"learn-{name}": getattr(state, name)})
    st.segmented_control(
        label,
        list(labels),
        format_func=lambda value: dict(labels)[value],
        key=f"learn-{name}",
        label_visibility="collapsed",
        required=True,
        on_change=_chosen,
        args=(name,),
    )


def _chosen(name: str) -> None:
    state, value = session().learn, st.session_state[f"learn-{name}"]
    state.problems = []
    if name == "part" and value in PARTS:
        state.part = value
    if name == "words" and value in get_args(Words):
        state.words = value


def show_story(state: Learning) -> None:
    """The current step: text and question on the left, the stage on the right, the code below."""
    step = STEPS[state.lesson]
    facts = facts_of(step.trace)
    _show_way(state, step)
    left, right = st.columns([5, 9], gap="medium")
    with left:
        st.markdown(f"## {state.lesson + 1}. {fill(step.title.in_(state.words), facts)}")
        paragraph(fill(step.text.in_(state.words), facts), f"step-{step.name}", state.words)
        ask(step.question, f"step-{step.name}", facts, state)
    with right, st.container(key="learn-stage"):
        stage(_stage_data(step, state), key="learn-lesson")
    show_code(step.name)


def _show_way(state: Learning, step: Step) -> None:
    """Back, progress, next, and a link that runs it live."""
    last = state.lesson == len(STEPS) - 1
    with st.container(key="learn-way", horizontal=True, vertical_alignment="center"):
        st.button(
            "Back",
            key="learn-back",
            shortcut="PageUp",
            disabled=not state.lesson,
            on_click=_go,
            args=(state.lesson - 1,),
        )
        st.html(_dots(state))
        st.button(
            "To the quiz" if last else "Next",
            key="learn-next",
            shortcut="PageDown",
            on_click=_go,
            args=(state.lesson + 1,),
        )
        address = f"./?{urlencode(watch_link(step.run, step.playhead(True)))}"
        st.link_button("See it live", address, icon=":material/play_circle:", help="Runs it now on the Watch page.")


def _dots(state: Learning) -> str:
    """Progress as filled, current and open dots, and in words. Constant text and two numbers only."""
    kinds = ["here" if i == state.lesson else "done" if i < state.lesson else "open" for i in range(len(STEPS))]
    dots = "".join(f'<i class="{kind}"></i>' for kind in kinds)
    said = f"Step {state.lesson + 1} of {len(STEPS)}"
    return f'<div class="progress-dots" role="img" aria-label="{said}">{dots}</div>'


def _go(lesson: int) -> None:
    state = session().learn
    state.problems = []
    if lesson >= len(STEPS):
        state.part = "quiz"
    state.lesson = max(0, min(lesson, len(STEPS) - 1))


def _stage_data(step: Step, state: Learning) -> StagePayload:
    """The recorded run at this step, with the diagram instead of the figures."""
    answered = f"step-{step.name}" in state.answers
    place = step.playhead(answered)
    data = stage_data(step.run, run_id=f"story-{step.trace}", source="recorded", running=False, playhead=place)
    data["link"] = state.link()
    if state.words == "plain":
        for shown, round in zip(data["rounds"], step.run.rounds, strict=True):
            ends = step.run.output.stopped_by == "eos" and round is step.run.rounds[-1]
            shown["sentences"] = plain_sentences(round, ends=ends)
    data["diagram"] = {
        "words": state.words,
        "focus": step.focus,
        "picture": step.picture,
        "step": place,
        "place": f"{step.name}-{answered}",
    }
    if step.picture == "weights":
        data["diagram"]["passes"] = _passes_in_batches() if step is TOGETHER else _passes()
    return data


def _passes() -> PassesPayload:
    """The times of a pass over several tokens that were measured with the story."""
    passes = story_figures().passes
    return {"tokens": passes[0].tokens, "measured": [(one.dtype, one.ratio) for one in passes]}


def _passes_in_batches() -> PassesPayload:
    """v of the longest measured draft, for one text and in the largest measured batch."""
    study = recorded_batches()
    length = study.draft_lengths[-1]
    points = [study.at(size, length) for size in (study.batches[0], study.batches[-1])]
    measured = [(f"{each.batch} text{'s' * (each.batch > 1)}", each.verification.value) for each in points]
    return {"tokens": length + 1, "measured": measured}


def paragraph(text: str, key: str, words: Words) -> None:
    """A paragraph in which each word of the field shows its explanation. For this app's own text and figures only."""
    st.html(f'<p class="explains">{explained(text, key, words)}</p>')


def ask(question: Question, key: str, facts: Facts, state: Learning) -> None:
    """The options; after a choice, whether it was right and why."""
    given = state.answers.get(key)
    asked = explained(fill(question.text.in_(state.words), facts), f"{key}-question", state.words)
    st.markdown(f"**{asked}**", unsafe_allow_html=True)
    if given is None:
        for number, option in enumerate(question.options):
            text = capital(fill(option.text.in_(state.words), facts))
            st.button(text, key=f"{key}-{number}", width="stretch", wrap=True, on_click=_answer, args=(key, number))
        return
    chosen, right = question.options[given], question.options[question.right]
    st.html(_marked(question, given, facts, state.words))
    with st.container(key=f"reveal-{key}"):
        meaning = fill(chosen.meaning.in_(state.words), facts)
        if chosen.right:
            st.success(f"**Right.** {meaning}", icon=":material/check:")
        else:
            st.info(f"**Not quite.** {meaning}", icon=":material/lightbulb:")
            st.markdown(fill(right.meaning.in_(state.words), facts))
    st.button("Ask me again", key=f"{key}-again", type="tertiary", on_click=_forget, args=(key,))


def _marked(question: Question, given: int, facts: Facts, words: Words) -> str:
    """The options with their marks, also in words for screen readers."""
    lines = []
    for number, option in enumerate(question.options):
        text = escape(capital(fill(option.text.in_(words), facts)))
        mark = "✓ right answer" if option.right else "your answer" if number == given else ""
        yours = ", yours" if option.right and number == given else ""
        lines.append(f'<li class="{"right" if option.right else "other"}">{text} <em>{mark}{yours}</em></li>')
    return f'<ul class="marked-options">{"".join(lines)}</ul>'


def _answer(key: str, number: int) -> None:
    state = session().learn
    state.answers[key], state.touched = number, True


def _forget(key: str) -> None:
    state = session().learn
    state.answers.pop(key, None)
    state.touched = True


def capital(text: str) -> str:
    """With a capital first letter, since an option may start with a number in words."""
    return text[:1].upper() + text[1:]
