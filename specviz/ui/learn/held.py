"""The answers that the visitor's browser tab holds, so that a reload does not lose them."""

import json

from specviz.data.lessons.quiz import QUIZ
from specviz.data.lessons.steps import STEPS
from specviz.ui.learn.quiz import KEYS
from specviz.ui.learn.state import Learning
from specviz.ui.session import session
from specviz.ui.shared.kept import keep

OPTIONS = {f"step-{step.name}": len(step.question.options) for step in STEPS} | {
    key: len(question.options) for key, question in zip(KEYS, QUIZ, strict=True)
}  # how many each question has


def hold_answers(state: Learning) -> None:
    """Put the answers into the tab; where the visitor has given none, ask for those of before a reload."""
    wanted = json.dumps(state.answers) if state.answers else "" if state.touched else None
    keep("answers", wanted, _bring_back)


def _bring_back(text: str) -> None:
    state = session().learn
    if not state.touched:
        state.answers = read_answers(text)


def read_answers(text: str) -> dict[str, int]:
    """The answers in what a browser sent; what is not an answer to a question of this page is left out."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(given, dict):
        return {}
    return {key: number for key, number in given.items() if type(number) is int and 0 <= number < OPTIONS.get(key, 0)}
