"""Learn: a story in ten steps beside the stage, a quiz, the vocabulary, and the questions everyone asks."""

from specviz.views.learn import begin, show_story
from specviz.views.learn_quiz import show_quiz
from specviz.views.learn_why import show_whys
from specviz.views.learn_words import show_words
from specviz.views.look import inside_app

inside_app()
if state := begin():
    {"story": show_story, "quiz": show_quiz, "words": show_words, "why": show_whys}[state.part](state)
