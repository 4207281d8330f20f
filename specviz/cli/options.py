"""Commands and the options that several of them share; what the options mean: settings, prompt, grammar, models.

The options of a command are the fields of a dataclass. torch is imported only after the options were checked.
"""

import io
from collections.abc import Callable, Collection, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from typer import BadParameter, Option, Typer

from specviz.cli.output import StatusLine
from specviz.core.drafters import canonical, exit_layers, own_names, typed_name
from specviz.core.errors import InputError
from specviz.core.files import text_of
from specviz.core.request import prompt_problem
from specviz.core.settings import SETTINGS, DecodeSettings, parse_tree
from specviz.data.prompts.grammars import Grammar, compile_grammar
from specviz.models.catalogue import bundled_names, check_heads, method_named

if TYPE_CHECKING:
    from specviz.decoding import Drafter
    from specviz.decoding.drafters.choose import Loaded
    from specviz.models.loaded_model import LoadedModel

PROGRAM = "specviz"
MOST_TEXT = 4_000_000  # bytes of a prompt or a schema

NumberFormat = Literal["auto", "float32", "bfloat16"]
DRAFT = "the same, a head, early-exit:LAYERS, or " + ", ".join(
    typed_name(name) for _, name in own_names() if typed_name(name) != name
)
PROMPTS = 'one prompt a line; JSON or JSON lines with "prompt", "messages" or "turns"; or a CSV with a column prompt'
PromptsFile = Annotated[Path | None, Option("--prompts-file", metavar="F", help=f"a file of prompts: {PROMPTS}")]
PromptFile = Annotated[Path | None, Option("--prompt-file", metavar="F", help="a file that is one prompt, all of it")]
FIGURES = "as HTML; also as SVG and PNG where kaleido is installed"


JsonPath = Annotated[str | None, Option("--json", metavar="PATH", help="the result as JSON; - is standard output")]


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    json: JsonPath = None
    csv: Annotated[Path | None, Option("--csv", metavar="PATH", help="write a row for each measurement here")] = None
    plots: Annotated[Path | None, Option("--plots", metavar="FOLDER", help=f"write figures here, {FIGURES}")] = None


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The target and how both models are computed."""

    json: JsonPath = None
    target: Annotated[str, Option(metavar="T", help="bundled name, folder or Hub id")]
    dtype: Annotated[NumberFormat, Option(help="of both models; float32 is exact")] = "float32"
    target_dtype: Annotated[NumberFormat | None, Option(help="of the target (default: that of --dtype)")] = None
    draft_dtype: Annotated[NumberFormat | None, Option(help="of the draft model (default: that of --dtype)")] = None
    threads: Annotated[int, Option(metavar="N", help="threads that torch uses")] = 1


@dataclass(frozen=True, kw_only=True)
class PairOptions(ModelOptions):
    draft: Annotated[str, Option(metavar="D", parser=canonical, help=DRAFT)]


@dataclass(frozen=True, kw_only=True)
class PromptOptions(PairOptions):
    """One prompt, and the grammar of its output."""

    prompt: Annotated[str | None, Option(metavar="TEXT", help="the prompt")] = None
    prompt_file: PromptFile = None
    json_schema: Annotated[
        Path | None, Option("--json-schema", metavar="F", help="the output is JSON that follows this schema")
    ] = None
    regex: Annotated[str | None, Option(metavar="TEXT", help="the whole output matches this expression")] = None


def one_of(names: Collection[str]) -> dict[str, Any]:
    """What an option says of a value that is one of these."""

    def choose(text: str) -> str:
        if text not in names:
            raise BadParameter(f"{text!r} is not one of {', '.join(names)}")
        return text

    return {"parser": choose, "metavar": "|".join(names)}


def new_group() -> Typer:
    return Typer(no_args_is_help=False)


def add_command(group: Typer, *examples: str, name: str | None = None) -> Callable[[Callable[..., None]], Any]:
    """Make a function a command: its parameters are options, and so is each field of a dataclass that it takes."""

    def add(run: Callable[..., None]) -> Callable[..., None]:
        taken = signature(run, eval_str=True).parameters
        kinds = {name: each.annotation for name, each in taken.items()}
        owners = {name: kind for name, kind in kinds.items() if isinstance(kind, type) and is_dataclass(kind)}
        fielded = {each.name: each for owner in owners.values() for each in _options_of(owner)}
        alone = [each.replace(kind=Parameter.KEYWORD_ONLY) for name, each in taken.items() if name not in owners]

        def call(**given: Any) -> None:
            run(**{name: _made(owners[name], given) if name in owners else given[name] for name in taken})

        call.__signature__ = Signature([*alone, *fielded.values()])  # type: ignore[attr-defined]  # typer reads it
        lines = "\n".join(f"  {PROGRAM} {example}" for example in examples)
        group.command(name or run.__name__, help=run.__doc__, epilog=f"\b\nexamples:\n{lines}")(call)
        return run

    return add


def _options_of(owner: type) -> Iterator[Parameter]:
    kinds = get_type_hints(owner, include_extras=owner is not DecodeSettings)
    for field in fields(owner):
        default, kind = Parameter.empty if field.default is MISSING else field.default, kinds[field.name]
        if owner is DecodeSettings:
            row = SETTINGS[field.name]
            if row.kind is bool:  # a switch sets what is not the default
                default = False
            if row.name == "draft_length":  # a tree of a fixed shape decides it
                default, kind = None, int | None
            kind = Annotated[kind, Option(row.flag, metavar=row.metavar, help=row.option_help)]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _made(owner: type, given: dict[str, Any]) -> Any:
    values = {field.name: given[field.name] for field in fields(owner)}
    if owner is DecodeSettings:
        values |= {name: values[name] != row.default for name, row in SETTINGS.items() if row.kind is bool}
        if values["draft_length"] is None:
            depth = parse_tree(values["tree"]).depth if values["tree"] else None
            values["draft_length"] = depth or SETTINGS["draft_length"].default
    return owner(**values)


def check_one_given(**options: object) -> None:
    """Of options that exclude each other."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} cannot be given together.")


