"""The stage: the moving picture of one run, and its feed."""
