"""The screens: a folder a page, and what pages share. The only code that imports Streamlit."""
