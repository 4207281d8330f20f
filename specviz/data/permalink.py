"""Permalinks: a run request as the parameters of a page's address, and back.

A link writes every setting, so it outlives a changed default. Reading one trusts nothing: what is unknown or
impossible falls back to the default, with one line that says so.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

from specviz.core.prompts import prompt_problem
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, PROMPT_LOOKUP, Precision, RunRequest
from specviz.core.settings import DRAFT_SCHEDULES, MAX_DRAFT_LENGTH, DecodeSettings, DraftSchedule
from specviz.data.workloads import DEFAULT_PRESET, find_preset

# What the page's controls offer, so what a link may ask for.
MAX_NEW_TOKENS = 256
MAX_TEMPERATURE = 2.0
MAX_TOP_K = 1000
MAX_SEED = 2**53 - 1  # the largest whole number a browser's number field holds exactly
MAX_STEP = 100_000  # of the playhead

REAL = re.compile(r"([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})(e-?[0-9]{1,3})?")  # no nan, inf, 1_0 or signs
PRECISIONS: dict[str, Precision] = {"exact": "exact", "fast": "fast"}
SCHEDULES: dict[str, DraftSchedule] = {schedule: schedule for schedule in DRAFT_SCHEDULES}

Params = Mapping[str, str | Sequence[str]]  # a repeated parameter may come as a list
Value = TypeVar("Value")


class LinkedRun(NamedTuple):
    """What a link asks for, after what could not be used was replaced."""

    request: RunRequest
    step: int | None  # the playhead; None where the link names none
    preset: str | None  # the preset the prompt came from
    problems: list[str]  # one line for each part that fell back; names and values in it are plain characters


def link_of(request: RunRequest, step: int | None = None, preset: str | None = None) -> dict[str, str]:
    """The link's parameters, every setting among them.

    `preset` stands for the prompt only while it still holds that text. "Keep all" is top_k=0 and top_p=1.
    """
    settings = request.settings
    chosen = find_preset(preset) if preset else None
    is_preset = chosen is not None and chosen.text == request.prompt
    link = {"preset": preset} if preset and is_preset else {"prompt": request.prompt}
    link |= {
        "target": request.target,
        "draft": request.draft,
        "gamma": str(settings.draft_length),
        "schedule": settings.draft_schedule,
        "temperature": _number(settings.temperature),
        "top_k": str(settings.top_k or 0),
        "top_p": _number(1.0 if settings.top_p is None else settings.top_p),
        "tokens": str(settings.max_new_tokens),
        "seed": str(settings.seed),
        "dtype": request.precision,
    }
    return link if step is None else link | {"step": str(step)}


def request_from_link(params: Params, known_models: Collection[str]) -> LinkedRun:
    """The run a page's address asks for; parameters that are not ours are left alone.

    Args:
        params: the address's parameters, as text.
        known_models: the names a target or draft may have; prompt lookup is known without being named.
    """
    link = _Reader(params)
    prompt, preset = _prompt(link)
    models = {name: name for name in known_models}
    drafts = models | {PROMPT_LOOKUP: PROMPT_LOOKUP}
    request = RunRequest(
        prompt=prompt,
        target=link.value("target", models.get, DEFAULT_TARGET, "a model known here"),
        draft=link.value("draft", drafts.get, DEFAULT_DRAFT, "a draft known here"),
        precision=link.value("dtype", PRECISIONS.get, "exact", "exact or fast"),
        settings=_settings(link),
    )
    step = link.value("step", _whole(0, MAX_STEP), None, f"a step from 0 to {MAX_STEP}", "starting at the first")
    return LinkedRun(request, step, preset, link.problems)


def _settings(link: "_Reader") -> DecodeSettings:
    default = DecodeSettings()
    top_k = link.value("top_k", _whole(0, MAX_TOP_K), 0, f"a top-k from 0 (keep all) to {MAX_TOP_K}")
    top_p = link.value("top_p", _real(0, 1, with_low=False), 1.0, "a top-p above 0 and at most 1", "using 1")
    return DecodeSettings(
        max_new_tokens=link.value(
            "tokens",
            _whole(1, MAX_NEW_TOKENS),
            default.max_new_tokens,
            f"a number of tokens from 1 to {MAX_NEW_TOKENS}",
        ),
        draft_length=link.value(
            "gamma", _whole(1, MAX_DRAFT_LENGTH), default.draft_length, f"a draft length from 1 to {MAX_DRAFT_LENGTH}"
        ),
        temperature=link.value(
            "temperature", _real(0, MAX_TEMPERATURE), 0.0, f"a temperature from 0 to {MAX_TEMPERATURE:g}", "using 0"
        ),
        top_k=top_k or None,
        top_p=None if top_p == 1 else top_p,
        draft_schedule=link.value(
            "schedule",
            SCHEDULES.get,
            default.draft_schedule,
            "a draft length schedule known here",
        ),
        seed=link.value("seed", _whole(0, MAX_SEED), default.seed, f"a whole number from 0 to {MAX_SEED}"),
    )


def _prompt(link: "_Reader") -> tuple[str, str | None]:
    """The prompt, and its preset's name where it has one; a prompt's own text goes before a preset."""
    text, name = link.text("prompt"), link.text("preset")
    preset = find_preset(name) if name else None
    if text is not None and preset and preset.text != text:
        link.problems.append("The link holds a prompt and a preset: using the prompt.")
    if text is not None:
        problem = prompt_problem(text)
        if problem is None:
            return text, preset.name if preset and preset.text == text else None
        link.problems.append(f"{problem} Using the preset {DEFAULT_PRESET.name}.")
    elif preset:
        return preset.text, preset.name
    elif name is not None:
        link.problems.append(f"preset={_shown(name)} is not a preset known here: using {DEFAULT_PRESET.name}.")
    return DEFAULT_PRESET.text, DEFAULT_PRESET.name


class _Reader:
    """Takes parameters one by one, and notes what it could not use."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self.problems: list[str] = []

    def text(self, name: str) -> str | None:
        """The parameter as it stands, the last where it is repeated; None where it is missing."""
        given = self._params.get(name)
        if given is None or isinstance(given, str):
            return given
        if len(given) > 1:
            self.problems.append(f"{name} is in the link {len(given)} times: using the last.")
        return given[-1] if given else None

    def value(
        self, name: str, parse: Callable[[str], Value | None], default: Value, what: str, instead: str | None = None
    ) -> Value:
        """The parameter as `parse` reads it, the default where it is missing or cannot be read."""
        text = self.text(name)
        if text is None:
            return default
        value = parse(text)
        if value is None:
            self.problems.append(f"{name}={_shown(text)} is not {what}: {instead or f'using {default}'}.")
            return default
        return value


def _whole(low: int, high: int) -> Callable[[str], int | None]:
    """A parser for plain digits within a range; int alone would take "1_0", " 7" and other scripts' digits."""

    def parse(text: str) -> int | None:
        number = int(text) if re.fullmatch(r"[0-9]{1,20}", text) else -1
        return number if low <= number <= high else None

    return parse


def _real(low: float, high: float, with_low: bool = True) -> Callable[[str], float | None]:
    """A parser for a plain or scientific number within a range."""

    def parse(text: str) -> float | None:
        number = float(text) if REAL.fullmatch(text) else -1.0
        return number if low < number <= high or (with_low and number == low) else None

    return parse


def _number(value: float) -> str:
    """The shortest text that reads back as the same number: 1, not 1.0."""
    return repr(float(value)).removesuffix(".0")


def _shown(text: str) -> str:
    """What a stranger wrote, fit for a sentence: short, and without a character that any page could interpret."""
    plain = re.sub(r"[^A-Za-z0-9_.+/-]", "?", text[:40])
    return (plain or "(nothing)") + ("…" if len(text) > 40 else "")
