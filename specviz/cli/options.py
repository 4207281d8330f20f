"""Commands and the options that several of them share; what the options mean: settings, prompt, grammar, models.

torch is imported only after the options were checked.
"""

import argparse
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from specviz.cli.output import StatusLine, note
from specviz.core.drafters import canonical, exit_layers, own_names, typed_name
from specviz.core.errors import InputError
from specviz.core.files import text_of
from specviz.core.request import prompt_problem
from specviz.core.settings import SETTINGS, DecodeSettings, Setting, parse_tree
from specviz.data.prompts.grammars import Grammar, compile_grammar
from specviz.measure.sweep.prompt_files import prompts_in
from specviz.models.catalogue import bundled_names, check_heads, method_named

if TYPE_CHECKING:
    from specviz.decoding import Drafter
    from specviz.decoding.drafters.choose import Loaded
    from specviz.models.loaded_model import LoadedModel

PROGRAM = "specviz"
MOST_TEXT = 4_000_000  # bytes of a prompt or a schema
DTYPES = ("auto", "float32", "bfloat16")


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    summary: str
    run: Callable[[argparse.Namespace], None]
    add_options: Callable[[argparse.ArgumentParser], object]
    examples: tuple[str, ...]
    writes_json: bool = True

    def add_to(self, commands: "argparse._SubParsersAction[Parser]") -> None:
        lines = "\n".join(f"  {PROGRAM} {self.name} {example}".rstrip() for example in self.examples)
        parser = commands.add_parser(
            self.name,
            help=self.summary,
            description=f"{self.summary[0].upper()}{self.summary[1:]}.",
            epilog=f"examples:\n{lines}",
            formatter_class=Help,
        )
        self.add_options(parser)
        if self.writes_json:
            what = "write the result as JSON here; - is standard output (default: nothing is written)"
            parser.add_argument("--json", metavar="PATH", help=what)
        parser.set_defaults(command=self.run, **({} if self.writes_json else {"json": None}))


class Parser(argparse.ArgumentParser):
    """Reports bad usage like any other bad input: in one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help).")


class Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """The default stands after an option's text, where there is one; examples keep their lines."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False:
            return action.help
        return super()._get_help_string(action)


def add_pair(parser: argparse.ArgumentParser, drafts: Literal["store", "append"] = "store") -> None:
    """The two models, the settings of a run and how the models are computed."""
    parser.add_argument("--target", required=True, metavar="T", help="bundled name, folder or Hub id")
    several = "; can be given several times" if drafts == "append" else ""
    named = ", ".join(typed_name(name) for _, name in own_names() if typed_name(name) != name)
    what = f"the same, a head, early-exit:LAYERS, or {named}{several}"
    parser.add_argument("--draft", required=True, action=drafts, type=canonical, metavar="D", help=what)
    for row in SETTINGS.values():
        if row.flag and row is not SCHEDULE:
            add_setting(parser, row)
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="of both models; float32 is exact")
    parser.add_argument("--target-dtype", choices=DTYPES, help="of the target (default: that of --dtype)")
    parser.add_argument("--draft-dtype", choices=DTYPES, help="of the draft model (default: that of --dtype)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads that torch uses")


SCHEDULE = SETTINGS["draft_schedule"]  # an option of commands with prompts; a sweep has several schedules


def add_setting(parser: argparse._ActionsContainer, row: Setting) -> None:
    """An option for a setting; a switch sets what is not the default."""
    if row.kind is bool:
        parser.add_argument(row.flag, action="store_true", help=row.option_help)
    elif row.choices:
        parser.add_argument(row.flag, choices=row.choices, default=row.default, help=row.option_help)
    else:
        default = None if row.name == "draft_length" else row.default  # a tree of a fixed shape decides it
        parser.add_argument(row.flag, type=row.kind, default=default, metavar=row.metavar, help=row.option_help)


def add_prompt(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """One prompt, how its draft length changes, and the grammar of its output; `several`: or a file of prompts."""
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT", help="the prompt")
    prompt.add_argument("--prompt-file", type=Path, metavar="F", help="a file that is one prompt, all of it")
    if several:
        add_prompts_file(prompt)
    add_setting(parser, SCHEDULE)
    grammar = parser.add_mutually_exclusive_group()
    grammar.add_argument("--json-schema", type=Path, metavar="F", help="the output is JSON that follows this schema")
    grammar.add_argument("--regex", metavar="TEXT", help="the whole output matches this expression")


def add_prompts_file(parser: argparse._ActionsContainer) -> None:
    """A file of several prompts; every command that reads one calls it by this name."""
    lines = 'one prompt a line; JSON or JSON lines with "prompt", "messages" or "turns"; or a CSV with a column prompt'
    parser.add_argument("--prompts-file", type=Path, metavar="F", help=f"a file of prompts: {lines}")


def settings_of(options: argparse.Namespace) -> DecodeSettings:
    values = {}
    for row in SETTINGS.values():
        if row.flag:
            value = getattr(options, row.flag.removeprefix("--").replace("-", "_"), row.default)
            values[row.name] = value != row.default if row.kind is bool else value
    if values["draft_length"] is None:
        depth = parse_tree(options.tree).depth if options.tree else None
        values["draft_length"] = depth or SETTINGS["draft_length"].default
    return DecodeSettings(**values)


def prompt_of(options: argparse.Namespace) -> str:
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
    if options.json_schema is None and options.regex is None:
        return None
    regex = options.regex is not None
    grammar = Grammar("regex", options.regex) if regex else Grammar("json_schema", _read(options.json_schema))
    compile_grammar(grammar)
    return grammar


def _read(file: Path) -> str:
    """The text, with line feeds for all ends of lines."""
    return io.StringIO(text_of(file, MOST_TEXT), newline=None).read()


def load_pair(options: argparse.Namespace, status: StatusLine) -> "tuple[LoadedModel, Drafter]":
    target, draft = load_models(options, status)
    from specviz.decoding import fit_drafter  # imports torch

    return target, fit_drafter(target, draft, settings_of(options))


def load_models(
    options: argparse.Namespace, status: StatusLine, target: "LoadedModel | None" = None
) -> "tuple[LoadedModel, Loaded]":
    """A pair that cannot work is refused before anything is downloaded or loaded."""
    if options.threads < 1:
        raise InputError(f"--threads must be at least 1, not {options.threads}.")
    import torch  # takes seconds: bad input and commands without models must not wait for it

    from specviz.decoding.drafters.choose import load_draft
    from specviz.models.loading import load_model
    from specviz.models.pairing import check_pair

    torch.set_num_threads(options.threads)
    check_heads(options.target, options.draft)
    exit_layers(options.draft)  # a name without a number is refused before anything is loaded
    draft = options.draft if method_named(options.draft).loads == "model" else None
    dtypes = options.target_dtype or options.dtype, options.draft_dtype or options.dtype
    if not {options.target, draft} <= {None, *bundled_names()}:  # bundled pairs always work
        status.show("checking the pair")
        greedy, new_tokens = options.temperature == 0, options.max_new_tokens
        report = check_pair(options.target, draft, *dtypes, greedy=greedy, new_tokens=new_tokens)
        if report.problems:
            raise InputError(report.problems[0])
        for line in report.notes:
            status.note(line)
    if target is None:
        status.show(f"loading {options.target}")
        target = load_model(options.target, dtypes[0], status.show_download)
    if draft is None:
        return target, load_draft(options.draft, target, dtypes[1])
    status.show(f"loading {draft}")
    return target, load_model(draft, dtypes[1], status.show_download)
