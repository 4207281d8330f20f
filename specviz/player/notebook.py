"""`specviz.show(trace)`: a run inside a notebook, played by the page that works offline.

The page stands in an iframe as text (`srcdoc`), so it needs no server, no network and no package of the notebook. It
works in Jupyter, in Colab and in editors that show notebooks.
"""

from dataclasses import dataclass, field
from html import escape

from specviz.core.errors import InputError
from specviz.core.names import short_name
from specviz.core.trace import Trace
from specviz.player.html_file import SCHEMES, Scheme
from specviz.player.offline import offline_page

HEIGHT = 720  # pixels; the stage of a run needs about as many


@dataclass(frozen=True, slots=True)
class NotebookView:
    """What a notebook draws where it is the value of a cell."""

    title: str
    page: str = field(repr=False)  # the HTML
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        """The page in a frame of its own. It may run its own script, and reach nothing outside."""
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="{escape(self.title)}" sandbox="allow-scripts" '
            f'width="100%" height="{self.height}" style="border: 0"></iframe>'
        )


def show(trace: Trace, theme: Scheme = "auto", height: int = HEIGHT) -> NotebookView:
    """Play a finished run in a notebook; the value must be the last one of its cell.

    Args:
        trace: the run, decoded here, read with `read_trace` or recorded.
        theme: "light" or "dark"; "auto" is what the browser prefers, which can differ from the notebook's own theme.
        height: of the frame, in pixels.

    Raises:
        InputError: the run has not ended, it is too large for a page, or an argument cannot be used.
    """
    if theme not in SCHEMES:
        raise InputError(f"theme must be {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}, not {theme!r}.")
    if height < 1:
        raise InputError(f"height must be at least 1 pixel, not {height}.")
    drafter = f" with {short_name(trace.drafter.name)}" if trace.drafter else ""
    return NotebookView(f"A run of {short_name(trace.target.name)}{drafter}", offline_page(trace, scheme=theme), height)
