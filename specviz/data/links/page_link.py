"""The base of every page's link: the parameters of an address as a typed model, read without trusting anything."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from specviz.data.texts import join_choices, page_texts

REAL = r"([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})(e-?[0-9]{1,3})?"  # no nan, inf, 1_0 or signs
MAX_VALUES = 16  # of a parameter that may have several
MAX_READ_VALUES = 50  # what stands after these is not looked at
MAX_LINK_PROMPT = 6_000  # bytes of an encoded prompt: many servers refuse addresses of more than 8 kB

SAYS = page_texts("links")
Params = Mapping[str, str | Sequence[str]]  # a repeated parameter may come as a list
Item = TypeVar("Item")


EXPECTED = "expected"  # the key of a field's own data, for what its value must be


def expecting(said: Callable[[], str], **options: Any) -> Any:
    """A field; `said` is what its value must be, in the language of who reads it, and `options` are those of Field."""
    extra: Any = {EXPECTED: said}
    return Field(**options, json_schema_extra=extra)


def expecting_one_of(names: Sequence[object]) -> Any:
    return expecting(lambda: SAYS["one_of"].format(names=join_choices([*names], "and")))


def within(least: float, most: float, text: str = "number") -> Any:
    """A field with a number between these; `text` names what a link is told that has another one."""
    return expecting(lambda: SAYS[text].format(least=least, most=most), ge=least, le=most)


class PageLink(BaseModel):
    """What one page's address can say. A field is a parameter; `expecting` adds what its value must be.

    A field with a tuple takes every value of a repeated parameter, other fields take the last.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    UNDRAWN: ClassVar[tuple[str, ...]] = ()  # fields that no control of a page holds
    # the names of the texts that say it
    REFUSED: ClassVar[str] = "refused"
    LEFT_OUT: ClassVar[str] = "left_out"
    INSTEAD: ClassVar[dict[str, str]] = {}  # by field: where something else happens than that another value is used

    @classmethod
    def read(cls, params: Params, default: Self | None = None, context: object = None) -> tuple[Self, list[str]]:
        """The link, and one line for each part that cannot be used: there the default's value stands in.

        Args:
            params: the address's parameters; those that are not fields are ignored.
            default: what missing and refused values are taken from; None means the fields' own defaults.
            context: passed to the fields' validators, e.g. the names of the known models.
        """
        default = default or cls()
        given, problems = cls._given(params)
        try:
            linked = cls.model_validate(given, context=context)
        except ValidationError as error:
            problems += cls._refuse(given, error, default)
            linked = cls.model_validate(given, context=context)
        return default.model_copy(update={name: getattr(linked, name) for name in linked.model_fields_set}), problems

    def parameters(self) -> dict[str, str | list[str]]:
        """The address: every field that holds something, so that a link outlives a changed default."""
        held = {name: getattr(self, field) for field, name in self.linked().items()}
        return {
            name: [written(item) for item in value] if isinstance(value, tuple) else written(value)
            for name, value in held.items()
            if value is not None and not (isinstance(value, str) and (not value.strip() or explain_left_out(value)))
        }

    def fitted(self) -> Self:
        """As the page's controls can hold it, where one setting depends on another."""
        return self

    @classmethod
    def _parameter(cls, field: str) -> str:
        return cls.model_fields[field].alias or str(cls.model_fields[field].validation_alias or field)

    @classmethod
    def linked(cls) -> dict[str, str]:
        """The parameter of each field that links have; a field that is excluded is of the page alone."""
        return {field: cls._parameter(field) for field, about in cls.model_fields.items() if not about.exclude}

    @classmethod
    def _given(cls, params: Params) -> tuple[dict[str, Any], list[str]]:
        given: dict[str, Any] = {}
        problems = []
        for field, name in cls.linked().items():
            texts = params.get(name, ())
            texts = [texts] if isinstance(texts, str) else list(texts)[:MAX_READ_VALUES]
            if not texts:
                continue
            several = isinstance(cls.model_fields[field].get_default(), tuple)
            given[name] = texts if several else texts[-1]
            if len(texts) > 1 and not several:
                problems.append(SAYS["several"].format(name=name, times=len(texts)))
        return given, problems

    @classmethod
    def _refuse(cls, given: dict[str, Any], error: ValidationError, default: Self) -> list[str]:
        bad: dict[str, list[int]] = {}
        for each in error.errors(include_url=False):
            name, *place = each["loc"]
            bad.setdefault(str(name), []).extend(number for number in place if isinstance(number, int))
        fields = {cls._parameter(field): field for field in cls.model_fields}
        problems = []
        for name, places in bad.items():
            problems.append(cls.refusal(fields[name], given[name], default))
            left = [text for number, text in enumerate(given[name]) if number not in places] if places else []
            if left:
                given[name] = left
            else:
                del given[name]
        return problems

    @classmethod
    def refusal(cls, field: str, given: str | list[str], default: Self) -> str:
        if isinstance(given, list):
            return SAYS[cls.LEFT_OUT].format(name=cls._parameter(field))
        extra: Any = cls.model_fields[field].json_schema_extra or {}
        return SAYS[cls.INSTEAD.get(field, cls.REFUSED)].format(
            name=cls._parameter(field),
            text=shown(given),
            expected=extra[EXPECTED]() if EXPECTED in extra else "",
            value=written(getattr(default, field)),
        )


def explain_left_out(prompt: str) -> str | None:
    if len(prompt) <= MAX_LINK_PROMPT and len(quote(prompt, safe="", errors="replace")) <= MAX_LINK_PROMPT:
        return None
    return SAYS["long_prompt"]


def written(value: object) -> str:
    """A value as a link holds it. A number is the shortest text that reads back as the same: 1, not 1.0."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def shown(text: str) -> str:
    """What a stranger wrote, fit for a sentence: short, and without a character that any page could interpret."""
    plain = re.sub(r"[^A-Za-z0-9_.+/-]", "?", text[:40])
    return (plain or SAYS["nothing"]) + ("…" if len(text) > 40 else "")


def spelled(pattern: str, reads: Callable[[str], object]) -> BeforeValidator:
    """Reads text of this form only: int, float and bool alone would take "1_0", nan, "yes", other scripts' digits."""

    def parse(value: object) -> object:
        if not isinstance(value, str):
            return value
        if not re.fullmatch(pattern, value):
            raise ValueError("not written like that")
        return reads(value)

    return BeforeValidator(parse)


def real(decimals: int | None = None) -> BeforeValidator:
    """Plain or scientific notation, rounded."""
    return spelled(REAL, float if decimals is None else lambda text: round(float(text), decimals))


def unique(most: int = MAX_VALUES) -> AfterValidator:
    def first(values: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(dict.fromkeys(values))[:most]

    return AfterValidator(first)


def one_of(names: Callable[[], Sequence[Item]] | Sequence[Item]) -> AfterValidator:
    def known(value: Item) -> Item:
        if value not in (names() if callable(names) else names):
            raise ValueError("not known here")
        return value

    return AfterValidator(known)


DIGITS = spelled("[0-9]{1,20}", int)
REAL_NUMBER = real()
ZERO_OR_ONE = spelled("[01]", lambda text: text == "1")
