"""What the Learn page says, as data: the story, the quiz, the vocabulary, the questions everyone asks.

It knows no screen: how a page draws it is in ui/learn.
Begin with story.py, then facts.py.
"""
