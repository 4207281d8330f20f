"""A lesson: walking its moments on the projected page, the presenter's notes, and what a teacher prepares."""
