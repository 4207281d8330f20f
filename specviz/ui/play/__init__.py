"""The page "Be the draft"."""
