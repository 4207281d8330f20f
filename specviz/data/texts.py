"""Texts as content: the YAML files in assets/texts, read into types, with file and line in every error.

Nothing in a file is a boolean, a number or a date by accident: only true, false and whole numbers are not text.
"""

import json
import re
import string
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import yaml
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.files import ASSETS

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML without its C library: ten times slower
    from yaml import SafeLoader  # type: ignore[assignment]

FOLDER = ASSETS / "texts"
STRICT = ConfigDict(extra="forbid", strict=True)  # what a file may hold: each class of content has this
KIND = TypeVar("KIND")
Words = Literal["technical", "plain"]
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

    __pydantic_config__ = STRICT
    technical: Annotated[str, Field(min_length=1)]
    plain: Annotated[str, Field(min_length=1)]

    def in_(self, words: Words) -> str:
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

    def said(self, node: yaml.Node, problem: str) -> str:
        return _said(self.path, node, problem)

    def nodes(self, *keys: str) -> list[yaml.Node]:
        node = self.node
        for key in keys:
            node = below(node, key) or node
        return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def read_texts(path: Path, kind: type[KIND]) -> TextFile[KIND]:
    """The texts in a YAML file that holds a `kind`; TextError with all its problems."""
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        data = json.dumps(loader.construct_document(node)) if node else ""
    except yaml.MarkedYAMLError as error:
        mark, said = error.problem_mark or error.context_mark, (error.problem or "it cannot be read")
        raise TextError([f"{path.name}, line {mark.line + 1 if mark else 1}: this is not YAML ({said})."]) from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TextError([f"{path.name} cannot be read: {type(error).__name__}."]) from error
    if node is None:
        raise TextError([f"{path.name} is empty."])
    try:
        content = TypeAdapter(kind).validate_json(data, strict=True)
    except ValidationError as error:
        raise TextError([_problem(path, node, each) for each in error.errors(include_url=False)]) from error
    if twice := [_said(path, key, f"“{key.value}” is there twice.") for key in _repeated(node)]:
        raise TextError(twice)
    return TextFile(path, content, node)


def figure_problems(
    file: TextFile[Any], node: yaml.Node, facts: Facts, keys: Collection[str] = (), *, typed: bool = False
) -> Iterator[str]:
    """What is wrong with the figures that the texts below a node name. `typed`: whether a text may hold digits."""
    for text in _textsbelow(node, keys):
        try:
            names = figures_in(text.value)
        except ValueError:
            yield file.said(text, "a brace is open or closed alone: a figure is named as in {accepted}.")
            continue
        for name in sorted(names - set(facts)):
            near = get_close_matches(name, facts, n=1)
            yield file.said(text, f"there is no figure {{{name}}} here{f': {{{near[0]}}}?' if near else '.'}")
        if not typed and re.search(r"\d", re.sub(r"\b(bfloat16|float32)\b|\{\w*\}", "", text.value)):
            yield file.said(text, "a figure is typed here: name it, as in {accepted}.")


def figures_in(template: str) -> set[str]:
    """The names of the figures in a text; ValueError where a brace has no partner."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def fill(template: str, facts: Facts) -> str:
    return template.format_map(facts)


def _textsbelow(node: yaml.Node, keys: Collection[str] = ()) -> Iterator[yaml.ScalarNode]:
    """Every text in the file below this place, its own keys left out."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _textsbelow(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not keys or key.value in keys:
                yield from _textsbelow(value)


def _said(path: Path, node: yaml.Node, problem: str) -> str:
    return f"{path.name}, line {node.start_mark.line + 1}: {problem}"


def _problem(path: Path, node: yaml.Node, error: Any) -> str:
    name, found = str(error["loc"][-1]) if error["loc"] else "", node
    for step in error["loc"]:
        found = below(found, step) or found
    said = SAID.get(error["type"], "“{name}”: " + error["msg"].removeprefix("Value error, ").rstrip(".") + ".")
    return _said(path, found, said.replace("{name}", name))


def below(node: yaml.Node, step: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None


def _repeated(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Keys that a mapping has twice: YAML takes the last one."""
    if isinstance(node, yaml.MappingNode):
        names = [key.value for key, _ in node.value]
        yield from (key for at, (key, _) in enumerate(node.value) if key.value in names[:at])
    for child in node.value if isinstance(node, yaml.CollectionNode) else ():
        for each in child if isinstance(child, tuple) else (child,):
            yield from _repeated(each)
