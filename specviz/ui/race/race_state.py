"""What a visitor wants raced, as a link and back; which race is on screen, and how it got there. No drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from pydantic import Field, SkipValidation

from specviz.core.files import ASSETS, read_once
from specviz.core.request import MAX_PROMPT_CHARACTERS, RunRequest, prompt_problem
from specviz.data.links.page_link import DIGITS, ZERO_OR_ONE, Params, expecting, one_of, unique, within
from specviz.data.links.permalink import SettingsLink
from specviz.data.prompts.workloads import ALL_WORKLOADS, find_preset
from specviz.data.texts import page_texts
from specviz.measure.paired import Comparison
from specviz.measure.race import MAX_PROMPTS, MAX_REPEATS, RacePrompt, parse_race
from specviz.service.job import Items
from specviz.service.protocol import Race
from specviz.ui.shared.job_slot import JobSlot
from specviz.ui.shared.persistent_widgets import Widget

DEFAULT_PRESETS = ("story-1", "code-2", "structured-1", "random-1")
DEFAULT_REPEATS = 5
SAYS = page_texts("race")
PRESET_NAMES = [preset.name for workload in ALL_WORKLOADS for preset in workload.prompts]


class RaceEntry(SettingsLink):
    """What a visitor wants raced, as the link and the widgets hold it."""

    presets: Annotated[
        tuple[Annotated[str, one_of(PRESET_NAMES)], ...],
        unique(most=len(PRESET_NAMES)),
        Field(validation_alias="preset"),
        Widget("multiselect"),
    ] = DEFAULT_PRESETS
    # one prompt a line; `problem` says what is wrong with it
    own: Annotated[SkipValidation[str], Field(validation_alias="prompt"), Widget("text_area")] = ""
    repeats: Annotated[int, DIGITS, within(1, MAX_REPEATS), Widget("slider")] = DEFAULT_REPEATS
    same_length: Annotated[
        bool, ZERO_OR_ONE, expecting(lambda: page_texts("links")["zero_or_one"]), Widget("checkbox")
    ] = True

    @classmethod
    def read(cls, params: Params, default: Self | None = None, context: object = None) -> tuple[Self, list[str]]:
        """See `PageLink.read`. A link with prompts of its own and no presets has no presets."""
        entry, problems = super().read(params, default, context)
        alone = entry.own.strip() and "presets" not in entry.model_fields_set
        return entry.model_copy(update={"presets": ()}) if alone else entry, problems

    def request(self, prompt: str = "") -> RunRequest:
        request = super().request(prompt)
        return replace(request, settings=replace(request.settings, stop_at_eos=not self.same_length))

    @property
    def prompts(self) -> list[RacePrompt]:
        """Presets first, then the visitor's own lines; blank lines are left out."""
        chosen = [RacePrompt(name, preset.text) for name in self.presets if (preset := find_preset(name))]
        own = self.own[: MAX_PROMPT_CHARACTERS + 1]  # `problem` refuses more, and many lines take much memory
        lines = [line for line in own.splitlines() if line.strip()]
        return chosen + [RacePrompt(f"own-{number}", line) for number, line in enumerate(lines, start=1)]

    @property
    def all_tokens(self) -> int:
        return len(self.prompts) * self.repeats * self.request().settings.max_new_tokens

    @property
    def problem(self) -> str | None:
        if self.own.strip() and (too_long := prompt_problem(self.own)):
            return too_long
        prompts = self.prompts
        if not prompts:
            return SAYS["no_prompt"]
        if len(prompts) > MAX_PROMPTS:
            return SAYS["many_prompts"].format(most=MAX_PROMPTS, count=len(prompts))
        found = ((prompt.name, prompt_problem(prompt.text)) for prompt in prompts)
        return next(
            (SAYS["prompt_problem"].format(name=name, problem=problem) for name, problem in found if problem), None
        )


RECORDED, RECORDED_ID = ASSETS / "traces" / "race.json", "recorded"


@dataclass(slots=True)
class RaceState:
    started: RaceEntry | None = None  # what was last raced, or is being raced
    slot: JobSlot[Items[Comparison]] = field(default_factory=lambda: JobSlot("race", Items))
    laps: list[Comparison] = field(default_factory=list)  # the visitor's own; the recorded race stands beside them
    raced: RaceEntry | None = None  # what those laps are of
    own_id: str = "live"  # of those laps
    in_lanes: str = ""  # which race plays; empty: the first of those shown
    places: dict[str, float] = field(default_factory=dict)  # where the playback's clock was left, by race
    message: str = ""  # why there is nothing newer
    finished: str = ""  # how the last race ended, where not all of it was run

    def start(self, entry: RaceEntry) -> None:
        self.started, self.message, self.finished = entry, "", ""
        self.slot.start(lambda job: Race(job, entry.request(), entry.prompts, entry.repeats))

    def refresh(self) -> bool:
        """True once it is over, and its results are shown."""
        if ended := self.slot.refresh():
            self._update()
        return ended

    def look(self) -> bool:
        before = len(self.so_far)
        self.refresh()
        return len(self.so_far) > before

    def shown(self) -> dict[str, list[Comparison]]:
        both = {self.own_id: self.laps, RECORDED_ID: recorded_race()}
        return {run_id: laps for run_id, laps in both.items() if laps}

    @property
    def so_far(self) -> Sequence[Comparison]:
        return self.slot.result.items if self.slot.result else ()

    def _update(self) -> None:
        slot, asked = self.slot, self.started
        assert asked is not None
        laps = list(self.so_far)
        self.message = slot.message if slot.state == "failed" else self.message
        if slot.state in ("failed", "cancelled", "lost"):
            shown = SAYS["some_shown" if laps else "none_shown"].format(done=len(laps), total=len(asked.prompts))
            self.finished = shown if slot.state == "failed" else f"{SAYS[slot.state]} {shown}"
        if laps:
            self.laps, self.raced, self.own_id = laps, asked, f"live-{slot.job}"
            self.in_lanes, self.places = "", {}


@read_once("No recorded race for the first screen", otherwise=[])
def recorded_race() -> list[Comparison]:
    """The race made by `scripts.record race`; empty where it is missing or damaged."""
    return parse_race(RECORDED.read_text(encoding="utf-8"))
