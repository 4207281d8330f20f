"""Models: which ship with specviz, how one is loaded, and whether two fit together. Importing it imports no torch."""
