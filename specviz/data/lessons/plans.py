"""The lesson plans of this app and of whoever runs the server, and the reader of a plan's YAML file.

Nothing in a file is trusted: size, depth, types, lengths and links are checked. The file is read as a tree of texts
(PyYAML's safe loader, no objects are made), so that every error has its line, and all errors of a file come at once.
"""

import logging
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from specviz.core.errors import InputError
from specviz.core.files import ASSETS, content_of
from specviz.data.lessons.plan import Moment, Plan, Screen

FOLDER = ASSETS / "lessons"
OWN = ("ten-minutes", "fifty-minutes")
VARIABLE = "SPECVIZ_LESSONS"  # names a folder of plans for everyone
MOST_PLANS = 50  # of that folder
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")  # of a plan, in links and as its file's name
MAX_BYTES = 64_000
MAX_DEPTH = 4  # of lists and fields inside each other; a plan has three
MAX_TEXT = 1_000  # characters
MAX_TITLE = 80
MAX_GOALS, MAX_MOMENTS, MAX_MINUTES = 10, 30, 240
MAX_PROBLEMS = 30  # that are said
PLAIN_TAGS = {
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq")
}

_log = logging.getLogger(__name__)


class PlanError(InputError):
    def __init__(self, problems: list[str]) -> None:
        more = len(problems) - MAX_PROBLEMS
        self.problems = problems[:MAX_PROBLEMS] + ([f"There are {more} more problems."] if more > 0 else [])
        super().__init__("\n".join(self.problems))


def read_plan_file(path: Path, known_models: Collection[str] | None = None) -> Plan:
    """The plan in a file; its name in links is the file's name without the ending. InputError: it is none."""
    return parse_plan(content_of(path, MAX_BYTES), path.stem, known_models)


def parse_plan(data: bytes, name: str, known_models: Collection[str] | None = None) -> Plan:
    """The plan in these bytes of YAML; PlanError with all problems. No `known_models`: any name of a model."""
    reader = _Reader(known_models)
    plan = reader.plan(_tree(data), name)
    if reader.problems or plan is None:
        raise PlanError(reader.problems)
    return plan


def _tree(data: bytes) -> yaml.Node:
    if len(data) > MAX_BYTES:
        raise PlanError([f"The file has more than {MAX_BYTES:,} bytes. A plan is a few kilobytes of text."])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError(["The file is not text in UTF-8. Save it with that encoding."]) from error
    try:
        _refuse_what_a_plan_has_not(text)
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise PlanError([_not_yaml(error)]) from error
    except PlanError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: "\UFFFFFFFF"
        raise PlanError(["The file has a character that YAML does not allow."]) from error
    if not isinstance(node, yaml.Node):
        raise PlanError(["The file is empty."])
    return node


