"""Lesson plans, of this app and of whoever runs the server: what a teacher shows, asks and expects, read from YAML.

Nothing in a file is trusted: size, depth, types, lengths and links are checked. The file is read as a tree of texts (no
objects are made), so that every error has its line, and all errors of a file come at once.
"""

import logging
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

import yaml
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo
from yaml.reader import Reader

from specviz.core.errors import InputError
from specviz.core.files import TEXTS, content_of
from specviz.core.languages import Entries, cache_by_language, current_language, translation
from specviz.core.operator_settings import operator_setting
from specviz.core.texts import Sentences, join_choices, node_at, repeated, translate
from specviz.core.trace import Trace
from specviz.data.lessons.facts import facts_of
from specviz.data.lessons.recorded_runs import RUNS, STORY, linked_trace
from specviz.data.links.hidden import PARAMETER, VIEWS, hidden_in, unknown_line
from specviz.data.links.page_link import shown
from specviz.data.links.page_names import PAGES, page_name
from specviz.data.links.permalink import RunLink
from specviz.data.measured.first_run import first_trace

say = Sentences("plans")

WATCH = "watch"
FIRST = "first"  # the recorded run of the first screen, in links
# of the page's address, not of a screen; on Learn `lesson` is a step of its story
OF_A_WALK = ("moment", "notes")
MAX_LINK = 8_000  # characters; many servers refuse longer addresses
MAX_FIELDS = 60  # parameters of a link
MAX_TEXT, MAX_TITLE = 1_000, 80  # characters
MAX_MINUTES = 240
STORED = re.compile("[0-9a-f]{16}")  # the id of a run that a server keeps
FOLDER = TEXTS / "lessons"
OWN = ("ten-minutes", "fifty-minutes")
MOST_PLANS = 50  # of the folder that the operator names
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")  # of a plan, in links and as its file's name
MAX_BYTES = 64_000
MAX_DEPTH = 4  # of lists and fields inside each other; a plan has three
MAX_GOALS, MAX_MOMENTS = 10, 30
MAX_PROBLEMS = 30  # that are said
PLAIN_TAG = re.compile(r"!|tag:yaml\.org,2002:(str|int|float|bool|null|timestamp|map|seq)")
PLAN_FIELDS = "title, minutes, goals, moments"
FIGURE = re.compile(r"\{(\w+)\}")
WITH_FIGURES = ("question", "answer", "mistakes", "do")  # a moment's texts that may name one
MOMENT_FIELDS = "title, minutes, link, question, answer, mistakes, do"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Screen:
    page: str  # one of PAGES
    settings: tuple[tuple[str, str], ...]  # the address's parameters, in order; one may come several times

    @classmethod
    def from_link(cls, link: str) -> Self:
        """The screen that a link of this app opens. The message of a ValueError is a sentence."""
        odd = any(character.isspace() or not character.isprintable() or character == "\\" for character in link)
        try:
            parts = urlsplit(link[:MAX_LINK])
            settings = tuple(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=MAX_FIELDS))
        except ValueError as error:
            raise ValueError(say("write_link")) from error
        if odd or len(link) > MAX_LINK or parts.scheme or parts.netloc or parts.fragment or link.startswith("//"):
            raise ValueError(say("write_link"))
        page = page_name(parts.path.removeprefix("./").removeprefix("/") or WATCH)
        if page is None:
            raise ValueError(say("no_page", pages=join_choices([*PAGES], "and")))
        return cls(page, settings)

    @property
    def link(self) -> str:
        """Relative to the app: Watch is "./"."""
        query = urlencode(self.settings, safe=",")
        return f"./{'' if self.page == WATCH else self.page}{'?' * bool(query)}{query}"

    @property
    def params(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, value in self.settings:
            found.setdefault(name, []).append(value)
        return found

    @property
    def hides(self) -> frozenset[str]:
        """Names of controls that it takes away."""
        return hidden_in(self.params.get(PARAMETER, []))[0]

    def last(self, name: str) -> str | None:
        return next((value for given, value in reversed(self.settings) if given == name), None)

    @property
    def run(self) -> Trace | None:
        """The recorded run that it shows; None where it shows another one, or none."""
        name = self.last("run") or ""
        if self.page != WATCH:
            return None
        return first_trace() if name == FIRST else linked_trace(name)

    @property
    def step(self) -> int:
        """Where the playhead stands: three steps a round (guesses, check, result), from 0."""
        given = self.last("step") or ""
        return int(given) if given.isascii() and given.isdecimal() else 0

    def problems(self, known_models: Collection[str] | None = None) -> list[str]:
        """One sentence for each setting that Watch could not use; no `known_models`: any name of a model is taken."""
        named = [say("not_for_a_moment", name=name) for name in OF_A_WALK if self.last(name)]
        if self.page != WATCH:
            return named
        params = self.params
        models = [*params.get("target", []), *params.get("draft", [])] if known_models is None else known_models
        problems = [*named, *RunLink.read(params, context=frozenset(models))[1]]
        view, run = self.last("view"), self.last("run")
        if view is not None and view not in VIEWS:
            problems.append(say("no_view", view=shown(view), known=join_choices([*VIEWS], "and")))
        if run is not None and not run[:1].isdecimal() and self.run is None and not STORED.fullmatch(run):
            problems.append(say("no_run", run=shown(run)))
        unknown = hidden_in(params.get(PARAMETER, []))[1]
        return [*problems, unknown_line(unknown)] if unknown else problems


def _join_lines(given: object) -> object:
    return " ".join(given.split()) if isinstance(given, str) else given


def _whole_minutes(given: object) -> int:
    if isinstance(given, str) and re.fullmatch("[0-9]{1,3}", given) and 1 <= int(given) <= MAX_MINUTES:
        return int(given)
    raise ValueError(say("minutes", most=MAX_MINUTES))


def _opened(link: object, info: ValidationInfo) -> Screen:
    """The screen of a link in a file; the context has the names of the known models."""
    if not isinstance(link, str) or not link.strip():
        raise ValueError(say("write_link"))
    screen = Screen.from_link(link.strip())
    if problems := screen.problems(info.context):
        raise ValueError("\n".join(problems))
    return screen


ShortText = Annotated[str, Field(min_length=1, max_length=MAX_TEXT), BeforeValidator(_join_lines)]
Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE), BeforeValidator(_join_lines)]
Minutes = Annotated[int, BeforeValidator(_whole_minutes)]


