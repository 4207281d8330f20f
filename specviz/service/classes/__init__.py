"""Classes: students join with a code, and their rounds and quiz answers arrive on one board. In memory only."""
