"""The lesson plans of this app and of whoever runs the server, and the reader of a plan's YAML file.

Nothing in a file is trusted: size, depth, types, lengths and links are checked. The file is read as a tree of texts (no
objects are made), so that every error has its line, and all errors of a file come at once.
"""

import logging
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.files import ASSETS, content_of
from specviz.data.lessons.plan import Line, Minutes, Moment, Plan, Title
from specviz.data.texts import node_at, repeated

FOLDER = ASSETS / "lessons"
OWN = ("ten-minutes", "fifty-minutes")
VARIABLE = "SPECVIZ_LESSONS"  # names a folder of plans for everyone
MOST_PLANS = 50  # of that folder
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")  # of a plan, in links and as its file's name
MAX_BYTES = 64_000
MAX_DEPTH = 4  # of lists and fields inside each other; a plan has three
MAX_GOALS, MAX_MOMENTS = 10, 30
MAX_PROBLEMS = 30  # that are said
PLAIN_TAG = re.compile(r"!|tag:yaml\.org,2002:(str|int|float|bool|null|timestamp|map|seq)")
PLAN_FIELDS = "title, minutes, goals, moments"
MOMENT_FIELDS = "title, minutes, link, question, answer, mistakes, do"
FIELDS = "write fields here: {fields}."
UNKNOWN = "“{name}” is not a field of a plan here. The fields are {fields}."
SAID = {
    "missing": "“{name}” is missing.",
    "extra_forbidden": UNKNOWN,
    "unexpected_keyword_argument": UNKNOWN,
    "dataclass_type": FIELDS,
    "string_type": "write a text here, not a list and not fields.",
    "string_too_short": "it is empty.",
    "string_too_long": "the text has {length:,} characters, and {max_length:,} is the most.",
}

_log = logging.getLogger(__name__)


class PlanError(InputError):
    def __init__(self, problems: list[str]) -> None:
        more = len(problems) - MAX_PROBLEMS
        self.problems = problems[:MAX_PROBLEMS] + ([f"There are {more} more problems."] if more > 0 else [])
        super().__init__("\n".join(self.problems))


def _at_most(most: int) -> BeforeValidator:
    """Counts a list before anything is made of it."""

    def counted(items: object) -> object:
        if not isinstance(items, list) or not items:
            raise ValueError("write a list here: each item on lines of its own, after a hyphen.")
        if len(items) > most:
            raise ValueError(f"the list has {len(items)} items, and {most} is the most.")
        return items

    return BeforeValidator(counted)


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan without its name, which is the file's."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    title: Title
    minutes: Minutes
    goals: Annotated[tuple[Line, ...], _at_most(MAX_GOALS)]
    moments: Annotated[tuple[Moment, ...], _at_most(MAX_MOMENTS)]


_FILE = TypeAdapter(PlanFile)


def read_plan_file(path: Path, known_models: Collection[str] | None = None) -> Plan:
    """The plan in a file; its name in links is the file's name without the ending. InputError: it is none."""
    return parse_plan(content_of(path, MAX_BYTES), path.stem, known_models)


def parse_plan(data: bytes, name: str, known_models: Collection[str] | None = None) -> Plan:
    """The plan in these bytes of YAML; PlanError with all problems. No `known_models`: any name of a model."""
    node, content = _tree(data)
    found = [(_line(key), f"Line {_line(key)}: “{key.value[:30]}” is there twice.") for key in repeated(node)]
    try:
        read = _FILE.validate_python(content, context=known_models)
    except ValidationError as error:
        found += [problem for each in error.errors(include_url=False) for problem in _problems(node, each)]
    if found:
        raise PlanError([said for _, said in sorted(found, key=lambda problem: problem[0])])
    together = sum(moment.minutes for moment in read.moments)
    if together > read.minutes:
        said = f"The moments take {together} minutes together, and the plan's “minutes” says {read.minutes}."
        raise PlanError([said])
    return Plan(name, read.title, read.minutes, read.goals, read.moments)


