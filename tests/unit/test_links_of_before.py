"""Links of an earlier version ask for what they asked for.

`tests/fixtures/before/links.json` holds links to all seven pages, good and bad, and what commit 22d8412 read in each:
the values, and the lines that say what could not be used. Never make it again with newer code.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import pytest

from specviz.data.permalink import request_from_link
from specviz.game.game import plan_from_link
from specviz.measure.worksheet.model import Model
from specviz.measure.worksheet.starts import Start
from specviz.models.catalogue import known_names
from specviz.ui.helps.helps_state import choice_from_link
from specviz.ui.learn.learn_state import Learning, take
from specviz.ui.proof.proof_state import wanted_from_link
from specviz.ui.race.race_state import entry_from_link
from specviz.ui.worksheet.worksheet_state import start_from_link
from tests.support.before import BEFORE, holds


class Link(NamedTuple):
    page: str
    link: dict[str, list[str]]
    fields: dict[str, Any] | None
    problems: list[str]

    def __str__(self) -> str:
        return f"{self.page}?" + "&".join(f"{name}={value}" for name, values in self.link.items() for value in values)


LINKS = [Link(**found) for found in json.loads((BEFORE / "links.json").read_text(encoding="utf-8"))]
START = Start("a start", "a test's", Model(0.7, 4, 0.1, 1.1, 0.05, 1, 0.1), 40, 28)  # what the worksheet holds already

Params = dict[str, list[str]]
Read = tuple[dict[str, Any] | None, list[str]]


def watch(params: Params) -> Read:
    linked = request_from_link(params, known_names())
    return {"request": asdict(linked.request), "step": linked.step, "preset": linked.preset}, linked.problems


def race(params: Params) -> Read:
    entry, problems = entry_from_link(params, known_names())
    fields = {"presets": entry.presets, "own": entry.own, "repeats": entry.repeats}
    return {"request": asdict(entry.request), **fields}, problems


def helps(params: Params) -> Read:
    choice, problems = choice_from_link(params, known_names())
    return choice.model_dump(), problems


def proof(params: Params) -> Read:
    wanted, problems = wanted_from_link(params, known_names())
    request, settings = wanted.request, wanted.request.settings
    return {
        "preset": wanted.preset or "own",
        "prompt": request.prompt,
        "target": request.target,
        "draft": request.draft,
        "gamma": settings.draft_length,
        "temperature": settings.temperature,
        "top_k": settings.top_k or 0,
        "top_p": settings.top_p or 1.0,
        "seed": settings.seed,
        "precision": request.precision,
        "position": wanted.position,
        "draws": wanted.draws,
        "rule": wanted.rule,
    }, problems


def worksheet(params: Params) -> Read:
    start, problems = start_from_link(params, START)
    fields = {"model": asdict(start.model), "drafted": start.drafted, "accepted": start.accepted} if start else None
    return fields, problems


def learn(params: Params) -> Read:
    state = Learning()
    problems = take(state, {name: values[-1] for name, values in params.items()})
    return {"lesson": state.lesson, "part": state.part, "words": state.words}, problems


def play(params: Params) -> Read:
    plan, problems = plan_from_link({name: values[-1] for name, values in params.items()})
    return plan.model_dump(), problems


READERS: dict[str, Callable[[Params], Read]] = {
    "watch": watch, "race": race, "helps": helps, "proof": proof, "worksheet": worksheet, "learn": learn, "play": play
}  # fmt: skip
STEP = "step=x is not a step from 0 to 100000: starting at the first."
REWORDED = {  # sentences that the language rule, or a new part of a page, changed
    "That link names no part of this page: they are story, quiz, words and why.": (
        "That link names no part of this page: they are story, methods, load, quiz, words, why and teach."
    ),
    "The link's repeats is not from 1 to 20: using 5.": "repeats=99 is not a number from 1 to 20: using 5.",
    "The link's same_length is not from 0 to 1: using 1.": "same_length=2 is not 0 or 1: using 1.",
    "The link’s position is none of this page’s: using first.": (
        "position=nope is not a position known here: using first."
    ),
    "The link’s draws is none of this page’s: using 2000.": (
        "draws=3 is not one of 500, 1000, 2000, 5000, 10000, 20000: using 2000."
    ),
    "The link’s rule is none of this page’s: using no-residual.": (
        "rule=nope is not a rule known here: using no-residual."
    ),
    "The link's set of prompts is none of story, prose, copy, random: using story.": (
        "The link's set is not one of story, prose, copy, random: using story."
    ),
    "The link's mode is neither type nor pick: using type.": "The link's mode is not type or pick: using type.",
    "The link's seed is no whole number from 0 to 9007199254740991: using 3.": (
        "The link's seed is not a whole number from 0 to 9007199254740991: using 3."
    ),
}  # fmt: skip


def test_there_are_links_to_every_page_good_and_bad() -> None:
    assert {link.page for link in LINKS} == set(READERS)
    assert {link.page for link in LINKS if link.problems} == set(READERS)
    assert len(LINKS) > 50


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_a_link_asks_for_what_it_asked_for_and_what_cannot_be_used_gets_its_line(link: Link) -> None:
    fields, problems = READERS[link.page](link.link)
    assert holds(json.loads(json.dumps(fields)), link.fields)
    expected = [REWORDED.get(problem, problem) for problem in link.problems]
    if link.page == "race" and STEP in expected:
        expected.remove(STEP)  # a race has no step: its link ignores it now, as it ignores every unknown parameter
    assert sorted(problems) == sorted(expected)
