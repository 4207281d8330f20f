"""The stage: the moving picture of one run, and the data it draws."""