def prompt_of(options: PromptOptions) -> str:
    check_one_given(prompt=options.prompt, prompt_file=options.prompt_file)
    text = options.prompt if options.prompt_file is None else read_lines(options.prompt_file)
    if text is None:
        raise InputError("Give a prompt: --prompt TEXT or --prompt-file F.")
    if problem := prompt_problem(text):
        raise InputError(problem)
    return text


def grammar_of(options: PromptOptions) -> Grammar | None:
    check_one_given(json_schema=options.json_schema, regex=options.regex)
    if options.regex is None and options.json_schema is None:
        return None
    schema = read_lines(options.json_schema) if options.json_schema else None
    grammar = Grammar("regex", options.regex or "") if schema is None else Grammar("json_schema", schema)
    compile_grammar(grammar)
    return grammar


def read_lines(file: Path) -> str:
    """The text, with line feeds for all ends of lines."""
    return io.StringIO(text_of(file, MOST_TEXT), newline=None).read()


def load_pair(options: PairOptions, settings: DecodeSettings, status: StatusLine) -> "tuple[LoadedModel, Drafter]":
    target, loaded = load_models(options, options.draft, settings, status)
    from specviz.decoding import fit_drafter  # imports torch

    return target, fit_drafter(target, loaded, settings)


def load_models(
    options: ModelOptions,
    draft_name: str,
    settings: DecodeSettings,
    status: StatusLine,
    target: "LoadedModel | None" = None,
) -> "tuple[LoadedModel, Loaded]":
    """A pair that cannot work is refused before anything is downloaded or loaded."""
    if options.threads < 1:
        raise InputError(f"--threads must be at least 1, not {options.threads}.")
    import torch  # takes seconds: bad input and commands without models must not wait for it

    from specviz.decoding.drafters.choose import load_draft
    from specviz.models.loading import load_model
    from specviz.models.pairing import check_pair

    torch.set_num_threads(options.threads)
    check_heads(options.target, draft_name)
    exit_layers(draft_name)  # a name without a number is refused before anything is loaded
    draft = draft_name if method_named(draft_name).loads == "model" else None
    dtypes = options.target_dtype or options.dtype, options.draft_dtype or options.dtype
    if not {options.target, draft} <= {None, *bundled_names()}:  # bundled pairs always work
        status.show("checking the pair")
        greedy, new_tokens = settings.greedy, settings.max_new_tokens
        _, note = check_pair(options.target, draft, *dtypes, greedy=greedy, new_tokens=new_tokens)
        if note:
            status.note(note)
    if target is None:
        status.show(f"loading {options.target}")
        target = load_model(options.target, dtypes[0], status.show_download)
    if draft is None:
        return target, load_draft(draft_name, target, dtypes[1])
    status.show(f"loading {draft}")
    return target, load_model(draft, dtypes[1], status.show_download)
