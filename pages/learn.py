"""Learn: a story in ten steps beside the stage, a quiz, the vocabulary, and the questions everyone asks."""

from specviz.ui.learn.faq import show_whys
from specviz.ui.learn.page import begin, show_story
from specviz.ui.learn.quiz import show_quiz
from specviz.ui.learn.vocabulary import show_words
from specviz.ui.shared.theme import inside_app

inside_app()
if state := begin():
    {"story": show_story, "quiz": show_quiz, "words": show_words, "why": show_whys}[state.part](state)
