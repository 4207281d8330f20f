"""A text of a page without the explanations of its words."""

import re

EXPLANATION = re.compile(
    r'<button type="button" class="explained"[^>]*>(.*?)</button><span class="explanation".*?</span>'
)


def without_explanations(text: str) -> str:
    """The text with each explained word as a plain word again."""
    return EXPLANATION.sub(r"\1", text)
