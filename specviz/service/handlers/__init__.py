"""One module for each kind of job the engine does."""
