"""How models are named on screen: a folder by its last part, and a pair as draft → target."""

from specviz.core.trace import Trace

FOLDERS = ("/", "~", "./", "../")  # how the name of a folder begins; the id of a model on the Hub begins otherwise


def short_name(name: str) -> str:
    """The name; of a folder or a file only the last part, because a reader elsewhere has other folders."""
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or name if is_path(name) else name


def is_path(name: str) -> bool:
    """Whether it names a folder or a file by its form, whether or not there is one."""
    path = name.replace("\\", "/")
    return path.startswith(FOLDERS) or path[1:3] == ":/"


def pair_name(trace: Trace) -> str:
    """Draft → target."""
    draft = trace.drafter.asked_as if trace.drafter else "no draft"
    return f"{short_name(draft)} → {short_name(trace.target.name)}"
