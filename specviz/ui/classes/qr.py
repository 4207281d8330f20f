"""A link as a QR code."""

from functools import lru_cache
from html import escape

import segno

MOST_CHARACTERS = 600  # a longer link makes a picture that phones cannot read from a projector


@lru_cache(maxsize=64)
def qr_code(link: str) -> str:
    """The QR code as an image for HTML: SVG, black on white in dark mode too; empty where the link is too long.

    It is a data URI, since Streamlit takes SVG out of HTML. Of the link it holds only dark and light squares.
    """
    if len(link) > MOST_CHARACTERS:
        return ""
    picture = segno.make_qr(link, error="m").svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True)
    return f'<img class="qr" src="{escape(picture)}" alt="QR code of the link {escape(link)}">'
