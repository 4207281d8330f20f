"""Learn: a story in steps beside the stage, the family of methods, a quiz, the vocabulary, and frequent questions."""

from specviz.ui.learn.family import show_family
from specviz.ui.learn.faq import show_faq
from specviz.ui.learn.held import hold_answers
from specviz.ui.learn.page import begin, show_story
from specviz.ui.learn.quiz import show_quiz
from specviz.ui.learn.vocabulary import show_vocabulary
from specviz.ui.lesson.teachers import show_teachers
from specviz.ui.shared.theme import inside_app

PARTS = {
    "story": show_story,
    "methods": show_family,
    "quiz": show_quiz,
    "words": show_vocabulary,
    "why": show_faq,
    "teach": show_teachers,
}

inside_app()
if state := begin():
    hold_answers(state)
    PARTS[state.part](state)
