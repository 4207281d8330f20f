"""`export` writes a trace or a lesson as a page that plays offline; `lesson` checks plans and texts, writes sheets."""

import argparse
import sys
from pathlib import Path

from specviz.cli.options import Command
from specviz.cli.output import print_line, safe, write_bytes, write_file
from specviz.core.errors import InputError
from specviz.core.languages import ENGLISH, languages, set_language
from specviz.core.texts import join_choices
from specviz.core.trace import read_trace
from specviz.data.lessons.plans import LessonPlan, PlanError, all_plans, find_plan, read_plan_file
from specviz.data.lessons.text_check import text_problems, texts_missing
from specviz.models.draft_menu import linked_names
from specviz.player.live import live_file, write_site
from specviz.player.offline import lesson_page, offline_page
from specviz.player.scorm import scorm_package
from specviz.player.sheet import key_html, lesson_address, sheet_html


def _export_options(parser: argparse.ArgumentParser) -> None:
    what = (
        "a trace file; or the word “lesson” and a plan: its name, or a YAML file; or “live”: a page that decodes in "
        "the browser, as one file; or “site”: the same with all bundled models, as a folder for any static host"
    )
    parser.add_argument("what", nargs="+", metavar="TRACE.json | lesson PLAN | live | site", help=what)
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="PAGE.html", help="the file or folder to write"
    )
    parser.add_argument("--notes", type=Path, metavar="FILE.html", help="lesson: also write the notes and the key")
    package = "lesson: write a SCORM 1.2 package, a zip that learning systems take, with questions at its end"
    parser.add_argument("--scorm", action="store_true", help=package)
    _add_address(parser)


def _add_address(parser: argparse.ArgumentParser) -> None:
    """And the language: both are of what students get."""
    known = "lesson: the address of specviz that students can reach, for links and the QR code"
    parser.add_argument("--address", type=_address, metavar="URL", help=known)
    said = f"the language of what is written: {join_choices(list(languages()))} (default: {ENGLISH})"
    parser.add_argument("--lang", choices=list(languages()), default=ENGLISH, metavar="CODE", help=said)


def export(options: argparse.Namespace) -> None:
    set_language(options.lang)
    if options.scorm and options.what[0] != "lesson":
        raise InputError("--scorm is for a lesson: export lesson PLAN --scorm -o lesson.zip.")
    if options.what == ["site"]:
        size = write_site(options.out)
        print_line(
            f"wrote {options.out}: {size / 1e6:,.1f} MB, decodes in the browser; open its index.html from a web server"
        )
        return
    if options.what == ["live"]:
        page = live_file()
    elif len(options.what) == 1:
        page = offline_page(read_trace(Path(options.what[0])))
    elif len(options.what) == 2 and options.what[0] == "lesson":
        plan = plan_called(options.what[1])
        if options.notes:
            write_file(options.notes, key_html(plan))
            print_line(f"wrote {options.notes}: notes and key for the teacher")
        if options.scorm:
            write_bytes(options.out, scorm_package(plan, options.address))
            print_line(f"wrote {options.out}: a SCORM 1.2 package, to be uploaded as it is")
            return
        page = lesson_page(plan, options.address)
    else:
        raise InputError("export takes one trace file, the word “lesson” and one plan, “live” or “site”.")
    write_file(options.out, page)
    print_line(f"wrote {options.out}: {len(page.encode()) / 1000:,.0f} KB, plays without a network")


def plan_called(name: str) -> LessonPlan:
    if plan := find_plan(name):
        return plan
    if not Path(name).is_file():
        known = ", ".join(plan.name for plan in all_plans())
        raise InputError(f"There is no plan and no file named {name}. The plans here are {known}.")
    return read_plan_file(Path(name))


def _address(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no address: it begins with https:// or http://")
    return text.split("?")[0].removesuffix("/") + "/"


def _lesson_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=list(ACTIONS), help="what to do with the plan")
    known = "the file; for a sheet also the name of a plan here; check without a file checks the texts of the app"
    parser.add_argument("plan", type=Path, nargs="?", metavar="PLAN.yaml", help=known)
    parser.add_argument("-o", "--out", type=Path, metavar="FILE.html", help="sheet: the file to write")
    parser.add_argument("--key", action="store_true", help="sheet: write the teacher's key instead")
    _add_address(parser)


def write_sheet(options: argparse.Namespace) -> None:
    set_language(options.lang)
    if options.out is None:
        raise InputError("lesson sheet needs --out FILE.html.")
    if options.plan is None:
        raise InputError("lesson sheet needs a plan: a YAML file, or the name of a plan here.")
    plan = plan_called(str(options.plan))
    address = lesson_address(options.address, plan) if options.address else None
    write_file(options.out, key_html(plan) if options.key else sheet_html(plan, address))
    without = "" if options.key or address else ", without a link: --address gives it one"
    print_line(f"wrote {options.out}{without}")


def check(options: argparse.Namespace) -> None:
    """Say what is in the plan, or each of its problems. Without a plan: the same for the app's texts."""
    if options.plan is None:
        if problems := text_problems():
            raise InputError(f"The texts cannot be used yet: {_listed(problems)}, see above.")
        for line in texts_missing():
            print_line(line)
        print_line("The texts of the app can be used.")
        return
    try:
        plan = read_plan_file(options.plan, linked_names())
    except PlanError as error:
        raise InputError(f"{options.plan.name} is no lesson plan yet: {_listed(error.problems)}, see above.") from error
    moments = "1 moment" if len(plan.moments) == 1 else f"{len(plan.moments)} moments"
    print_line(f"{plan.title}: {moments}, {plan.minutes} minutes. The plan can be used.")


def _listed(problems: list[str]) -> str:
    for problem in problems:
        print(safe(problem), file=sys.stderr)
    return "1 problem" if len(problems) == 1 else f"{len(problems)} problems"


ACTIONS = {"check": check, "sheet": write_sheet}

COMMANDS = (
    Command(
        "export",
        "write a saved trace, or a lesson, as one HTML page that plays offline",
        export,
        _export_options,
        (
            "run.json -o run.html",
            "lesson ten-minutes -o lesson.html --notes notes.html",
            "lesson ten-minutes --scorm -o lesson.zip",
        ),
        writes_json=False,
    ),
    Command(
        "lesson",
        "check a lesson plan, a YAML file, or write its sheet and key",
        lambda options: ACTIONS[options.action](options),
        _lesson_options,
        ("check my-plan.yaml", "check", "sheet my-plan.yaml -o sheet.html", "sheet my-plan.yaml --key -o key.html"),
        writes_json=False,
    ),
)
