"""Options that several commands share, and what they mean: settings, prompt, grammar."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from specviz.cli.output import note
from specviz.core.errors import InputError
from specviz.core.prompts import prompt_problem
from specviz.core.settings import DRAFT_SAMPLINGS, DRAFT_SCHEDULES, VERIFICATIONS, DecodeSettings
from specviz.core.tree_shape import parse_tree
from specviz.data.grammars import Grammar, compile_grammar
from specviz.measure.sweep.prompt_files import prompts_in

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # argparse has no public name for it

PROMPT_LOOKUP = "prompt-lookup"
DTYPES = ("auto", "float32", "bfloat16")
DEFAULT = DecodeSettings()


class Parser(argparse.ArgumentParser):
    """Reports bad usage like any other bad input: in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise what `main` prints."""
        raise InputError(f"{message} (see {self.prog} --help).")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Where the result is written as JSON."""
    what = "write the result as JSON here; - is standard output (default: nothing is written)"
    parser.add_argument("--json", metavar="PATH", help=what)


def add_pair(parser: argparse.ArgumentParser, drafts: Literal["store", "append"] = "store") -> None:
    """The two models, the settings of a run and how the models are computed."""
    parser.add_argument("--target", required=True, metavar="T", help="bundled name, folder or Hub id")
    several = "; can be given several times" if drafts == "append" else ""
    lookup = f"the same, a head, early-exit:LAYERS, or {PROMPT_LOOKUP}{several}"
    parser.add_argument("--draft", required=True, action=drafts, metavar="D", help=lookup)
    _add_sampling(parser)
    _add_drafting(parser)
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="of both models; float32 is exact")
    parser.add_argument("--target-dtype", choices=DTYPES, help="of the target (default: that of --dtype)")
    parser.add_argument("--draft-dtype", choices=DTYPES, help="of the draft model (default: that of --dtype)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads that torch uses")
    parser.set_defaults(draft_schedule=DEFAULT.draft_schedule)


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    """How much is written, and which token is chosen."""
    parser.add_argument(
        "--max-new-tokens", type=int, default=DEFAULT.max_new_tokens, metavar="N", help="most tokens to write"
    )
    parser.add_argument("--temperature", type=float, default=DEFAULT.temperature, metavar="X", help="0 is greedy")
    parser.add_argument("--top-k", type=int, metavar="K", help="only the K most probable tokens (default: all)")
    smallest = "only the most probable tokens that have this sum (default: all)"
    parser.add_argument("--top-p", type=float, metavar="P", help=smallest)
    parser.add_argument("--seed", type=int, default=DEFAULT.seed, metavar="S", help="of the random numbers")
    parser.add_argument("--ignore-eos", action="store_true", help="always write all new tokens")


def _add_drafting(parser: argparse.ArgumentParser) -> None:
    """How drafts are made and verified."""
    length = f"tokens drafted a round (default: {DEFAULT.draft_length}, or the depths of the tree)"
    parser.add_argument("--draft-length", type=int, metavar="G", help=length)
    parser.add_argument(
        "--draft-sampling",
        choices=DRAFT_SAMPLINGS,
        default=DEFAULT.draft_sampling,
        help="how the draft chooses a token",
    )
    parser.add_argument(
        "--verification",
        choices=VERIFICATIONS,
        default=DEFAULT.verification,
        help="token by token, or the draft jointly",
    )
    shape = 'children a depth, like "4,2,1", or "dynamic:16" (default: a chain)'
    parser.add_argument("--tree", metavar="SHAPE", help=shape)


def add_prompt(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """One prompt, how its draft length changes, and the grammar of its output; `several`: or a file of prompts."""
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT", help="the prompt")
    prompt.add_argument("--prompt-file", type=Path, metavar="F", help="a file that is one prompt, all of it")
    if several:
        add_prompts_file(prompt)
    parser.add_argument("--draft-schedule", choices=DRAFT_SCHEDULES, help="how the draft length changes")
    grammar = parser.add_mutually_exclusive_group()
    grammar.add_argument("--json-schema", type=Path, metavar="F", help="the output is JSON that follows this schema")
    grammar.add_argument("--regex", metavar="TEXT", help="the whole output matches this expression")


def add_prompts_file(parser: argparse._ActionsContainer) -> None:
    """A file of several prompts; every command that reads one calls it by this name."""
    lines = 'one prompt a line, or JSON lines with "prompt" or "messages", and "name" and "workload" if you like'
    parser.add_argument("--prompts-file", type=Path, metavar="F", help=f"a file of prompts: {lines}")


def settings_of(options: argparse.Namespace) -> DecodeSettings:
    """The settings, checked.

    Raises:
        InputError: a value cannot be used.
    """
    return DecodeSettings(
        max_new_tokens=options.max_new_tokens,
        draft_length=_draft_length(options),
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        seed=options.seed,
        stop_at_eos=not options.ignore_eos,
        draft_schedule=options.draft_schedule,
        draft_sampling=options.draft_sampling,
        verification=options.verification,
        tree=options.tree,
    )


def _draft_length(options: argparse.Namespace) -> int:
    if options.draft_length is not None:
        return int(options.draft_length)
    depth = parse_tree(options.tree).depth if options.tree else None
    return depth or DEFAULT.draft_length


def prompt_of(options: argparse.Namespace) -> str:
    """The prompt, from the option or its file.

    Raises:
        InputError: the file cannot be read, or its text cannot be a prompt.
    """
    text = _read(options.prompt_file) if options.prompt is None else options.prompt
    if problem := prompt_problem(text):
        raise InputError(problem)
    if options.prompt is None and (listed := prompts_in(text)):
        note(
            f"{options.prompt_file} looks like a list of {listed} prompts, and all of it is read as one prompt. "
            "compare --prompts-file reads each line as a prompt."
        )
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
