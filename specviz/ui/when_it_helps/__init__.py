"""The page "When it helps": sweeps and drafts, measured here or recorded. Begin with when_it_helps_page.py."""
