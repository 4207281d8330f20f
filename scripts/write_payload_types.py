"""Writes assets/shared/payloads.d.ts: the types of what Python hands to the JavaScript, from the Python types.

    python scripts/write_payload_types.py

Run it after a change of a payload type; a test compares the file with what this script makes.
"""

import inspect
import sys
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from specviz.game.words import Fate  # noqa: E402
from specviz.player.offline_lesson import OfflineLesson  # noqa: E402
from specviz.player.payload import (  # noqa: E402
    CandidateRow,
    Chip,
    ChipStatus,
    FeedPayload,
    HeldRun,
    Phase,
    ReplayedRound,
    ShareRow,
    StageMount,
    StagePayload,
)
from specviz.ui.learn.roofline import RooflinePayload  # noqa: E402
from specviz.ui.learn.vocabulary import VocabularyPayload  # noqa: E402
from specviz.ui.play.board import PlayPayload  # noqa: E402
from specviz.ui.race.lanes import LaneStatus, RacePayload, Step  # noqa: E402
from specviz.ui.shared.figures import ChartPayload, Figure  # noqa: E402

FILE = ROOT / "assets/shared/payloads.d.ts"
HEAD = "// Made by scripts/write_payload_types.py from the Python types. Do not edit it.\n"
SIMPLE: dict[object, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Figure: "{ data: object[]; layout: Record<string, unknown> }",  # what is in them is plotly.js's business
}
NAMED: dict[str, Any] = {  # types that are no class: the name they have in Python
    "CandidateRow": CandidateRow,
    "Chip": Chip,
    "ChipStatus": ChipStatus,
    "Fate": Fate,
    "LaneStatus": LaneStatus,
    "Phase": Phase,
    "PlayPayload": PlayPayload,
    "ReplayedRound": ReplayedRound,
    "ShareRow": ShareRow,
    "Step": Step,
}
ROOTS = (
    StagePayload,
    StageMount,
    HeldRun,
    FeedPayload,
    RacePayload,
    PlayPayload,
    VocabularyPayload,
    RooflinePayload,
    ChartPayload,
    OfflineLesson,
)


def payload_types() -> str:
    """The file's text: every type that the components' payloads are made of, by name."""
    found: dict[str, str] = {name: f"export type {name} = {_union_or_other(kind)};\n" for name, kind in NAMED.items()}
    waiting = [*ROOTS, *NAMED.values()]
    while waiting:
        kind = waiting.pop()
        if kind in SIMPLE:
            continue
        if _has_fields(kind) and kind.__name__ not in found:
            found[kind.__name__] = _interface(kind)
            waiting += get_type_hints(kind).values()
        else:
            waiting += [part for part in get_args(kind) if not isinstance(part, str)]
    return "\n".join([HEAD, *(found[name] for name in sorted(found))])


def _interface(kind: Any) -> str:
    """A TypedDict or a dataclass as an interface, with its docstring where it has one."""
    made = f"{kind.__name__}("  # so begins the docstring that a dataclass without one gets
    said = "" if (kind.__doc__ or made).startswith(made) else kind.__doc__
    lines = [f" * {line}".rstrip() for line in inspect.cleandoc(said).splitlines()]
    comment = ["/**", *lines, " */"] if lines else []
    optional: frozenset[str] = getattr(kind, "__optional_keys__", frozenset())
    fields = [
        f"  {name}{'?' if name in optional else ''}: {_typescript(hint)};"
        for name, hint in get_type_hints(kind).items()
    ]
    return "\n".join([*comment, f"export interface {kind.__name__} {{", *fields, "}", ""])


def _has_fields(kind: Any) -> bool:
    return is_typeddict(kind) or is_dataclass(kind)


def _typescript(kind: Any) -> str:
    """A Python type as TypeScript, by its name where it has one.

    Raises:
        TypeError: JSON has no such type, or it is not a precise one.
    """
    names = [name for name, named in NAMED.items() if named == kind]
    return names[0] if names else _union_or_other(kind)


def _union_or_other(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if kind in SIMPLE:
        return SIMPLE[kind]
    if _has_fields(kind):
        return str(kind.__name__)
    if origin is Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(_typescript(part) for part in parts))
    if origin is tuple and ... not in parts:
        return f"[{', '.join(_typescript(part) for part in parts)}]"
    if origin is list:
        return f"Array<{_typescript(parts[0])}>"
    if origin is dict and parts[0] is str:
        return f"Record<string, {_typescript(parts[1])}>"
    raise TypeError(f"{kind} has no type in a payload")


if __name__ == "__main__":
    FILE.write_text(payload_types(), encoding="utf-8")
    print(f"Wrote {FILE.relative_to(ROOT)}.")
