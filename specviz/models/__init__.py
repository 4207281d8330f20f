"""Models: which ship with specviz, how one is loaded, and whether two fit together.

It knows no decoding loop. Importing it imports no torch.
Begin with catalogue.py, then llama.py.
"""
