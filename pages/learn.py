"""Learn: a story in ten steps beside the stage, a quiz, the vocabulary, and frequent questions."""

from specviz.ui.learn.faq import show_faq
from specviz.ui.learn.page import begin, show_story
from specviz.ui.learn.quiz import show_quiz
from specviz.ui.learn.vocabulary import show_vocabulary
from specviz.ui.shared.theme import inside_app

inside_app()
if state := begin():
    {"story": show_story, "quiz": show_quiz, "words": show_vocabulary, "why": show_faq}[state.part](state)
