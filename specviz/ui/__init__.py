"""The screens: a folder a page, and what pages share. The only code that imports Streamlit.

It calls no model: it asks the engine.
Begin with watch/watch_page.py.
"""
