"""The page "Learn": the story, methods, load, the quiz, words and questions. Begin with learn_page.py."""
