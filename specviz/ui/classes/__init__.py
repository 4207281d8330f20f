"""The page "Class board", and what Be the draft and Learn show of a class. Begin with classes_page.py."""
