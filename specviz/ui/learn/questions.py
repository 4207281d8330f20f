"""Learn's questions: those to predict, the quiz at the story's end, and the frequent ones with their answers."""

import json
from html import escape
from urllib.parse import urlencode

import streamlit as st

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.core.texts import Facts, fill, join_choices, spell_count
from specviz.data.lessons.glossary import explained
from specviz.data.lessons.questions import FaqEntry, answer_facts, faq
from specviz.data.lessons.story import Question, quiz, steps
from specviz.data.links.permalink import link_of
from specviz.data.texts import page_texts
from specviz.measure.proof.rows import recorded_proof
from specviz.ui.classes.membership import send_answers
from specviz.ui.learn.learn_page import LearnState, paragraph
from specviz.ui.session import session
from specviz.ui.shared.components import keep
from specviz.ui.shared.parts import Options, button

SAYS = page_texts("learn")
MOST_ANSWERS = 10_000  # characters; all questions together take 300


def show_question(question: Question, key: str, facts: Facts, state: LearnState) -> None:
    given = state.answers.get(key)
    asked = explained(fill(question.text.choose(state.words), facts), f"{key}-question", state.words)
    st.markdown(f"**{asked}**", unsafe_allow_html=True)
    texts = [fill(option.text.choose(state.words), facts) for option in question.options]
    texts = [f"{text[:1].upper()}{text[1:]}" for text in texts]  # an option may start with a number in words
    if given is None:
        for number, text in enumerate(texts):
            button(text, f"{key}-{number}", _answer, key, number, width="stretch", wrap=True)
        return
    lines = ""
    for number, text in enumerate(texts):
        right, yours = number == question.right, number == given
        answer = f"right_answer{'_yours' * yours}" if right else "your_answer" * yours
        mark = SAYS[answer] if answer else ""
        lines += f'<li class="{"right" if right else "other"}">{escape(text)} <em>{mark}</em></li>'
    st.html(f'<ul class="marked-options">{lines}</ul>')
    with st.container(key=f"reveal-{key}"):
        meaning = fill(question.options[given].meaning.choose(state.words), facts)
        if given == question.right:
            st.success(SAYS["right"].format(meaning=meaning), icon=":material/check:")
        else:
            st.info(SAYS["not_quite"].format(meaning=meaning), icon=":material/lightbulb:")
            st.markdown(fill(question.options[question.right].meaning.choose(state.words), facts))
    button(SAYS["answer_again"], f"{key}-again", _forget, key, type="tertiary")


def _answer(key: str, number: int) -> None:
    state = session().of(LearnState)
    state.answers[key], state.touched = number, True


def _forget(*keys: str) -> None:
    state = session().of(LearnState)
    state.touched = True
    for key in keys:
        state.answers.pop(key, None)


def quiz_questions() -> dict[str, Question]:
    return {f"quiz-{number}": question for number, question in enumerate(quiz(), start=1)}


def show_quiz(state: LearnState) -> None:
    st.markdown(f"## {SAYS['quiz_title']}")
    asked = quiz_questions()
    answers = {number: state.answers[key] for number, key in enumerate(asked) if key in state.answers}
    send_answers(answers)
    questions, given = [*asked.values()], len(answers)
    if not given:
        st.markdown(SAYS["quiz"].format(questions=spell_count(len(asked)).capitalize()))
    else:
        line = SAYS["right_of_all" if given == len(asked) else "right_so_far"]
        right = sum(questions[number].right == answer for number, answer in answers.items())
        with st.container(horizontal=True, vertical_alignment="center", key="score"):
            st.markdown(line.format(right=right, given=given))
            button(SAYS["quiz_again"], "quiz-try-again", _forget, *asked)
    columns = st.columns(2, gap="large")
    for number, (key, question) in enumerate(asked.items()):
        with columns[number * 2 // len(asked)], st.container(border=True, key=f"box-{key}"):
            st.caption(SAYS["quiz_question"].format(number=number + 1, count=len(asked)))
            show_question(question, key, {}, state)
    if given == len(asked):  # whoever has answered the last one is far below the first line
        st.markdown(line.format(right=right, given=given))


def keep_answers(state: LearnState) -> None:
    """Put the answers into the tab; where the visitor has given none, ask for those of before a reload."""

    def bring_back(text: str) -> None:
        if not session().of(LearnState).touched:
            session().of(LearnState).answers = read_answers(text)

    wanted = json.dumps(state.answers) if state.answers else "" if state.touched else None
    keep("answers", wanted, bring_back)


def read_answers(text: str) -> dict[str, int]:
    """The answers in what a browser sent; what is not an answer to a question of this page is left out."""
    try:
        given = json.loads(text[:MOST_ANSWERS])  # what is cut off is no JSON
    except (ValueError, RecursionError):
        return {}
    if not isinstance(given, dict):
        return {}
    asked = {f"step-{step.name}": step.question for step in steps()} | quiz_questions()
    options = {key: len(question.options) for key, question in asked.items()}
    return {key: number for key, number in given.items() if type(number) is int and 0 <= number < options.get(key, 0)}


def show_faq(_: LearnState) -> None:
    st.markdown(f"## {SAYS['why_title']}")
    columns = st.columns(2, gap="large")
    for number, entry in enumerate(faq().questions):
        with columns[number % 2], st.container(border=True, key=f"why-{entry.name}"):
            st.markdown(f"**{entry.question}**")
            answer = fill(entry.answer, answer_facts(entry.trace))
            paragraph(answer, f"why-{entry.name}")
            said = faq().sources[entry.source].format(machine=entry.machine)
            cited = join_choices([f"[{gain.source}]({gain.url}) ({gain.system})" for gain in entry.published], "and")
            st.caption(SAYS["published"].format(said=said, sources=cited) if cited else said)
            more: Options = {"icon": ":material/play_circle:", "key": f"run-{entry.name}"}
            st.link_button(entry.run_it, href(entry), **more)


def href(entry: FaqEntry) -> str:
    """The address of a question's button. The near-tie question leads to the recorded example."""
    proof = recorded_proof()
    if entry.name != "rounding" or proof is None:
        return entry.href
    row = proof.near_tie
    request = RunRequest(row.prompt, row.target, row.draft, DecodeSettings(draft_length=row.draft_length))
    return f"./{entry.page}?{urlencode(link_of(request))}"
