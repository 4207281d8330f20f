"""A class with a board: what it costs the server that rounds and answers arrive on it, and whether all of them do.

    python -m benchmarks.class_board [--students 30] [--rounds 3] [--seconds 60] [--out FILE]

The students open one link in the same second. Each plays some rounds of "Be the draft" and answers three questions of
the quiz, first without a class, then as a class with its teacher's board open. At last the teacher only looks.
"""

import argparse
import asyncio
import os
import re
import subprocess
import time
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.crowds import rounded, spread
from benchmarks.serving import ROOT, HealthCheck, Server, served
from benchmarks.timing import report
from benchmarks.visitors import GIVE_UP_SECONDS, Visitor, visiting
from specviz.models.devices import describe_machine

GUESSES = ("Lily. She was", "Tom. He had a", "Anna and she", "a dog", "the big tree")
QUESTIONS = 3
LEFT_SECONDS = 30.0  # until the server has forgotten the students who left
CODE = re.compile(r'class="code">([^<]+)<')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3, help="of each student, at most 5")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long the teacher looks at a board without news"
    )
    parser.add_argument("--out")
    options = parser.parse_args()
    load = os.getloadavg()
    with served() as server:
        measured = asyncio.run(play(server, options.students, options.rounds, options.seconds))
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    about = {"machine": describe_machine().machine, "commit": commit, "load_average_before": rounded(load)}
    report(about | {"students": options.students, "rounds_each": options.rounds} | measured, options.out)


async def play(server: Server, students: int, rounds: int, seconds: float) -> dict[str, Any]:
    """Without a class, with one, and the teacher alone."""
    await attend(server, 1, "", 1)  # the engine has started and loaded its models
    without = await attend(server, students, "", rounds)
    async with visiting(server.port) as teacher:
        code = await open_class(teacher)
        looking = asyncio.create_task(teacher.stay(10 * GIVE_UP_SECONDS))
        of_class = await attend(server, students, f"class={code}", rounds)
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        board = await board_of(teacher, students, rounds)
        idle = await look(server, teacher, seconds)
    return {
        "without_a_class": without,
        "with_a_class": of_class,
        "board": board,
        "teacher_looks": idle,
        "memory": server.memory(),
        "load_average_after": rounded(os.getloadavg()),
    }


async def open_class(teacher: Visitor) -> str:
    """The code of a new class."""
    await teacher.open("", "class")
    await teacher.first_script()
    await teacher.press("class_open")
    await teacher.stay_until(lambda: CODE.search(teacher.html) is not None, GIVE_UP_SECONDS)
    found = CODE.search(teacher.html)
    assert found is not None, teacher.errors
    return found[1]


async def attend(server: Server, students: int, query: str, rounds: int) -> dict[str, Any]:
    """The students come in the same second, play and answer; what the server used for each of them."""
    errors: list[str] = []
    waits: list[float] = []
    began, before = time.monotonic(), server.processor_seconds()

    async def one(number: int) -> None:
        async with AsyncExitStack() as stack:
            student = await stack.enter_async_context(visiting(server.port))
            await student.open(query, "be_the_draft")
            await student.first_script()
            if query:
                await press(student, "class_join", class_name=f"student-{number}")
            for turn in range(rounds):
                asked, drawn = time.monotonic(), len(student.turns)
                await student.press("be_the_draft_send", be_the_draft_guess=GUESSES[(number + turn) % len(GUESSES)])
                await student.stay_until(lambda: len(student.turns) > drawn, GIVE_UP_SECONDS)  # noqa: B023
                waits.append(time.monotonic() - asked)
            await student.open("part=quiz", "learn")
            for question in (f"quiz-{number}" for number in range(1, QUESTIONS + 1)):
                answer, answered = f"{question}-{number % 3}", f"{question}-again"
                await student.stay_until(lambda: answer in student.widgets, GIVE_UP_SECONDS)  # noqa: B023
                await student.press(answer)
                await student.stay_until(lambda: answered in student.widgets, GIVE_UP_SECONDS)  # noqa: B023
            errors.extend(student.errors)

    with HealthCheck(server) as health:
        done = await asyncio.gather(*(one(number) for number in range(students)), return_exceptions=True)
    used, passed = server.processor_seconds() - before, time.monotonic() - began
    return {
        "errors": [*errors, *(repr(each) for each in done if each is not None)][:5],
        "seconds": round(passed, 1),
        "server_milliseconds_a_student": round(1000 * used / students),
        "server_share_of_a_core": round(used / passed, 3),
        "seconds_from_a_guess_to_its_result": spread(waits),
        "health_seconds": spread(health.seconds),
    }


async def press(visitor: Visitor, key: str, **typed: str) -> None:
    """Press a button, and wait until the page is drawn again."""
    drawn = visitor.scripts
    await visitor.press(key, **typed)
    await visitor.stay_until(lambda: visitor.scripts > drawn, GIVE_UP_SECONDS)


async def board_of(teacher: Visitor, students: int, rounds: int) -> dict[str, Any]:
    """What is on the board at last, and what should be."""
    found: dict[str, str] = {}
    for part in ("scores", "students"):
        teacher.html = ""
        await teacher.open(f"part={part}", "class")
        await teacher.stay_until(lambda: 'class="class-part' in teacher.html, GIVE_UP_SECONDS)
        found[part] = teacher.html
    names = re.findall(r"<bdi>(student-\d+)</bdi>", found["students"])
    said = re.sub(r"<[^>]+>", " ", found["scores"])
    played = re.search(r"(\d+) rounds? so far", said)
    return {
        "students": len(names),
        "students_twice": len(names) - len(set(names)),
        "students_missing": students - len(set(names)),
        "rounds": int(played[1]) if played else 0,
        "rounds_sent": students * rounds,
        "answers": sum(map(int, re.findall(r"<td>\d+ of (\d+)</td>", found["students"]))),
        "answers_sent": students * QUESTIONS,
    }


async def look(server: Server, teacher: Visitor, seconds: float) -> dict[str, Any]:
    """What a board without news costs."""
    await teacher.stay(LEFT_SECONDS)
    before, polls, received = server.processor_seconds(), teacher.polls, teacher.received
    await teacher.stay(seconds)
    asked = teacher.polls - polls
    return {
        "polls": asked,
        "milliseconds_a_poll": round(1000 * (server.processor_seconds() - before) / max(1, asked), 2),
        "bytes_a_poll": round((teacher.received - received) / max(1, asked)),
        "errors": teacher.errors[:5],
    }


if __name__ == "__main__":
    main()
