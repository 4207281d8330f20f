"""The page "Worksheet". Begin with worksheet_page.py."""
