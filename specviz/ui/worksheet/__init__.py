"""The Worksheet page."""
