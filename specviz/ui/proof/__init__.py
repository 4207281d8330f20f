"""The page "Same quality"."""
