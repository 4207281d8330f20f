"""A class as two CSV tables: one row for each round, and one for each answer to the quiz."""

import csv
import io
from collections.abc import Iterable, Mapping

from specviz.core.csv_cells import safe_cell
from specviz.core.metrics import Counts
from specviz.data.lessons.quiz import QUIZ
from specviz.service.classes.room import ClassNow, Student

FIGURES = ("drafted", "accepted", "emitted")
WHO = ("student", "name")
ROUND_COLUMNS = (*WHO, "seed", "set", "mode", "prompt", "round", "guess", "written")
ANSWER_COLUMNS = (*WHO, "question", "asked", "option", "answer", "right")


def rounds_csv(now: ClassNow) -> str:
    """The rounds.

    Columns: student (in the order of joining, from 1), name (may be empty), seed, set, mode, prompt (the preset's
    name), round from 1 on each prompt, guess (at most 60 characters of it), written (by the target call); then for you
    and model (wren-nano, at the same place, with as many tokens): drafted, accepted, emitted (one target call each).
    """
    prompts = [preset.name for preset in now.plan.prompts]
    rows = [
        {
            **_who(student),
            **now.plan.link,
            "prompt": prompts[one.text],
            "round": one.number,
            "guess": safe_cell(one.guess),
            "written": safe_cell(one.written),
            **_figures("you", one.mine),
            **_figures("model", one.model),
        }
        for student in now.students
        for one in sorted(student.rounds.values(), key=lambda one: one.key)
    ]
    return _csv([*ROUND_COLUMNS, *(f"{who}_{figure}" for who in ("you", "model") for figure in FIGURES)], rows)


def answers_csv(now: ClassNow) -> str:
    """The answers: question from 1, its text, option from 1, its text, right (1 or 0)."""
    rows = [
        {
            **_who(student),
            "question": number + 1,
            "asked": QUIZ[number].text.technical,
            "option": option + 1,
            "answer": QUIZ[number].options[option].text.technical,
            "right": int(QUIZ[number].right == option),
        }
        for student in now.students
        for number, option in sorted(student.answers.items())
    ]
    return _csv(ANSWER_COLUMNS, rows)


def _who(student: Student) -> dict[str, object]:
    return {"student": student.number, "name": safe_cell(student.name)}


def _figures(who: str, counts: Counts) -> dict[str, int]:
    return {f"{who}_{figure}": getattr(counts, figure) for figure in FIGURES}


def _csv(columns: Iterable[str], rows: Iterable[Mapping[str, object]]) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()
