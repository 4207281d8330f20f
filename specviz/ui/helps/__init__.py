"""The page "When it helps"."""
