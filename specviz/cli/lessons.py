"""`export` writes a trace or a lesson as a page that plays offline; `lesson` checks plans, writes sheets; `lab` is for
exercises in which students write the rules themselves, with checks that name the kind of a mistake."""

import sys
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option

from specviz.cli.options import JsonPath, add_command, new_group, one_of
from specviz.cli.output import print_line, print_table, safe, write_bytes, write_file, write_json
from specviz.core.errors import InputError, UnmetError
from specviz.core.files import ASSETS, write_whole
from specviz.core.languages import ENGLISH, languages, set_language
from specviz.core.settings import DecodeSettings
from specviz.core.texts import join_choices
from specviz.core.trace import read_trace
from specviz.data.lessons.lab_words import lab_words
from specviz.data.lessons.plans import LessonPlan, PlanError, all_plans, find_plan, read_plan_file
from specviz.models.draft_menu import linked_names
from specviz.player.live import live_file, write_site
from specviz.player.offline import lesson_page, offline_page
from specviz.player.scorm import scorm_package
from specviz.player.sheet import key_html, lesson_address, sheet_html

group, lesson_group, lab_group = new_group(), new_group(), new_group()


def parse_address(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise BadParameter(f"{text[:60]!r} is no address: it begins with https:// or http://")
    return text.split("?")[0].removesuffix("/") + "/"


ADDRESS = "lesson: the address of specviz that students can reach, for links and the QR code"
WHAT = (
    "a trace file; or the word “lesson” and a plan: its name, or a YAML file; or “live”: a page that decodes in the "
    "browser, as one file; or “site”: the same with all bundled models, as a folder for any static host"
)
SCORM = "lesson: write a SCORM 1.2 package, a zip that learning systems take, with questions at its end"
FILES = ("exercises.py", "lab.ipynb")
DRAWS = 2_000  # of each tested token
STATES = {"right": "✓ right", "wrong": "✗ not yet", "not written": "· not written"}
Address = Annotated[str | None, Option(parser=parse_address, metavar="URL", help=ADDRESS)]
Language = Annotated[str, Option(help="the language of what is written", **one_of(languages()))]


@add_command(
    group,
    "export run.json -o run.html",
    "export lesson ten-minutes -o lesson.html --notes notes.html",
    "export lesson ten-minutes --scorm -o lesson.zip",
)
def export(
    what: Annotated[list[str], Argument(metavar="TRACE.json | lesson PLAN | live | site", help=WHAT)],
    out: Annotated[Path, Option("--out", "-o", metavar="PAGE.html", help="the file or folder to write")],
    notes: Annotated[Path | None, Option(metavar="FILE.html", help="lesson: also write the notes and the key")] = None,
    scorm: Annotated[bool, Option("--scorm", help=SCORM)] = False,
    address: Address = None,
    lang: Language = ENGLISH,
) -> None:
    """Write a saved trace, or a lesson, as one HTML page that plays offline."""
    set_language(lang)
    if scorm and what[0] != "lesson":
        raise InputError("--scorm is for a lesson: export lesson PLAN --scorm -o lesson.zip.")
    if what == ["site"]:
        size = write_site(out)
        wrote = f"wrote {out}: {size / 1e6:,.1f} MB, decodes in the browser"
        print_line(f"{wrote}; open its index.html from a web server")
        return
    if what == ["live"]:
        page = live_file()
    elif len(what) == 1:
        page = offline_page(read_trace(Path(what[0])))
    elif len(what) == 2 and what[0] == "lesson":
        plan = plan_called(what[1])
        if notes:
            write_file(notes, key_html(plan))
            print_line(f"wrote {notes}: notes and key for the teacher")
        if scorm:
            write_bytes(out, scorm_package(plan, address))
            print_line(f"wrote {out}: a SCORM 1.2 package, to be uploaded as it is")
            return
        page = lesson_page(plan, address)
    else:
        raise InputError("export takes one trace file, the word “lesson” and one plan, “live” or “site”.")
    write_file(out, page)
    print_line(f"wrote {out}: {len(page.encode()) / 1000:,.0f} KB, plays without a network")


def plan_called(name: str) -> LessonPlan:
    if plan := find_plan(name):
        return plan
    if not Path(name).is_file():
        known = join_choices([plan.name for plan in all_plans()], "and")
        raise InputError(f"There is no plan and no file named {name}. The plans here are {known}.")
    return read_plan_file(Path(name))


@add_command(
    lesson_group, "lesson sheet my-plan.yaml -o sheet.html", "lesson sheet my-plan.yaml --key -o key.html", name="sheet"
)
def write_sheet(
    plan: Annotated[str, Argument(metavar="PLAN.yaml", help="the file, or the name of a plan here")],
    out: Annotated[Path, Option("--out", "-o", metavar="FILE.html", help="the file to write")],
    key: Annotated[bool, Option("--key", help="write the teacher's key instead")] = False,
    address: Address = None,
    lang: Language = ENGLISH,
) -> None:
    """Write a plan's sheet, or its key."""
    set_language(lang)
    found = plan_called(plan)
    link = lesson_address(address, found) if address else None
    write_file(out, key_html(found) if key else sheet_html(found, link))
    print_line(f"wrote {out}{'' if key or link else ', without a link: --address gives it one'}")


@add_command(lesson_group, "lesson check my-plan.yaml", name="check")
def check_plan(plan: Annotated[Path, Argument(metavar="PLAN.yaml", help="the file")]) -> None:
    """Say what is in a plan, or each of its problems."""
    try:
        found = read_plan_file(plan, linked_names())
    except PlanError as error:
        for problem in error.problems:
            print(safe(problem), file=sys.stderr)
        count = "1 problem" if len(error.problems) == 1 else f"{len(error.problems)} problems"
        raise InputError(f"{plan.name} is no lesson plan yet: {count}, see above.") from error
    moments = "1 moment" if len(found.moments) == 1 else f"{len(found.moments)} moments"
    print_line(f"{found.title}: {moments}, {found.minutes} minutes. The plan can be used.")


@add_command(lab_group, "lab new my-lab")
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


@add_command(lab_group, "lab check my-lab", "lab check my-lab/exercises.py judge --json marks.json")
def check(
    what: Annotated[Path, Argument(metavar="FOLDER|FILE", help="a student's file, or a folder of such files")],
    names: Annotated[list[str] | None, Argument(metavar="NAME", help="only these exercises")] = None,
    json: JsonPath = None,
) -> None:
    """Say what is right; status 1 where something is not, for programs that grade."""
    from specviz.lab.checking import check_file, exercise_files

    found, refused = {}, list[str]()
    for file in exercise_files(what):
        try:
            found[file] = check_file(file, names or [])
        except InputError as error:  # the other files are checked all the same
            refused.append(str(error))
    if refused and not found:
        raise InputError(" ".join(dict.fromkeys(refused)))
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
    if refused:
        raise InputError(" ".join(refused))
    if right < len(marks):
        raise UnmetError(f"{right} of {len(marks)} exercises are right.")


@add_command(lab_group, "lab hint judge")
def hint(name: Annotated[str, Argument(metavar="NAME", help="of the exercise")]) -> None:
    """Give a hint for an exercise."""
    if not (texts := lab_words().get(name)):
        raise InputError(f"There is no exercise {name[:60]!r}: use {', '.join(lab_words())}.")
    print_line(texts.hint)


@add_command(lab_group, "lab run my-lab/exercises.py --json run.json")
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
