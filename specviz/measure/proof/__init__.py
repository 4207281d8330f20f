"""The proof that speculative output is the target's own: rules by name, counts, and statistics on the counts."""
