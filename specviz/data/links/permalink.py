"""Permalinks: a run request as the parameters of a page's address, and back.

A link writes every setting, so that it outlives a changed default. Reading one trusts nothing: what is unknown or
impossible falls back to the default, with one line that says so.
"""

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, SkipValidation, ValidationInfo, create_model

from specviz.core.drafters import canonical, exit_layers, named
from specviz.core.errors import InputError
from specviz.core.request import (
    DEFAULT_DRAFT,
    DEFAULT_TARGET,
    SHOWN,
    RunRequest,
    prompt_problem,
    unlocked,
)
from specviz.core.settings import MAX_SEED_OFFERED, NO_TREE, Setting, resize_tree
from specviz.data.links.page_link import (
    DIGITS,
    REAL_NUMBER,
    ZERO_OR_ONE,
    PageLink,
    Params,
    expecting,
    explain_left_out,
    shown,
    written,
)
from specviz.data.prompts.workloads import DEFAULT_PRESET, find_preset
from specviz.data.texts import page_texts

SAYS = page_texts("links")
MAX_SEED = MAX_SEED_OFFERED
MAX_STEP = 100_000  # of the playhead
VARIED = ("draft_length", "temperature", "draft_schedule")  # settings of which a sweep's link has several values


def _known_target(name: str, info: ValidationInfo) -> str:
    if info.context is not None and name not in info.context:  # without one the name comes from the page's own menu
        raise ValueError("not known here")
    return name


def _known_draft(name: str, info: ValidationInfo) -> str:
    exit_layers(name)
    return canonical(name) if named(name) else _known_target(name, info)


Target = Annotated[str, AfterValidator(_known_target)]  # the context holds the names of the known models
DraftName = Annotated[str, AfterValidator(_known_draft)]
Seed = Annotated[int, DIGITS, Field(ge=0, le=MAX_SEED)]


def link_type(row: Setting) -> Any:
    if row.choices:
        return Literal[row.choices]
    if row.kind is str:
        return Annotated[str, AfterValidator(lambda text: _checked(row, text))]
    if row.kind is bool:
        return Annotated[bool, ZERO_OR_ONE]
    least, most = row.limits
    limits = {"gt" if row.above else "ge": least, "le": most}
    return Annotated[row.kind, DIGITS if row.kind is int else REAL_NUMBER, Field(**limits)]


def _checked(row: Setting, text: str) -> str:
    if row.check and row.taken(text) is not None:
        row.check(text)
    return text


def _expected(row: Setting) -> Callable[[], str]:
    return lambda: row.here.expected


def _add_settings(base: type[PageLink], rows: Iterable[Setting]) -> type[PageLink]:
    fields: dict[str, Any] = {
        row.on_page: (
            link_type(row),
            expecting(_expected(row), default=row.shown(row.default), validation_alias=row.link),
        )
        for row in rows
    }
    return create_model(base.__name__, __base__=base, **fields)


if TYPE_CHECKING:

    class FixedLink(PageLink):
        """The settings that are not `VARIED`."""

    class _AllLink(FixedLink): ...
else:
    FixedLink = _add_settings(PageLink, [row for name, row in SHOWN.items() if name not in VARIED])
    _AllLink = _add_settings(FixedLink, [SHOWN[name] for name in VARIED])


