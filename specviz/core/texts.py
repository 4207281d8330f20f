"""Texts as content: the YAML files in assets/texts, read into types, with file and line in every error.

Nothing in a file is a boolean, a number or a date by accident: only true, false and whole numbers are not text.

A text names the figures that it is filled with, as in {found.speed:.2f}. A share is written {share!p}, a small number
in words {count!w}, and a word for one or for several {count:prompt|prompts}: one form for each plural category of the
language, in the order of the CLDR (in Polish one, few, many).
"""

import json
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Number
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import yaml
from babel import Locale
from babel.dates import format_date
from babel.lists import format_list
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.files import TEXTS
from specviz.core.languages import ENGLISH, Entries, Entry, cache_by_language, current_language, locale, translation
from specviz.core.numbers import localize, percent

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML without its C library: ten times slower
    from yaml import SafeLoader  # type: ignore[assignment]

KIND = TypeVar("KIND")
Words = Literal["technical", "plain"]
NonEmptyText = Annotated[str, Field(min_length=1)]
Parts = dict[str, dict[str, NonEmptyText]]  # texts by name, in parts
Facts = Mapping[str, str]  # figures by name, as written on screen
SAID = {
    "missing": "“{name}” is missing.",
    "unexpected_keyword_argument": "“{name}” is not known here.",
    "string_type": "write a text here; put a number, true and false into quotes.",
    "string_too_short": "“{name}” is empty.",
    "dataclass_type": "write fields here, each with its name.",
    "tuple_type": "write a list here: each item on lines of its own, after a hyphen.",
}


@dataclass(frozen=True, slots=True)
class Says:
    """One text in two voices: the field's words, and words for anyone, without symbols."""

    technical: NonEmptyText
    plain: NonEmptyText

    def choose(self, words: Words) -> str:
        return self.plain if words == "plain" else self.technical


# In a file, a text that is the same in both voices is written once.
Voices = Annotated[Says, BeforeValidator(lambda given: Says(given, given) if isinstance(given, str) else given)]


class TextError(InputError):
    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class _Loader(SafeLoader):
    pass


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("^(?:0|[1-9][0-9]*)$"), list("0123456789"))


@dataclass(frozen=True, slots=True)
class TextFile(Generic[KIND]):
    path: Path
    content: KIND
    node: yaml.Node

    def describe(self, node: yaml.Node, problem: str) -> str:
        return _name_line(self.path, node, problem)

    def nodes(self, *keys: str) -> list[yaml.Node]:
        node = node_at(self.node, keys)
        return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def read_texts(path: Path, kind: type[KIND], translated: Entries | None = None) -> TextFile[KIND]:
    """The texts in a YAML file that holds a `kind`, some of them translated; TextError with all its problems."""
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        if translated:
            translate(node, translated)
        data = json.dumps(loader.construct_document(node)) if node else ""
    except yaml.MarkedYAMLError as error:
        mark, said = error.problem_mark or error.context_mark, (error.problem or "it cannot be read")
        raise TextError([f"{path.name}, line {mark.line + 1 if mark else 1}: this is not YAML ({said})."]) from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TextError([f"{path.name} cannot be read: {type(error).__name__}."]) from error
    if node is None:
        raise TextError([f"{path.name} is empty."])
    try:
        # Dataclasses take over the configuration of the type that they are in; so `kind` is in a union.
        union: Any = kind | None
        content = TypeAdapter(union, config=ConfigDict(extra="forbid")).validate_json(data, strict=True)
    except ValidationError as error:
        raise TextError([_problem(path, node, each) for each in error.errors(include_url=False)]) from error
    if twice := [_name_line(path, key, f"“{key.value}” is there twice.") for key in repeated(node)]:
        raise TextError(twice)
    return TextFile(path, content, node)


def translate(node: yaml.Node | None, translated: Entries) -> None:
    for place, text in places(node):
        entry = translated.get((place, text.value))
        if entry and entry.text and not entry.outdated and _has_its_figures(entry):
            text.value = entry.text


def _has_its_figures(entry: Entry) -> bool:
    """Whether it names only figures of the English text: its page has no others."""
    try:
        return figures_in(entry.text) <= figures_in(entry.english)
    except ValueError:
        return False


