"""The quiz at the story’s end: questions, each explained as soon as it is answered, and a score."""

import streamlit as st

from specviz.core.number_words import in_words
from specviz.data.lessons.quiz import QUIZ
from specviz.ui.classes.membership import send_answers
from specviz.ui.learn.page import ask
from specviz.ui.learn.state import Learning

KEYS = [f"quiz-{number}" for number in range(1, len(QUIZ) + 1)]


def show_quiz(state: Learning) -> None:
    """All questions, and the score so far."""
    st.markdown("## What do you remember?")
    send_answers({number: state.answers[key] for number, key in enumerate(KEYS) if key in state.answers})
    _show_score(state)
    columns = st.columns(2, gap="large")
    for number, (key, question) in enumerate(zip(KEYS, QUIZ, strict=True)):
        with columns[number * 2 // len(QUIZ)], st.container(border=True, key=f"box-{key}"):
            st.caption(f"Question {number + 1} of {len(QUIZ)}")
            ask(question, key, {}, state)


def score(state: Learning) -> tuple[int, int]:
    """Right answers and answers given."""
    given = {key: state.answers[key] for key in KEYS if key in state.answers}
    right = sum(given.get(key) == question.right for key, question in zip(KEYS, QUIZ, strict=True))
    return right, len(given)


def _show_score(state: Learning) -> None:
    right, given = score(state)
    if not given:
        st.markdown(
            f"{in_words(len(QUIZ)).capitalize()} questions. Each answer is explained as soon as you choose. Your "
            f"answers stay in this browser tab until you close it; the server does not save them."
        )
        return
    line = f"**{right} of {given} right so far.**" if given < len(QUIZ) else f"**{right} of {len(QUIZ)} right.**"
    with st.container(horizontal=True, vertical_alignment="center", key="score"):
        st.markdown(f"{line} {_comment(right) if given == len(QUIZ) else ''}")
        st.button("Try again", key="quiz-try-again", on_click=_forget, args=(state,))


def _comment(right: int) -> str:
    if right == len(QUIZ):
        return "You could explain it to the person next to you."
    if right >= len(QUIZ) * 0.7:
        return "You have understood the idea. The explanations below show what was missing."
    return "Go through the story once more: its pictures explain more than these questions."


def _forget(state: Learning) -> None:
    state.touched = True
    for key in KEYS:
        state.answers.pop(key, None)
