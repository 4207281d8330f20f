"""The page "Same quality". Begin with same_quality_page.py."""
