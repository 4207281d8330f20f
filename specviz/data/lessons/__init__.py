"""What the Learn page says, as data: the story, the quiz, the vocabulary, the questions everyone asks."""
