"""Be the draft: the plan of a game, its words, messages and score. No model, no Streamlit."""
