"""A lesson plan as data: what a teacher shows, asks and expects. `plans` reads one from YAML, into these types."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import BeforeValidator, Field, ValidationInfo

from specviz.core.trace import Trace
from specviz.data.first_run import first_trace
from specviz.data.hidden import PARAMETER, hidden_in, unknown_line
from specviz.data.lessons.recorded_runs import linked_trace
from specviz.data.page_link import shown
from specviz.data.permalink import request_from_link

WATCH = "watch"
PAGES = (WATCH, "learn", "race", "helps", "worksheet", "proof", "play", "class")
VIEWS = ("simple", "full", "projector", "stage")
FIRST = "first"  # the recorded run of the first screen, in links
# of the page's address, not of a screen; on Learn `lesson` is a step of its story
OF_A_WALK = ("moment", "notes")
MAX_LINK = 8_000  # characters; many servers refuse longer addresses
MAX_FIELDS = 60  # parameters of a link
MAX_TEXT, MAX_TITLE = 1_000, 80  # characters
MAX_MINUTES = 240
STORED = re.compile("[0-9a-f]{16}")  # the id of a run that a server keeps


@dataclass(frozen=True, slots=True)
class Screen:
    page: str  # one of PAGES
    settings: tuple[tuple[str, str], ...]  # the address's parameters, in order; one may come several times

    @classmethod
    def of(cls, link: str) -> Self:
        """The screen that a link of this app opens. The message of a ValueError is the end of a sentence."""
        if len(link) > MAX_LINK:
            raise ValueError(f"is longer than {MAX_LINK:,} characters")
        if any(character.isspace() or not character.isprintable() or character == "\\" for character in link):
            raise ValueError("has a space, a backslash or an invisible character: write %20 for a space")
        try:
            parts = urlsplit(link)
            settings = tuple(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=MAX_FIELDS))
        except ValueError as error:
            raise ValueError("cannot be read as a link") from error
        if parts.scheme or parts.netloc or link.startswith("//"):
            raise ValueError("leads out of this app: write what follows the host's name, such as ./?run=first&step=4")
        page = parts.path.removeprefix("./").removeprefix("/") or WATCH
        if page not in PAGES:
            raise ValueError(f"names no page of this app: the pages are ./ (Watch), {', '.join(PAGES[1:])}")
        if parts.fragment:
            raise ValueError("has a part after #, which no page reads")
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
        named = [f"{name} is not for a moment's link: leave it out." for name in OF_A_WALK if self.last(name)]
        if self.page != WATCH:
            return named
        params = self.params
        models = [*params.get("target", []), *params.get("draft", [])] if known_models is None else known_models
        problems = [*named, *request_from_link(params, models).problems]
        view, run = self.last("view"), self.last("run")
        if view is not None and view not in VIEWS:
            problems.append(f"view={shown(view)} is not one of {', '.join(VIEWS)}.")
        if run is not None and not run[:1].isdecimal() and self.run is None and not STORED.fullmatch(run):
            problems.append(f"run={shown(run)} is not a recorded run.")
        unknown = hidden_in(params.get(PARAMETER, []))[1]
        return [*problems, unknown_line(unknown)] if unknown else problems


def _on_one_line(given: object) -> object:
    return " ".join(given.split()) if isinstance(given, str) else given


def _whole_minutes(given: object) -> int:
    if isinstance(given, str) and re.fullmatch("[0-9]{1,3}", given) and 1 <= int(given) <= MAX_MINUTES:
        return int(given)
    raise ValueError(f"write a whole number from 1 to {MAX_MINUTES}.")


def _opened(link: object, info: ValidationInfo) -> Screen:
    """The screen of a link in a file; the context has the names of the known models."""
    if not isinstance(link, str) or not link.strip():
        raise ValueError("write a link here, such as ./?run=first&step=4.")
    try:
        screen = Screen.of(link.strip())
    except ValueError as error:
        raise ValueError(f"the link {error}.") from error
    if problems := screen.problems(info.context):
        raise ValueError("\n".join(problems))
    return screen


Line = Annotated[str, Field(min_length=1, max_length=MAX_TEXT), BeforeValidator(_on_one_line)]
Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE), BeforeValidator(_on_one_line)]
Minutes = Annotated[int, BeforeValidator(_whole_minutes)]


@dataclass(frozen=True, slots=True)
class Moment:
    title: Title
    minutes: Minutes
    screen: Annotated[Screen, BeforeValidator(_opened), Field(validation_alias="link")]
    question: Line  # to the room
    answer: Line
    mistakes: Line = ""  # what students usually get wrong; empty where nothing is said
    do: Line = ""  # what to click; empty where nothing is said


@dataclass(frozen=True, slots=True)
class Plan:
    name: str  # in links
    title: str
    minutes: int
    goals: tuple[str, ...]
    moments: tuple[Moment, ...]
