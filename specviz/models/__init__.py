"""Models: which ship with specviz, how one is loaded, and whether two fit together. Importing it imports no torch."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specviz.models.loaded_model import LoadedModel
    from specviz.models.loading import load_model

__all__ = ["LoadedModel", "load_model"]


def __getattr__(name: str) -> Any:
    """Import torch and transformers only when a model is needed: the web server never needs one."""
    if name in __all__:
        from specviz.models import loading

        return getattr(loading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
