"""What a visitor wants raced, as a race's link and back. Pure."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

from pydantic import Field, SkipValidation

from specviz.core.prompts import prompt_problem
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.page_link import DIGITS, ZERO_OR_ONE, Params, one_of, unique
from specviz.data.permalink import SettingsLink, left_out_of_link, link_of
from specviz.data.workloads import WORKLOADS, find_preset
from specviz.measure.race import MAX_PROMPTS, MAX_REPEATS, RacePrompt

DEFAULT_PRESETS = ("story-1", "code-2", "structured-1", "random-1")
DEFAULT_REPEATS = 5
NO_PROMPT = "No prompt is chosen: pick at least one, or write one."
PRESET_NAMES = [preset.name for workload in WORKLOADS for preset in workload.prompts]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a visitor wants raced; the request's own prompt means nothing."""

    request: RunRequest = field(default_factory=lambda: RunRequest("", settings=DecodeSettings(stop_at_eos=False)))
    presets: tuple[str, ...] = DEFAULT_PRESETS
    own: str = ""  # one prompt a line
    repeats: int = DEFAULT_REPEATS

    @property
    def prompts(self) -> list[RacePrompt]:
        """Presets first, then the visitor's own lines; blank lines are left out."""
        chosen = [RacePrompt(name, preset.text) for name in self.presets if (preset := find_preset(name))]
        lines = [line for line in self.own.splitlines() if line.strip()]
        return chosen + [RacePrompt(f"own-{number}", line) for number, line in enumerate(lines, start=1)]

    @property
    def tokens(self) -> int:
        """How many each decoder writes at most: prompts × repeats × tokens."""
        return len(self.prompts) * self.repeats * self.request.settings.max_new_tokens

    @property
    def problem(self) -> str | None:
        """One sentence that says why this cannot be raced; None when it can."""
        too_long = prompt_problem(self.own) if self.own.strip() else None
        if too_long:
            return too_long
        prompts = self.prompts
        if not prompts:
            return NO_PROMPT
        if len(prompts) > MAX_PROMPTS:
            return f"A race takes at most {MAX_PROMPTS} prompts, not {len(prompts)}."
        found = ((prompt.name, prompt_problem(prompt.text)) for prompt in prompts)
        return next((f"{name}: {problem}" for name, problem in found if problem), None)


class RaceLink(SettingsLink):
    """The address of a race: a run's settings, several presets, and the race's own settings."""

    LEFT_OUT: ClassVar[str] = "The link names a {name} that is not known here: leaving it out."

    preset: Annotated[tuple[Annotated[str, one_of(PRESET_NAMES)], ...], unique(most=len(PRESET_NAMES))] = ()
    prompt: SkipValidation[str] = ""  # one a line; `Entry.problem` says what is wrong with it
    repeats: Annotated[int, DIGITS, Field(ge=1, le=MAX_REPEATS, description=f"a number from 1 to {MAX_REPEATS}")] = (
        DEFAULT_REPEATS
    )
    same_length: Annotated[bool, ZERO_OR_ONE, Field(description="0 or 1")] = True


def link_of_entry(entry: Entry) -> dict[str, str | list[str]]:
    """The address's parameters, every setting among them: a run's, but with several presets, and the race's own."""
    link = link_of(entry.request)
    link.pop("prompt", None)
    own = {"prompt": entry.own} if entry.own.strip() and left_out_of_link(entry.own) is None else {}
    stops = {"repeats": str(entry.repeats), "same_length": "0" if entry.request.settings.stop_at_eos else "1"}
    return {"preset": list(entry.presets), **own, **link, **stops}


def entry_from_link(params: Params, known_models: Collection[str]) -> tuple[Entry, list[str]]:
    """What an address asks for, and a line for each part of it that fell back to the default."""
    link, problems = RaceLink.read(params, context=frozenset(known_models))
    presets = link.preset or (() if link.prompt.strip() else DEFAULT_PRESETS)
    request = link.request("")
    request = replace(request, settings=replace(request.settings, stop_at_eos=not link.same_length))
    return Entry(request, presets, link.prompt, link.repeats), problems
