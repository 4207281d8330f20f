"""What pages say in whole sentences: captions, helps, and in words what a figure or a table shows.

The texts are in assets/texts/pages.yaml.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated

from pydantic import Field

from specviz.data.texts import FOLDER, read_texts

PAGES_FILE = FOLDER / "pages.yaml"
PageTexts = dict[str, dict[str, Annotated[str, Field(min_length=1)]]]  # by part, then by name


@cache
def _parts() -> PageTexts:
    return read_texts(PAGES_FILE, PageTexts).content


def page_texts(part: str) -> Mapping[str, str]:
    """The texts of one part of the file, by name. What a text has in braces is filled in by the page."""
    return _parts()[part]
