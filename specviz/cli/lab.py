"""`specviz lab`: exercises in which students write the rules themselves, and checks that name the kind of a mistake."""

from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from specviz.cli.options import JsonPath, add_command, new_group
from specviz.cli.output import print_line, print_table, write_json
from specviz.core.errors import InputError, UnmetError
from specviz.core.files import ASSETS, write_whole
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.lab_words import lab_words

FILES = ("exercises.py", "lab.ipynb")
DRAWS = 2_000  # of each tested token
STATES = {"right": "✓ right", "wrong": "✗ not yet", "not written": "· not written"}


group = new_group()


@add_command(group, "lab new my-lab")
def new(folder: Annotated[Path, Argument(metavar="FOLDER", help="is made")]) -> None:
    """Write the exercises into a folder."""
    if there := [name for name in FILES if (folder / name).exists()]:
        raise InputError(f"{folder / there[0]} is already there: name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            write_whole(folder / name, (ASSETS / "lab" / name).read_bytes(), 0o644)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    print_line(f"wrote {folder / FILES[0]} and {FILES[1]}: write the functions, then `specviz lab check {folder}`")


@add_command(group, "lab check my-lab", "lab check my-lab/exercises.py judge --json marks.json")
def check(
    what: Annotated[Path, Argument(metavar="FOLDER|FILE", help="a student's file, or a folder of such files")],
    names: Annotated[list[str] | None, Argument(metavar="NAME", help="only these exercises")] = None,
    json: JsonPath = None,
) -> None:
    """Say what is right; status 1 where something is not, for programs that grade."""
    from specviz.lab.checking import check_file, exercise_files

    found = {file: check_file(file, names or []) for file in exercise_files(what)}
    marks = [{"file": str(file), **asdict(mark)} for file, marks in found.items() for mark in marks]
    right = sum(mark.right for marks in found.values() for mark in marks)
    if write_json(json, dumps({"right": right, "of": len(marks), "exercises": marks}, indent=2)):
        titles = {name: texts.title for name, texts in lab_words().items()}
        for file, of_file in found.items():
            print_line(str(file))
            print_table(("exercise", ""), [[titles[mark.exercise], STATES[mark.state]] for mark in of_file])
            for mark in of_file:
                if mark.state == "wrong":
                    print_line(f"\n{titles[mark.exercise]} ({mark.exercise}): {mark.says}")
    if right < len(marks):
        raise UnmetError(f"{right} of {len(marks)} exercises are right.")


@add_command(group, "lab hint judge")
def hint(name: Annotated[str, Argument(metavar="NAME", help="of the exercise")]) -> None:
    """Give a hint for an exercise."""
    if not (texts := lab_words().get(name)):
        raise InputError(f"There is no exercise {name[:60]!r}: use {', '.join(lab_words())}.")
    print_line(texts.hint)


@add_command(group, "lab run my-lab/exercises.py --json run.json")
def run(
    file: Annotated[Path, Argument(metavar="FILE", help="a student's file")],
    seed: Annotated[int, Option(metavar="N", help="of what is drawn")] = 0,
    json: JsonPath = None,
) -> None:
    """Decode with a file's judge and the bundled models, a minute, as a run that opens in the app."""
    if json is None:
        raise InputError("Say where to write the run: --json run.json.")
    from specviz.lab.checking import SECONDS_OF_A_RUN, TooLong, functions_in, limited

    judge = functions_in(file).get("judge")
    if not callable(judge):
        raise InputError(f"{file} has no function judge.")
    import torch

    from specviz.lab.draws import dump_run
    from specviz.lab.with_models import decode_with, draw_with  # imports torch

    torch.set_num_threads(1)  # more of them are slower where other programs are at work
    settings = DecodeSettings(temperature=1.0, seed=seed)
    try:
        with limited(SECONDS_OF_A_RUN):
            content = dump_run(decode_with(judge, settings), draw_with(judge, settings, DRAWS))
    except TooLong:
        raise InputError(f"judge takes longer than {SECONDS_OF_A_RUN} s with real models. Does it end?") from None
    if write_json(json, content):
        print_line(f"wrote {json}: open it in Watch, and in Same quality, which tests {DRAWS:,} draws")
