"""Permalinks: a run request as the parameters of a page's address, and back.

A link writes every setting, so that it outlives a changed default. Reading one trusts nothing: what is unknown or
impossible falls back to the default, with one line that says so.
"""

from collections.abc import Collection
from typing import Annotated, ClassVar, NamedTuple, Self
from urllib.parse import quote

from pydantic import AfterValidator, Field, SkipValidation, ValidationInfo

from specviz.core.errors import InputError
from specviz.core.prompts import prompt_problem
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, PROMPT_LOOKUP, Precision, RunRequest, exit_layers
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings, DraftSampling, DraftSchedule, VerificationMode
from specviz.core.tree_shape import parse_tree
from specviz.data.page_link import DIGITS, REAL_NUMBER, PageLink, Params, shown, written
from specviz.data.workloads import DEFAULT_PRESET, find_preset

# What the page's controls offer, so what a link may ask for.
MAX_NEW_TOKENS = 256
MAX_TEMPERATURE = 2.0
MAX_TOP_K = 1000
MAX_SEED = 2**53 - 1  # the largest whole number a browser's number field holds exactly
MAX_STEP = 100_000  # of the playhead
NO_TREE = "none"
MAX_LINK_PROMPT = 6_000  # bytes of an encoded prompt: many servers refuse addresses of more than 8 kB


def _known_target(name: str, info: ValidationInfo) -> str:
    if info.context is not None and name not in info.context:  # without one the name comes from the page's own menu
        raise ValueError("not known here")
    return name


def _known_draft(name: str, info: ValidationInfo) -> str:
    known = name == PROMPT_LOOKUP or exit_layers(name) is not None
    return name if known else _known_target(name, info)


def _tree(text: str) -> str:
    if text != NO_TREE:
        parse_tree(text)
    return text


Target = Annotated[str, AfterValidator(_known_target)]  # the context holds the names of the known models
Draft = Annotated[str, AfterValidator(_known_draft)]
TreeName = Annotated[str, AfterValidator(_tree)]
Seed = Annotated[int, DIGITS, Field(ge=0, le=MAX_SEED)]


class SettingsLink(PageLink):
    """Models and settings of a run, as a link's parameters."""

    target: Annotated[Target, Field(description="a model known here")] = DEFAULT_TARGET
    draft: Annotated[Draft, Field(description="a draft known here")] = DEFAULT_DRAFT
    gamma: Annotated[
        int,
        DIGITS,
        Field(ge=1, le=MAX_DRAFT_LENGTH, description=f"a draft length from 1 to {MAX_DRAFT_LENGTH}"),
    ] = DecodeSettings().draft_length
    schedule: Annotated[DraftSchedule, Field(description="a draft length schedule known here")] = "fixed"
    temperature: Annotated[
        float,
        REAL_NUMBER,
        Field(ge=0, le=MAX_TEMPERATURE, description=f"a temperature from 0 to {MAX_TEMPERATURE:g}"),
    ] = 0.0
    top_k: Annotated[
        int, DIGITS, Field(ge=0, le=MAX_TOP_K, description=f"a top-k from 0 (keep all) to {MAX_TOP_K}")
    ] = 0
    top_p: Annotated[float, REAL_NUMBER, Field(gt=0, le=1, description="a top-p above 0 and at most 1")] = 1.0
    tokens: Annotated[
        int,
        DIGITS,
        Field(ge=1, le=MAX_NEW_TOKENS, description=f"a number of tokens from 1 to {MAX_NEW_TOKENS}"),
    ] = DecodeSettings().max_new_tokens
    seed: Annotated[Seed, Field(description=f"a whole number from 0 to {MAX_SEED}")] = 0
    dtype: Annotated[Precision, Field(description="exact or fast")] = "exact"
    draft_sampling: Annotated[DraftSampling, Field(description="sample or argmax")] = "sample"
    verification: Annotated[VerificationMode, Field(description="token or block")] = "token"
    tree: Annotated[TreeName, Field(description="the shape of a tree known here")] = NO_TREE

    @classmethod
    def read(cls, params: Params, default: Self | None = None, context: object = None) -> tuple[Self, list[str]]:
        """See `PageLink.read`. A tree that does not go with the other settings is left out, with a line."""
        link, problems = super().read(params, default, context)
        try:
            link.settings  # noqa: B018  # a tree is checked against the other settings when they are made
        except InputError as error:
            problems.append(f"{str(error).removesuffix('.')}: using no tree.")
            link = link.model_copy(update={"tree": NO_TREE})
        return link, problems

    @property
    def settings(self) -> DecodeSettings:
        """The decoder's settings; top_k=0 and top_p=1 keep every token."""
        return DecodeSettings(
            max_new_tokens=self.tokens,
            draft_length=self.gamma,
            temperature=self.temperature,
            top_k=self.top_k or None,
            top_p=None if self.top_p == 1 else self.top_p,
            draft_schedule=self.schedule,
            seed=self.seed,
            draft_sampling=self.draft_sampling,
            verification=self.verification,
            tree=None if self.tree == NO_TREE else self.tree,
        )

    def request(self, prompt: str) -> RunRequest:
        """The run of this prompt."""
        return RunRequest(prompt, self.target, self.draft, self.dtype, self.settings)


