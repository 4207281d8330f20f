"""A lesson: its moments, the presenter's notes, what a teacher prepares. Begin with place.py."""