class SettingsLink(_AllLink):
    """Models and settings of a run, as a link's parameters: `target`, `draft`, and `Setting.on_page` of every row."""

    target: Annotated[Target, expecting(lambda: SAYS["known"])] = DEFAULT_TARGET
    draft: Annotated[DraftName, expecting(lambda: SAYS["known"])] = DEFAULT_DRAFT

    @classmethod
    def read(cls, params: Params, default: Self | None = None, context: object = None) -> tuple[Self, list[str]]:
        """See `PageLink.read`. A tree that does not go with the other settings is left out, with a line."""
        link, problems = super().read(params, default, context)
        try:
            link.request()  # a tree is checked against the other settings when they are made
        except InputError as error:
            problems.append(SAYS["no_tree"].format(problem=str(error).removesuffix(".")))
            link = link.model_copy(update={"tree": NO_TREE})
        return link, problems

    @classmethod
    def of(cls, request: RunRequest, **more: Any) -> Self:
        """What asks for the models and settings of this request; `more` are the other fields."""
        return cls(target=request.target, draft=request.draft, **request.shown(), **more)

    def request(self, prompt: str = "") -> RunRequest:
        return RunRequest.from_shown(prompt, self.target, self.draft, dict(self))

    def fitted(self) -> Self:
        held = {name: round(value, 4) if isinstance(value, float) else value for name, value in self}
        shown = unlocked(held)
        if shown["tree"] != NO_TREE:
            shown["tree"] = resize_tree(shown["tree"], shown["gamma"])
        return self.model_copy(update=shown)


class RunLink(SettingsLink):
    INSTEAD: ClassVar[dict[str, str]] = {"step": "refused_step", "run": "refused_run"}

    prompt: SkipValidation[str | None] = None  # any text, half a character too: `chosen_prompt` says what is wrong
    preset: SkipValidation[str | None] = None
    step: Annotated[int | None, DIGITS, expecting(lambda: SAYS["a_step"].format(most=MAX_STEP), ge=0, le=MAX_STEP)] = (
        None  # the playhead
    )
    run: Annotated[str | None, expecting(lambda: SAYS["a_run"], pattern=r"^([0-9a-f]{16}|[a-z][a-z-]{0,30})$")] = None

    def chosen_prompt(self) -> tuple[str, str | None, list[str]]:
        """The prompt, its preset's name where it has one, and what was wrong; a prompt's own text goes first."""
        text, preset = self.prompt, find_preset(self.preset) if self.preset else None
        problems = []
        if text is not None and preset and preset.text != text:
            problems.append(SAYS["two_prompts"])
        if text is not None:
            problem = prompt_problem(text)
            if problem is None:
                return text, preset.name if preset and preset.text == text else None, problems
            problems.append(SAYS["preset_instead"].format(problem=problem, preset=DEFAULT_PRESET.name))
        elif preset:
            return preset.text, preset.name, problems
        elif self.preset is not None:
            unknown = {"asked": shown(self.preset), "preset": DEFAULT_PRESET.name}
            problems.append(SAYS["unknown_preset"].format(**unknown))
        return DEFAULT_PRESET.text, DEFAULT_PRESET.name, problems


class LinkedRun(NamedTuple):
    request: RunRequest
    step: int | None  # the playhead; None where the link names none
    preset: str | None  # the preset the prompt came from
    problems: list[str]  # one line for each part that fell back; names and values in it are plain characters
    run: str | None = None  # the id of a stored run, or the name of a recorded one


def link_of(
    request: RunRequest, step: int | None = None, preset: str | None = None, run: str | None = None
) -> dict[str, str]:
    """The link's parameters, every setting among them; `preset` stands for the prompt while it holds that text."""
    chosen = find_preset(preset) if preset else None
    is_preset = chosen is not None and chosen.text == request.prompt
    link: dict[str, object] = {"preset": preset} if is_preset else {}
    if not is_preset and explain_left_out(request.prompt) is None:
        link["prompt"] = request.prompt
    link |= {"target": request.target, "draft": request.draft}
    link |= {row.link: value for row, value in zip(SHOWN.values(), request.shown().values(), strict=True)}
    if step is not None:
        link["step"] = step
    if run is not None:
        link["run"] = run
    return {name: written(value) for name, value in link.items()}


def request_from_link(params: Params, known_models: Collection[str]) -> LinkedRun:
    """The run a page's address asks for. Prompt lookup is known without being one of the `known_models`."""
    link, problems = RunLink.read(params, context=frozenset(known_models))
    prompt, preset, more = link.chosen_prompt()
    return LinkedRun(link.request(prompt), link.step, preset, [*problems, *more], link.run)