class RunLink(SettingsLink):
    """The address of one run."""

    INSTEAD: ClassVar[dict[str, str]] = {"step": "starting at the first", "run": "running the settings of the link"}

    prompt: SkipValidation[str | None] = None  # any text, half a character too: `chosen_prompt` says what is wrong
    preset: SkipValidation[str | None] = None
    step: Annotated[int | None, DIGITS, Field(ge=0, le=MAX_STEP, description=f"a step from 0 to {MAX_STEP}")] = (
        None  # the playhead
    )
    run: Annotated[
        str | None, Field(pattern=r"^([0-9a-f]{16}|[a-z][a-z-]{0,30})$", description="the id of a stored run")
    ] = None

    def chosen_prompt(self) -> tuple[str, str | None, list[str]]:
        """The prompt, its preset's name where it has one, and what was wrong; a prompt's own text goes first."""
        text, preset = self.prompt, find_preset(self.preset) if self.preset else None
        problems = []
        if text is not None and preset and preset.text != text:
            problems.append("The link holds a prompt and a preset: using the prompt.")
        if text is not None:
            problem = prompt_problem(text)
            if problem is None:
                return text, preset.name if preset and preset.text == text else None, problems
            problems.append(f"{problem} Using the preset {DEFAULT_PRESET.name}.")
        elif preset:
            return preset.text, preset.name, problems
        elif self.preset is not None:
            line = f"preset={shown(self.preset)} is not a preset known here: using {DEFAULT_PRESET.name}."
            problems.append(line)
        return DEFAULT_PRESET.text, DEFAULT_PRESET.name, problems


class LinkedRun(NamedTuple):
    """What a link asks for, after what could not be used was replaced."""

    request: RunRequest
    step: int | None  # the playhead; None where the link names none
    preset: str | None  # the preset the prompt came from
    problems: list[str]  # one line for each part that fell back; names and values in it are plain characters
    run: str | None = None  # the id of a stored run, or the name of a recorded one


def link_of(
    request: RunRequest, step: int | None = None, preset: str | None = None, run: str | None = None
) -> dict[str, str]:
    """The link's parameters, every setting among them.

    A prompt that is too long for an address is left out, see `left_out_of_link`.
    `preset` stands for the prompt only while it still holds that text. "Keep all" is top_k=0 and top_p=1. `run` names
    the one run that the link opens while the server has it; the settings are for when it is gone.
    """
    settings = request.settings
    chosen = find_preset(preset) if preset else None
    is_preset = chosen is not None and chosen.text == request.prompt
    link: dict[str, object] = {"preset": preset} if is_preset else {}
    if not is_preset and left_out_of_link(request.prompt) is None:
        link["prompt"] = request.prompt
    link |= {
        "target": request.target,
        "draft": request.draft,
        "gamma": settings.draft_length,
        "schedule": settings.draft_schedule,
        "temperature": float(settings.temperature),
        "top_k": settings.top_k or 0,
        "top_p": 1 if settings.top_p is None else float(settings.top_p),
        "tokens": settings.max_new_tokens,
        "seed": settings.seed,
        "dtype": request.precision,
        "draft_sampling": settings.draft_sampling,
        "verification": settings.verification,
        "tree": settings.tree or NO_TREE,
    }
    if step is not None:
        link["step"] = step
    if run is not None:
        link["run"] = run
    return {name: written(value) for name, value in link.items()}


def left_out_of_link(prompt: str) -> str | None:
    """One sentence where links leave this prompt out, because no server would take so long an address; else None."""
    if len(quote(prompt, safe="", errors="replace")) <= MAX_LINK_PROMPT:
        return None
    return "The prompt is too long for a link: links to this page leave it out."


def request_from_link(params: Params, known_models: Collection[str]) -> LinkedRun:
    """The run a page's address asks for; parameters that are not ours are left alone.

    Args:
        params: the address's parameters, as text.
        known_models: the names a target or draft may have; prompt lookup is known without being named.
    """
    link, problems = RunLink.read(params, context=frozenset(known_models))
    prompt, preset, more = link.chosen_prompt()
    return LinkedRun(link.request(prompt), link.step, preset, [*problems, *more], link.run)