@dataclass(frozen=True, slots=True)
class Moment:
    title: Title
    minutes: Minutes
    screen: Annotated[Screen, BeforeValidator(_opened), Field(validation_alias="link")]
    question: ShortText  # to the room
    answer: ShortText
    mistakes: ShortText = ""  # what students usually get wrong; empty where nothing is said
    do: ShortText = ""  # what to click; empty where nothing is said


class PlanError(InputError):
    def __init__(self, problems: list[str]) -> None:
        more = len(problems) - MAX_PROBLEMS
        self.problems = problems[:MAX_PROBLEMS] + ([say("more_problems", count=more)] if more > 0 else [])
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan as its file has it."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    title: Title
    minutes: Minutes
    goals: Annotated[tuple[ShortText, ...], Field(min_length=1, max_length=MAX_GOALS)]
    moments: Annotated[tuple[Moment, ...], Field(min_length=1, max_length=MAX_MOMENTS)]


@dataclass(frozen=True, slots=True)
class LessonPlan(PlanFile):
    name: str = ""  # in links: its file's name


_FILE = TypeAdapter(PlanFile)


def read_plan_file(path: Path, known_models: Collection[str] | None = None) -> LessonPlan:
    """The plan in a file; its name in links is the file's name without the ending. InputError: it is none."""
    return parse_plan(content_of(path, MAX_BYTES), path.stem, known_models)


def parse_plan(
    data: bytes,
    name: str,
    known_models: Collection[str] | None = None,
    translated: Entries | None = None,
) -> LessonPlan:
    """The plan in these bytes of YAML; PlanError with all problems. No `known_models`: any name of a model."""
    node, content = _tree(data, translated or {})
    found = [(_line(key), say("twice", line=_line(key), name=key.value[:30])) for key in repeated(node)]
    try:
        read = _FILE.validate_python(content, context=known_models)
    except ValidationError as error:
        every = error.errors(include_url=False)  # a list is also too short where no item is without a problem
        told = [each for each in every if each["type"] != "too_short" or not each["input"]]
        found += [problem for each in told for problem in _problems(node, each)]
    if found:
        raise PlanError([said for _, said in sorted(found, key=lambda problem: problem[0])])
    together = sum(moment.minutes for moment in read.moments)
    if together > read.minutes:
        raise PlanError([say("too_many_minutes", count=together, minutes=read.minutes)])
    return LessonPlan(read.title, read.minutes, read.goals, tuple(map(_fill_figures, read.moments)), name)


