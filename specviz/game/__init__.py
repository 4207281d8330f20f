"""Be the draft: the plan of a game, its words and its score. No model and no screen."""