def figures_in(template: str) -> set[str]:
    """The names of the figures in a text; ValueError where a brace has no partner."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


CARDINALS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
CARDINALS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]


def spell_count(number: int) -> str:
    """In words where it is small; in another language than English, in digits."""
    return CARDINALS[number] if number < len(CARDINALS) and current_language() == ENGLISH else str(number)


CONVERSIONS: Mapping[str, Callable[[Any], str]] = {
    "p": percent,
    "h": lambda share: localize(100 * share, ".0f"),
    "w": spell_count,
}


class _Figures(string.Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return CONVERSIONS[conversion](value) if conversion else value

    def format_field(self, value: Any, format_spec: str) -> str:
        forms = format_spec.split("|")
        if len(forms) > 1:
            return _form_for(value, forms)
        return (
            localize(value, format_spec) if isinstance(value, Number) else str(super().format_field(value, format_spec))
        )


PLURALS = ("zero", "one", "two", "few", "many")  # of the CLDR, in its order; what is in none of them is "other"


def _form_for(value: Any, forms: Sequence[str]) -> str:
    """The word for so many; the last one where a language has more categories than the text has forms."""
    if not isinstance(value, int | float):  # a figure that is a text counts nothing
        return forms[-1]
    rule = locale(current_language()).plural_form
    known, category = [name for name in PLURALS if name in rule.tags], rule(value)
    place = known.index(category) if category in known else len(forms)
    return forms[min(place, len(forms) - 1)]


def fill(template: str, figures: Mapping[str, Any], *numbered: object) -> str:
    return _Figures().vformat(template, numbered, figures)


@dataclass(frozen=True, eq=False)
class AppTexts(Generic[KIND]):
    """The texts of one file of the app, which is read when they are first asked for."""

    name: str  # of the file, below the folder
    kind: type[KIND]
    suffix: Literal[".yaml", ".json"] = ".yaml"  # JSON is YAML that the browser's modules read too

    def read(self, folder: Path = TEXTS, language: str = ENGLISH) -> TextFile[KIND]:
        """Raises TextError: it cannot be read, or holds something else."""
        translated = translation(folder, self.name, language) if language != ENGLISH else None
        return read_texts(folder / (self.name + self.suffix), self.kind, translated)

    def __call__(self) -> KIND:
        content: KIND = _content(self)
        return content


@cache_by_language
def _content(texts: AppTexts[KIND]) -> KIND:
    return texts.read(language=current_language()).content


class Sentences:
    """The sentences about computed figures that one module says; those in "browser" the live page says too."""

    def __init__(self, name: str, folder: Literal["sentences", "browser"] = "sentences") -> None:
        suffix: Literal[".yaml", ".json"] = ".json" if folder == "browser" else ".yaml"
        self.texts = AppTexts(f"{folder}/{name}", dict[str, NonEmptyText], suffix)

    def __call__(self, name: str, /, **figures: object) -> str:
        return fill(self.texts()[name], figures)


def join_choices(values: Sequence[object], word: Literal["or", "and"] = "or") -> str:
    """In a sentence: 2, 3 or 4."""
    said = [localize(value) if isinstance(value, float) else str(value) for value in values]
    style: Literal["or", "standard"] = "or" if word == "or" else "standard"
    return format_list(said, style, _reader())


def write_day(day: date) -> str:
    return format_date(day, "long", _reader())


def _reader() -> Locale:
    """English is that of Britain: the day before the month, no comma before the last of a list."""
    code = current_language()
    return Locale("en", "GB") if code == ENGLISH else locale(code)


def places(node: yaml.Node | None, above: str = "") -> Iterator[tuple[str, yaml.ScalarNode]]:
    """Every text in a file with its place: the keys above it, and of an item of a list its name or "-"."""
    if isinstance(node, yaml.ScalarNode):
        yield above, node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            name = below(item, "name") or below(item, "kind")
            step = name.value if isinstance(name, yaml.ScalarNode) else "-"
            yield from places(item, f"{above}/{step}" if above else step)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from places(value, f"{above}/{key.value}" if above else key.value)


def _name_line(path: Path, node: yaml.Node, problem: str) -> str:
    return f"{path.name}, line {node.start_mark.line + 1}: {problem}"


def _problem(path: Path, node: yaml.Node, error: Any) -> str:
    name = str(error["loc"][-1]) if error["loc"] else ""
    said = SAID.get(error["type"], "“{name}”: " + error["msg"].removeprefix("Value error, ").rstrip(".") + ".")
    return _name_line(path, node_at(node, error["loc"]), said.replace("{name}", name))


def node_at(node: yaml.Node, path: Iterable[int | str]) -> yaml.Node:
    """The node at the end of a path of names and places, or as far as it leads."""
    for step in path:
        node = below(node, step) or node
    return node


def below(node: yaml.Node, step: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None


def repeated(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Keys that a mapping has twice: YAML takes the last one."""
    seen = set[str]()
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value in seen:
            yield key
        seen.add(key.value)
    for child in node.value if isinstance(node, yaml.CollectionNode) else ():
        for each in child if isinstance(child, tuple) else (child,):
            yield from repeated(each)
