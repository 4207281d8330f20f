"""Drafters: where the guesses of a round come from. `protocol` says what a drafter must do; each other file is one."""
