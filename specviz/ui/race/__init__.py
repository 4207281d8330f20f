"""The page "Race". Begin with race_page.py."""
