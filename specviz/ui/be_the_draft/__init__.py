"""The page "Be the draft". Begin with be_the_draft_page.py."""
