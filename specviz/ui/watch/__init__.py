"""The page "Watch", the first one. Begin with watch_page.py."""
