"""The form an output must have: a JSON schema or a regular expression, as plain data. No torch."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from specviz.core.errors import InputError
from specviz.core.texts import Sentences

say = Sentences("grammars")

GrammarKind = Literal["json_schema", "regex"]
MAX_GRAMMAR_CHARACTERS = 20_000

# White space as json.dumps writes it. With free white space, a small model writes white space without end.
_ONE_SPELLING = {"x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}}
# If only one text can follow, llguidance would allow only one way to cut it into tokens. The mask would then forbid
# tokens that the grammar allows, and so change the target's distribution.
_NO_FORCING = '%llguidance {"no_forcing": true}'


@dataclass(frozen=True, slots=True)
class Grammar:
    """What an output can be. Its size, and whether a schema is a JSON object, are checked here; else InputError."""

    kind: GrammarKind
    text: str  # the schema as JSON text, or the expression in Rust's syntax: no look-around, no back-references
    opened: str = ""  # the end of the prompt that already belongs to the grammar's text: '{"name":'

    def __post_init__(self) -> None:
        if self.kind not in get_args(GrammarKind):
            raise InputError(say("wrong_kind", kind=self.kind))
        if len(self.text) > MAX_GRAMMAR_CHARACTERS:
            raise InputError(say("too_large", grammar=self.name, count=len(self.text), most=MAX_GRAMMAR_CHARACTERS))
        if any("\ud800" <= character <= "\udfff" for character in self.text):
            raise InputError(say("half", grammar=self.name))
        if self.kind == "json_schema":
            _parsed(self.text)

    @property
    def name(self) -> str:
        return say("json_schema" if self.kind == "json_schema" else "regex")


def compile_grammar(grammar: Grammar) -> str:
    """The grammar in llguidance's format, without a tokenizer; InputError where llguidance refuses it."""
    from llguidance import LLMatcher, regex_to_lark  # imported here for a fast start: most runs have no grammar

    if grammar.kind == "regex":
        start = f"/{regex_to_lark(grammar.text or '()')}/"
    else:
        start = f"%json {json.dumps(_parsed(grammar.text) | _ONE_SPELLING)}"
    source = f"{_NO_FORCING}\nstart: {start}"
    failed, messages = LLMatcher.validate_grammar_with_warnings(source)
    if failed:
        raise InputError(say("unusable", grammar=grammar.name, problem=shorten_message(messages[0])))
    return source


def shorten_message(message: str) -> str:
    """The main part of the library's message, which has several lines and mostly repeats the grammar."""
    gist: list[str] = re.findall(r"^error: (.+)$", message, re.MULTILINE) or message.splitlines() or ["no reason given"]
    return re.sub(r"^at \d+\(\d+\): (failed to compile JSON schema: )?", "", gist[0]).strip().rstrip(".")[:200]


def _parsed(text: str) -> dict[str, Any]:
    try:
        schema = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError):
            raise InputError(say("no_json_at", problem=error.msg, line=error.lineno)) from None
        raise InputError(say("no_json")) from None
    if not isinstance(schema, dict):
        raise InputError(say("no_object"))
    return schema


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
