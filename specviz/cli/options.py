"""Options that several commands share, and what they mean: settings, prompt, grammar."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from specviz.core.errors import InputError
from specviz.core.prompts import prompt_problem
from specviz.core.settings import DRAFT_SCHEDULES, DecodeSettings
from specviz.data.grammars import Grammar, compile_grammar

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # argparse has no public name for it

PROMPT_LOOKUP = "prompt-lookup"
DTYPES = ("auto", "float32", "bfloat16")


class Parser(argparse.ArgumentParser):
    """Reports bad usage like any other bad input: in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise what `main` prints."""
        raise InputError(f"{message} (see {self.prog} --help).")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Where the result is written as JSON."""
    parser.add_argument("--json", metavar="PATH", help="write the result as JSON; - is standard output")


def add_pair(parser: argparse.ArgumentParser, drafts: Literal["store", "append"] = "store") -> None:
    """The two models and the settings of a run."""
    default = DecodeSettings()
    parser.add_argument("--target", required=True, metavar="T", help="bundled name, folder or Hub id")
    several = "; can be given several times" if drafts == "append" else ""
    lookup = f"the same, or {PROMPT_LOOKUP}{several}"
    parser.add_argument("--draft", required=True, action=drafts, metavar="D", help=lookup)
    parser.add_argument("--max-new-tokens", type=int, default=default.max_new_tokens, metavar="N")
    parser.add_argument("--draft-length", type=int, default=default.draft_length, metavar="G")
    parser.add_argument("--temperature", type=float, default=default.temperature, metavar="X", help="0 is greedy")
    parser.add_argument("--top-k", type=int, metavar="K")
    parser.add_argument("--top-p", type=float, metavar="P")
    parser.add_argument("--seed", type=int, default=default.seed, metavar="S")
    parser.add_argument("--ignore-eos", action="store_true", help="always write all new tokens")
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="of both models; float32 is exact")
    parser.add_argument("--target-dtype", choices=DTYPES)
    parser.add_argument("--draft-dtype", choices=DTYPES)
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="torch threads (1)")
    parser.set_defaults(draft_schedule=default.draft_schedule)


def add_prompt(parser: argparse.ArgumentParser) -> None:
    """One prompt, how its draft length changes, and the grammar of its output."""
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT")
    prompt.add_argument("--prompt-file", type=Path, metavar="F")
    parser.add_argument("--draft-schedule", choices=DRAFT_SCHEDULES, help="how the draft length changes (fixed)")
    grammar = parser.add_mutually_exclusive_group()
    grammar.add_argument("--json-schema", type=Path, metavar="F", help="the output is JSON that follows this schema")
    grammar.add_argument("--regex", metavar="TEXT", help="the whole output matches this expression")


def settings_of(options: argparse.Namespace) -> DecodeSettings:
    """The settings, checked.

    Raises:
        InputError: a value cannot be used.
    """
    return DecodeSettings(
        max_new_tokens=options.max_new_tokens,
        draft_length=options.draft_length,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        seed=options.seed,
        stop_at_eos=not options.ignore_eos,
        draft_schedule=options.draft_schedule,
    )


def prompt_of(options: argparse.Namespace) -> str:
    """The prompt, from the option or its file.

    Raises:
        InputError: the file cannot be read, or its text cannot be a prompt.
    """
    text = _read(options.prompt_file) if options.prompt is None else options.prompt
    if problem := prompt_problem(text):
        raise InputError(problem)
    return str(text)


def grammar_of(options: argparse.Namespace) -> Grammar | None:
    """The grammar of the output, checked before any model is loaded.

    Raises:
        InputError: the grammar cannot be used.
    """
    if options.json_schema is None and options.regex is None:
        return None
    regex = options.regex is not None
    grammar = Grammar("regex", options.regex) if regex else Grammar("json_schema", _read(options.json_schema))
    compile_grammar(grammar)
    return grammar


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text.") from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
