"""specviz: speculative decoding made visible. What the rest of the world calls is named here.

Importing the package imports neither torch nor transformers; the first use of a decoder or model does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace, read_trace

if TYPE_CHECKING:
    from specviz.core.verdict import summary
    from specviz.decoding import (
        ModelDrafter,
        PromptLookupDrafter,
        autoregressive_decode,
        iter_speculative_decode,
        make_drafter,
        speculative_decode,
    )
    from specviz.models.loading import load_model
    from specviz.player.offline import show

_LATER = {
    "ModelDrafter": "specviz.decoding",
    "PromptLookupDrafter": "specviz.decoding",
    "autoregressive_decode": "specviz.decoding",
    "iter_speculative_decode": "specviz.decoding",
    "make_drafter": "specviz.decoding",
    "speculative_decode": "specviz.decoding",
    "load_model": "specviz.models.loading",
    "show": "specviz.player.offline",
    "summary": "specviz.core.verdict",
}

__version__ = "1.0.0"  # as in pyproject.toml

__all__ = [
    "DecodeSettings",
    "InputError",
    "ModelDrafter",
    "PromptLookupDrafter",
    "Trace",
    "__version__",
    "autoregressive_decode",
    "iter_speculative_decode",
    "load_model",
    "make_drafter",
    "read_trace",
    "show",
    "speculative_decode",
    "summary",
]


def __getattr__(name: str) -> Any:
    """Import what needs torch when it is first asked for."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Also what is imported later, so that it can be found by completion."""
    return sorted({*globals(), *__all__})
