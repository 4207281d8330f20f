"""Permalinks: a run request as the parameters of a page's address, and back.

A link writes every setting, so that it outlives a changed default. Reading one trusts nothing: what is unknown or
impossible falls back to the default, with one line that says so.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

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
    shown,
)
from specviz.data.prompts.workloads import DEFAULT_PRESET, OWN_TEXT, find_preset, preset_of
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
        row.link: (link_type(row), expecting(_expected(row), default=row.shown(row.default))) for row in rows
    }
    return create_model(base.__name__, __base__=base, **fields)


class _OldLink(PageLink):
    """What links had when pages offered another number format."""

    UNDRAWN: ClassVar[tuple[str, ...]] = ("dtype",)

    dtype: Annotated[Literal["exact"], expecting(lambda: "exact")] = "exact"

    def parameters(self) -> dict[str, str | list[str]]:
        """See `PageLink.parameters`."""
        return {name: value for name, value in super().parameters().items() if name != "dtype"}


if TYPE_CHECKING:

    class FixedLink(_OldLink):
        """The settings that are not `VARIED`."""

    class _AllLink(FixedLink): ...
else:
    FixedLink = _add_settings(_OldLink, [row for name, row in SHOWN.items() if name not in VARIED])
    _AllLink = _add_settings(FixedLink, [SHOWN[name] for name in VARIED])


class SettingsLink(_AllLink):
    """Models and settings of a run, as a link's parameters: `target`, `draft`, and `Setting.link` of every row."""

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
        return cls.model_construct(target=request.target, draft=request.draft, **request.shown(), **more)

    def request(self, prompt: str = "") -> RunRequest:
        return RunRequest.from_shown(prompt, self.target, self.draft, dict(self))

    def fitted(self) -> Self:
        # What is above 0 stays there: top_p must be, and a temperature of 0 is greedy.
        rounded = {name: max(round(value, 4), 1e-4) for name, value in self if isinstance(value, float) and value > 0}
        shown = unlocked(dict(self) | rounded)
        if shown["tree"] != NO_TREE:
            shown["tree"] = resize_tree(shown["tree"], shown["gamma"])
        return self.model_copy(update=shown)


class RunLink(SettingsLink):
    INSTEAD: ClassVar[dict[str, str]] = {"step": "refused_step", "run": "refused_run"}
    UNDRAWN: ClassVar = ("dtype", "step", "run")

    preset: SkipValidation[str] = DEFAULT_PRESET.name  # the one that the prompt is; or `OWN_TEXT`
    prompt: SkipValidation[str] = DEFAULT_PRESET.text  # any text, half a character too
    step: Annotated[int | None, DIGITS, expecting(lambda: SAYS["a_step"].format(most=MAX_STEP), ge=0, le=MAX_STEP)] = (
        None  # the playhead
    )
    # the id of a stored run, or the name of a recorded one
    run: Annotated[str | None, expecting(lambda: SAYS["a_run"], pattern=r"^([0-9a-f]{16}|[a-z][a-z-]{0,30})$")] = None

    @classmethod
    def read(cls, params: Params, default: Self | None = None, context: object = None) -> tuple[Self, list[str]]:
        """See `PageLink.read`. A prompt's own text goes before a preset; what is wrong with it is said."""
        link, problems = super().read(params, default, context)
        given, preset = link.model_fields_set, find_preset(link.preset)
        if "prompt" in given and "preset" in given and preset and preset.text != link.prompt:
            problems.append(SAYS["two_prompts"])
        text = preset.text if preset else DEFAULT_PRESET.text
        if "prompt" in given:
            text = link.prompt
            if problem := prompt_problem(text):
                problems.append(SAYS["preset_instead"].format(problem=problem, preset=DEFAULT_PRESET.name))
                text = DEFAULT_PRESET.text
        elif preset is None:
            problems.append(SAYS["unknown_preset"].format(asked=shown(link.preset), preset=DEFAULT_PRESET.name))
        return link.model_copy(update={"prompt": text, "preset": preset_of(text)}), problems

    @classmethod
    def of(cls, request: RunRequest, **more: Any) -> Self:
        return super().of(request, **{"prompt": request.prompt, "preset": preset_of(request.prompt)} | more)

    def request(self, prompt: str = "") -> RunRequest:
        return super().request(prompt or self.prompt)

    def parameters(self) -> dict[str, str | list[str]]:
        """See `PageLink.parameters`. A preset stands for the prompt while it holds that text."""
        left_out = "preset" if preset_of(self.prompt) == OWN_TEXT else "prompt"
        return {name: value for name, value in super().parameters().items() if name != left_out}

    def fitted(self) -> Self:
        return super().fitted().model_copy(update={"preset": preset_of(self.prompt), "step": None, "run": None})


def link_of(request: RunRequest, step: int | None = None, run: str | None = None) -> dict[str, str]:
    """The link's parameters, every setting among them."""
    return {name: str(value) for name, value in RunLink.of(request, step=step, run=run).parameters().items()}
