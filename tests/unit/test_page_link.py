"""The base of the pages' links, and the links that have no test file of their own."""

from typing import Annotated, ClassVar

import pytest
from pydantic import Field

from specviz.core.request import RunRequest
from specviz.data.page_link import DIGITS, ZERO_OR_ONE, PageLink, one_of, real, unique
from specviz.data.workloads import DEFAULT_PRESET
from specviz.models.pairs import known_names
from specviz.ui.proof.link import FIRST_SWITCH, wanted_from_link


class BirdLink(PageLink):
    LEFT_OUT: ClassVar[str] = "A {name} is unknown."

    eggs: Annotated[int, DIGITS, Field(ge=1, le=9, description="a number of eggs from 1 to 9")] = 4
    weight: Annotated[float, real(decimals=1), Field(ge=0, le=2, description="a weight from 0 to 2")] = 1.0
    flies: Annotated[bool, ZERO_OR_ONE, Field(description="0 or 1")] = True
    colours: Annotated[
        tuple[Annotated[str, one_of(["blue", "brown"])], ...], unique(), Field(validation_alias="colour")
    ] = ("brown",)


def test_a_link_without_parameters_is_the_default() -> None:
    assert BirdLink.read({}) == (BirdLink(), [])
    assert BirdLink.read({"utm_source": "<b>", "colours": "pink", "eggs": []}) == (BirdLink(), [])


def test_a_link_reads_back_as_what_it_was_made_of() -> None:
    bird = BirdLink(eggs=2, weight=0.3, flies=False, colours=("blue", "brown"))
    assert bird.parameters() == {"eggs": "2", "weight": "0.3", "flies": "0", "colour": ["blue", "brown"]}
    assert BirdLink.read(bird.parameters()) == (bird, [])


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("eggs", "10", "eggs=10 is not a number of eggs from 1 to 9: using 4."),
        ("eggs", " 7", "eggs=?7 is not a number of eggs from 1 to 9: using 4."),
        ("eggs", "7.0", "eggs=7.0 is not a number of eggs from 1 to 9: using 4."),
        ("weight", "inf", "weight=inf is not a weight from 0 to 2: using 1."),
        ("weight", "2.06", "weight=2.06 is not a weight from 0 to 2: using 1."),  # 2.1 once rounded
        ("flies", "yes", "flies=yes is not 0 or 1: using 1."),
        ("colour", "pink", "A colour is unknown."),
    ],
)
def test_a_refused_value_falls_back_with_one_line(name: str, text: str, line: str) -> None:
    assert BirdLink.read({name: text}) == (BirdLink(), [line])


def test_of_several_values_the_known_ones_stay_each_once() -> None:
    link, problems = BirdLink.read({"colour": ["pink", "blue", "red", "blue"], "eggs": ["3", "5"]})
    assert link == BirdLink(colours=("blue",), eggs=5)
    assert problems == ["eggs is in the link 2 times: using the last.", "A colour is unknown."]


def test_a_page_can_say_what_missing_and_refused_values_are_taken_from() -> None:
    default = BirdLink(eggs=8, weight=0.5)
    link, problems = BirdLink.read({"eggs": "0", "flies": "0"}, default)
    assert link == BirdLink(eggs=8, weight=0.5, flies=False)
    assert problems == ["eggs=0 is not a number of eggs from 1 to 9: using 8."]


def test_a_proof_link_brings_everything_back() -> None:
    wanted, problems = wanted_from_link({}, known_names())
    assert (wanted.request, wanted.preset, problems) == (RunRequest(DEFAULT_PRESET.text), DEFAULT_PRESET.name, [])
    link = wanted.link("match") | {"position": "after", "draws": "500", "gamma": "7"}
    again, problems = wanted_from_link(link, known_names())
    assert (again.position, again.draws, again.rule, problems) == ("after", 500, "match", [])
    assert again.request.settings.draft_length == 7


@pytest.mark.parametrize(("name", "text"), [("position", "ninth"), ("draws", "7"), ("rule", "lossless")])
def test_a_proof_link_says_what_it_cannot_use(name: str, text: str) -> None:
    wanted, problems = wanted_from_link({name: text}, known_names())
    assert (wanted.position, wanted.draws, wanted.rule) == ("first", 2000, FIRST_SWITCH)
    assert len(problems) == 1
    assert problems[0].startswith(f"{name}={text} is not ")