def _tree(data: bytes) -> tuple[yaml.Node, Any]:
    """The nodes of a file, and what is in them: every value is a text."""
    if len(data) > MAX_BYTES:
        raise PlanError([f"The file has more than {MAX_BYTES:,} bytes. A plan is a few kilobytes of text."])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError(["The file is not text in UTF-8. Save it with that encoding."]) from error
    try:
        _refuse_what_a_plan_has_not(text)
        loader = yaml.BaseLoader(text)
        node = loader.get_single_node()
        content = loader.construct_document(node) if node else None
    except yaml.MarkedYAMLError as error:
        raise PlanError([_not_yaml(error)]) from error
    except PlanError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: "\UFFFFFFFF"
        raise PlanError(["The file has a character that YAML does not allow."]) from error
    if node is None:
        raise PlanError(["The file is empty."])
    return node, content


def _refuse_what_a_plan_has_not(text: str) -> None:
    """Deep nesting, aliases and tags, before a tree is made of them."""
    depth = 0
    for event in yaml.parse(text, yaml.BaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1 if event.start_mark else 0
        if depth > MAX_DEPTH:
            raise PlanError([f"Line {line}: lists are nested too deeply for a plan."])
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise PlanError([f"Line {line}: a plan has no anchors (&) and aliases (*). Put such a text into quotes."])
        if not PLAIN_TAG.fullmatch(getattr(event, "tag", None) or "!"):
            raise PlanError([f"Line {line}: a plan has no tags (!)."])


def _not_yaml(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"Line {mark.line + 1}" if mark else "The file"
    said = (error.problem or "it cannot be read").splitlines()[0][:120]
    return f"{where}: this is not YAML ({said}). A text that holds a colon or begins with a sign needs quotes."


def _problems(node: yaml.Node, error: Any) -> list[tuple[int, str]]:
    """What pydantic found at one place: the line, and a sentence for each problem there."""
    loc, line = error["loc"], _line(node_at(node, error["loc"]))
    fields = MOMENT_FIELDS if len(loc) > 1 else PLAN_FIELDS
    said = SAID.get(error["type"], "")
    place = ", ".join(filter(None, (f"Line {line}", *_place(loc[:-1] if "{name}" in said else loc))))
    if not said:
        return [(line, f"{place}: {one}") for one in error["msg"].removeprefix("Value error, ").split("\n")]
    known = {"name": str(loc[-1])[:30] if loc else "", "fields": fields, "length": len(error["input"] or "")}
    return [(line, f"{place}: {said.format(**known, **error.get('ctx', {}))}")]


def _place(loc: Sequence[Any]) -> tuple[str, str]:
    """Whose field, and which: ("moments", 0, "link") is “link” of moment 1."""
    whose = f"{loc[0].removesuffix('s')} {loc[1] + 1}" if len(loc) > 1 else ""
    return whose, f"“{loc[-1]}”" if len(loc) in (1, 3) else ""


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


@cache
def all_plans() -> tuple[Plan, ...]:
    """The app's plans, then the server's, by name. A file that is no plan is left out and logged; read once."""
    plans = {name: read_plan_file(FOLDER / f"{name}.yaml") for name in OWN}
    folder = os.environ.get(VARIABLE)
    for path in sorted(Path(folder).glob("*.yaml"))[:MOST_PLANS] if folder else []:
        try:
            if not NAME.fullmatch(path.stem):
                raise InputError("A plan's file is named with up to 40 of a to z, 0 to 9 and hyphens.")
            plans.setdefault(path.stem, read_plan_file(path))
        except InputError as error:
            _log.error("%s is left out: %s", path, str(error).replace("\n", " "))
    return tuple(plans.values())


def find_plan(name: str) -> Plan | None:
    return next((plan for plan in all_plans() if plan.name == name), None)
