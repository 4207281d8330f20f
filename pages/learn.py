"""Learn: a story in steps beside the stage, the family of methods, latency and throughput, a quiz, words, questions."""

from specviz.ui.learn.family import show_family
from specviz.ui.learn.learn_page import begin
from specviz.ui.learn.questions import keep_answers, show_faq, show_quiz
from specviz.ui.learn.roofline import show_roofline
from specviz.ui.learn.story import show_story
from specviz.ui.learn.vocabulary import show_vocabulary
from specviz.ui.lesson.lesson_page import show_teachers
from specviz.ui.shared.theme import inside_app

PARTS = {
    "story": show_story,
    "methods": show_family,
    "load": show_roofline,
    "quiz": show_quiz,
    "words": show_vocabulary,
    "why": show_faq,
    "teach": show_teachers,
}

inside_app()
state = begin()
keep_answers(state)
PARTS[state.part](state)