def _refuse_what_a_plan_has_not(text: str) -> None:
    """Deep nesting and aliases, before a tree is made of them."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1 if event.start_mark else 0
        if depth > MAX_DEPTH:
            raise PlanError([f"Line {line}: lists are nested too deeply for a plan."])
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise PlanError([f"Line {line}: a plan has no anchors (&) and aliases (*). Put such a text into quotes."])


def _not_yaml(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"Line {mark.line + 1}" if mark else "The file"
    said = (error.problem or "it cannot be read").splitlines()[0][:120]
    return f"{where}: this is not YAML ({said}). A text that holds a colon or begins with a sign needs quotes."


@dataclass(slots=True)
class _Reader:
    """Takes a tree apart and notes every problem on the way; what is wrong reads as empty."""

    known_models: Collection[str] | None
    problems: list[str] = field(default_factory=list)

    def plan(self, node: yaml.Node, name: str) -> Plan | None:
        fields = self._fields(node, "", ("title", "minutes", "goals", "moments"))
        if fields is None:
            return None
        title, minutes = self._text(fields, "", "title", MAX_TITLE), self._minutes(fields, "")
        goals = [self._scalar(item, f"goal {at}", MAX_TEXT) for at, item in self._items(fields, "goals", MAX_GOALS)]
        moments = [self._moment(item, f"moment {at}") for at, item in self._items(fields, "moments", MAX_MOMENTS)]
        together = sum(moment.minutes for moment in moments if moment)
        if minutes and together > minutes:
            said = f"The moments take {together} minutes together, and the plan's “minutes” says {minutes}."
            self.problems.append(said)
        return Plan(name, title, minutes, tuple(goals), tuple(moment for moment in moments if moment))

    def _moment(self, node: yaml.Node, place: str) -> Moment | None:
        needed, others = ("title", "minutes", "link", "question", "answer"), ("mistakes", "do")
        fields = self._fields(node, place, needed, others)
        if fields is None:
            return None
        texts = {name: self._text(fields, place, name, MAX_TEXT) for name in ("question", "answer", *others)}
        title, minutes = self._text(fields, place, "title", MAX_TITLE), self._minutes(fields, place)
        return Moment(title, minutes, self._screen(fields, place), **texts)

    def _screen(self, fields: dict[str, yaml.Node], place: str) -> Screen:
        screen, link = Screen.of("./"), fields.get("link")
        text = self._scalar(link, f"{place}, “link”", 10_000) if link else ""
        if not link or not text:
            return screen
        try:
            screen = Screen.of(text)
        except ValueError as error:
            self._note(link, f"{place}, “link”", f"the link {error}.")
        for problem in screen.problems(self.known_models):
            self._note(link, f"{place}, “link”", problem)
        return screen

    def _minutes(self, fields: dict[str, yaml.Node], place: str) -> int:
        node, named = fields.get("minutes"), f"{place}, “minutes”" if place else "“minutes”"
        text = self._scalar(node, named, 20) if node else ""
        if not node or not text:
            return 0
        if re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= MAX_MINUTES:
            return int(text)
        self._note(node, named, f"write a whole number from 1 to {MAX_MINUTES}.")
        return 0

    def _text(self, fields: dict[str, yaml.Node], place: str, name: str, longest: int) -> str:
        named = f"{place}, “{name}”" if place else f"“{name}”"
        return self._scalar(fields[name], named, longest) if name in fields else ""

    def _scalar(self, node: yaml.Node, place: str, longest: int) -> str:
        """A text on one line, whatever YAML takes it for: 10, yes and 2026-01-01 are texts here."""
        if not isinstance(node, yaml.ScalarNode):
            self._note(node, place, "write a text here, not a list and not fields.")
            return ""
        if node.tag not in PLAIN_TAGS:
            self._note(node, place, "a plan has no tags (!).")
        text = " ".join(str(node.value).split())
        if not text:
            self._note(node, place, "it is empty.")
        if len(text) > longest:
            self._note(node, place, f"the text has {len(text):,} characters, and {longest:,} is the most.")
        return text

    def _items(self, fields: dict[str, yaml.Node], name: str, most: int) -> Iterator[tuple[int, yaml.Node]]:
        node = fields.get(name)
        if node is None:
            return
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self._note(node, f"“{name}”", "write a list here: each item on lines of its own, after a hyphen.")
        elif len(node.value) > most:
            self._note(node, f"“{name}”", f"the list has {len(node.value)} items, and {most} is the most.")
        else:
            yield from enumerate(node.value, start=1)

    def _fields(
        self, node: yaml.Node, place: str, needed: tuple[str, ...], others: tuple[str, ...] = ()
    ) -> dict[str, yaml.Node] | None:
        if not isinstance(node, yaml.MappingNode) or node.tag not in PLAIN_TAGS:
            self._note(node, place, f"write fields here: {', '.join((*needed, *others))}.")
            return None
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if name in found:
                self._note(key, place, f"“{name}” is there twice.")
            elif name not in (*needed, *others):
                listed = ", ".join((*needed, *others))
                self._note(key, place, f"“{name[:30]}” is not a field of a plan here. The fields are {listed}.")
            else:
                found[name] = value
        for name in needed:
            if name not in found:
                self._note(node, place, f"“{name}” is missing.")
        return found

    def _note(self, node: yaml.Node, place: str, said: str) -> None:
        where = f"Line {node.start_mark.line + 1}" + (f", {place}" if place else "")
        self.problems.append(f"{where}: {said}")


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