def _fill_figures(moment: Moment) -> Moment:
    """With the figures of its recorded run, where its texts name one, as in {speedup}. Other braces stay."""
    run = (moment.screen.last("run") or "").removeprefix(STORY)
    if run not in RUNS:
        return moment

    def figure(match: re.Match[str]) -> str:
        return facts_of(run).get(match[1], match[0])

    texts: dict[str, Any] = {name: FIGURE.sub(figure, getattr(moment, name)) for name in WITH_FIGURES}
    return replace(moment, **texts)


class _Loader(yaml.BaseLoader):
    """Refuses what a plan has not before a tree is made of it: deep nesting, aliases, tags, escaped control signs."""

    depth = 0

    def get_event(self) -> yaml.Event:
        event: yaml.Event = super().get_event()  # type: ignore[no-untyped-call]
        self.depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        named = isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None)
        if self.depth > MAX_DEPTH or named or not PLAIN_TAG.fullmatch(getattr(event, "tag", None) or "!"):
            raise PlanError([say("too_deep", line=event.start_mark.line + 1 if event.start_mark else 1)])
        if isinstance(event, yaml.ScalarEvent) and Reader.NON_PRINTABLE.search(event.value):
            raise PlanError([say("no_utf8")])
        return event


def _tree(data: bytes, translated: Entries) -> tuple[yaml.Node, Any]:
    """The nodes of a file, and what is in them: every value is a text."""
    if len(data) > MAX_BYTES:
        raise PlanError([say("too_large", most=MAX_BYTES)])
    try:
        loader = _Loader(data.decode("utf-8-sig"))
        node = loader.get_single_node()
        translate(node, translated)
        content = loader.construct_document(node) if node else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = (error.problem or "?").splitlines()[0][:120]
        raise PlanError([say("no_yaml_at", line=mark.line + 1 if mark else 1, problem=said)]) from error
    except PlanError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: no UTF-8, and "\UFFFFFFFF"
        raise PlanError([say("no_utf8")]) from error
    if node is None:
        raise PlanError([say("empty")])
    return node, content


def _problems(node: yaml.Node, error: Any) -> list[tuple[int, str]]:
    """What pydantic found at one place: the line, and a sentence for each problem there."""
    loc, line = error["loc"], _line(node_at(node, error["loc"]))
    name, fields = str(loc[-1])[:30] if loc else "", MOMENT_FIELDS if len(loc) > 1 else PLAN_FIELDS
    place = say("at", line=line)
    match error["type"]:
        case "missing":
            said = say("missing", name=name)
        case "extra_forbidden" | "unexpected_keyword_argument":
            said = say("unknown_field", name=name, fields=fields)
        case kind:
            if loc and isinstance(loc[-1], str):
                place = say("at_field", line=line, field=name)
            said = str(error["msg"]).removeprefix("Value error, ")
            if kind == "dataclass_type":
                said = say("write_fields", fields=fields)
            elif kind in ("string_type", "string_too_short"):
                said = say("write_text")
            elif kind in ("tuple_type", "too_short"):
                said = say("write_list")
            elif kind in ("string_too_long", "too_long"):
                said = say("long_text", count=len(error["input"]), most=error["ctx"]["max_length"])
    return [(line, f"{place}: {one}") for one in said.split("\n")]


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


@cache_by_language
def all_plans() -> tuple[LessonPlan, ...]:
    """The app's plans, then the server's, by name. A file that is no plan is left out and logged; read once."""
    plans = dict[str, LessonPlan]()
    for name in OWN:
        translated = translation(TEXTS, f"lessons/{name}", current_language())
        plans[name] = parse_plan(content_of(FOLDER / f"{name}.yaml", MAX_BYTES), name, translated=translated)
    folder = operator_setting("SPECVIZ_LESSONS")
    for path in sorted(Path(folder).glob("*.yaml"))[:MOST_PLANS] if folder else []:
        try:
            if not NAME.fullmatch(path.stem):
                raise InputError("A plan's file is named with up to 40 of a to z, 0 to 9 and hyphens.")
            plans.setdefault(path.stem, read_plan_file(path))
        except InputError as error:
            _log.error("%s is left out: %s", path, str(error).replace("\n", " "))
    return tuple(plans.values())


def find_plan(name: str) -> LessonPlan | None:
    return next((plan for plan in all_plans() if plan.name == name), None)
