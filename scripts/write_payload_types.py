"""Write assets/browser/dist/payloads.d.ts, the types of what Python hands to the JavaScript, from the Python types.

python -m scripts.write
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from specviz.core import rounds
from specviz.core.files import BROWSER
from specviz.core.replay import DraftGuesses
from specviz.core.trace import Trace
from specviz.data.lessons.story import Phase
from specviz.figures.parts import Figure
from specviz.game.words import Fate
from specviz.player import payload
from specviz.player.offline import OfflineLesson
from specviz.ui.be_the_draft.board import PlayPayload
from specviz.ui.learn.roofline import RooflinePayload
from specviz.ui.learn.vocabulary import VocabularyPayload
from specviz.ui.race.lanes import LaneStatus, LaneStep, RacePayload
from specviz.ui.shared.parts import ChartPayload

FILE = BROWSER / "dist/payloads.d.ts"
HEAD = """// Made by scripts/write_payload_types.py from the Python types. Do not edit it.

export * from "../trace/drawn.js";
"""
SIMPLE: dict[object, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Figure: "{ data: object[]; layout: Record<string, unknown> }",  # what is in them is plotly.js's business
}
NAMED: dict[str, Any] = {  # types that are no class: the name they have in Python
    "Added": rounds.TargetStatus,
    "ChipStatus": payload.ChipStatus,
    "Fate": Fate,
    "LaneStatus": LaneStatus,
    "Phase": Phase,
    "PlayPayload": PlayPayload,
    "ShareRow": payload.ShareRow,
    "Status": rounds.Status,
    "LaneStep": LaneStep,
}
AS_JSON: dict[object, type] = {
    payload.TraceJson: Trace,
    payload.RoundJson: rounds.Round,
    payload.DraftGuessesJson: DraftGuesses,
}
ROOTS = (
    *(payload.SentStage, payload.StageMount, payload.HeldRun, payload.FeedPayload, RacePayload, PlayPayload),
    *(VocabularyPayload, RooflinePayload, ChartPayload, OfflineLesson),
)


def pages() -> dict[Path, str]:
    """Every type that the components' payloads are made of, by name."""
    found: dict[str, str] = {name: f"export type {name} = {_union_or_other(kind)};\n" for name, kind in NAMED.items()}
    waiting = [*ROOTS, *NAMED.values()]
    while waiting:
        kind = waiting.pop()
        kind = AS_JSON.get(kind, kind)
        if kind in SIMPLE:
            continue
        if not _has_fields(kind):
            waiting += [part for part in get_args(kind) if not isinstance(part, str)]
        elif kind.__name__ not in found:
            found[kind.__name__] = _declared(kind)
            waiting += get_type_hints(kind).values()
    return {FILE: "\n".join([HEAD, *(found[name] for name in sorted(found))])}


def _has_fields(kind: Any) -> bool:
    return is_typeddict(kind) or is_dataclass(kind) or kind in (rounds.Candidate, rounds.ResidualCandidate)


def _declared(kind: Any) -> str:
    """A TypedDict or a dataclass as an interface; a named tuple as a tuple."""
    hints = get_type_hints(kind)
    if issubclass(kind, tuple):
        parts = [f"{name}: {_typescript(hint)}" for name, hint in hints.items()]
        return f"export type {kind.__name__} = [{', '.join(parts)}];\n"
    named = [field.name for field in fields(kind)] if is_dataclass(kind) else list(hints)
    lines = [f"  {name}{'?' if _is_optional(kind, name) else ''}: {_typescript(hints[name])};" for name in named]
    return "\n".join([f"export interface {kind.__name__} {{", *lines, "}", ""])


def _is_optional(kind: Any, name: str) -> bool:
    """Whether the JSON can be without it: a field that is not required, or that a file leaves out.

    Of the parts of rounds, what has its default is left out, see `player/data.py`.
    """
    if is_typeddict(kind):
        return name in kind.__optional_keys__
    if kind in (rounds.DraftedToken, rounds.EmittedToken):
        return name not in {field.name for field in fields(kind) if field.default is field.default_factory is MISSING}
    hint = get_type_hints(kind, include_extras=True)[name]
    return any(getattr(each, "exclude_if", None) for each in getattr(hint, "__metadata__", ()))


def _typescript(kind: Any) -> str:
    """A Python type as TypeScript, by its name where it has one. TypeError: JSON has no such type, or a vague one."""
    return next((name for name, named in NAMED.items() if named == kind), None) or _union_or_other(kind)


def _union_or_other(kind: Any) -> str:
    kind = AS_JSON.get(kind, kind)
    origin, parts = get_origin(kind), get_args(kind)
    if kind in SIMPLE:
        return SIMPLE[kind]
    if _has_fields(kind):
        return str(kind.__name__)
    if origin is Literal:
        return " | ".join(json.dumps(part) for part in parts)
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(_typescript(part) for part in parts))
    if origin is tuple and ... not in parts:
        return f"[{', '.join(_typescript(part) for part in parts)}]"
    if origin in (list, tuple):
        return f"Array<{_typescript(parts[0])}>"
    if origin in (dict, Mapping) and parts[0] in (str, int):  # JSON writes a number as a name too
        return f"Record<string, {_typescript(parts[1])}>"
    raise TypeError(f"{kind} has no type in a payload")
