"""Lesson plans: what a YAML file may hold, and that our own say what their recorded runs hold."""

import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import yaml

from specviz.core.errors import InputError
from specviz.core.metrics import speedup
from specviz.core.names import machine_in_words
from specviz.data.lessons import plans
from specviz.data.lessons.plans import Moment, PlanError, Screen, parse_plan
from specviz.data.links.page_names import FORMER
from specviz.models.draft_menu import linked_names
from specviz.player.scorm import manifest
from specviz.ui.lesson.place import IN_USE, MOST, MOST_OF_ONE, OwnPlans
from tests.support.known import known

LINK = "./?run=first&step=4&hide=result,texts"
MOMENT = f"""
  - title: One moment
    minutes: 3
    link: {LINK}
    question: "Which guess fails: the first?"
    answer: The third.
"""
PLAN = f"""
title: A plan
minutes: 3
goals:
  - See a round.
moments:{MOMENT}"""


def problems_of(text: str | bytes) -> list[str]:
    with pytest.raises(PlanError) as refused:
        parse_plan(text if isinstance(text, bytes) else text.encode(), "own")
    return refused.value.problems


def test_a_plan_is_read_with_everything_in_it() -> None:
    plan = parse_plan(PLAN.encode(), "own")
    assert (plan.name, plan.title, plan.minutes, plan.goals) == ("own", "A plan", 3, ("See a round.",))
    screen = Screen.from_link(LINK)
    assert plan.moments == (Moment("One moment", 3, screen, "Which guess fails: the first?", "The third."),)
    assert (screen.link, screen.page, screen.step, screen.run is not None) == (LINK, "watch", 4, True)
    text = PLAN.replace("run=first", "target=someone/else").encode()
    assert parse_plan(text, "own").moments[0].screen.last("target") == "someone/else"
    with pytest.raises(PlanError, match="target=someone/else is not known here"):
        parse_plan(text, "own", ["wren-base", "wren-nano"])


def test_a_link_that_does_not_open_a_screen_of_this_app_is_refused() -> None:
    for link, said in (
        ("javascript:alert(1)", "write a link of this app"),
        ("//example.org/", "write a link of this app"),
        ("/\\example.org", "write a link of this app"),
        ("./?prompt=two words", "write a link of this app"),
        ("./?prompt=\N{RIGHT-TO-LEFT OVERRIDE}x", "write a link of this app"),
        ("../be_the_draft", "names no page"),
        ("//[", "write a link of this app"),
        ("./?run=first#top", "write a link of this app"),
        ("./?" + "&".join(f"a{i}=1" for i in range(100)), "write a link of this app"),
        ("./?prompt=" + "x" * 9_000, "write a link of this app"),
        ("./?gamma=99", "gamma=99 is not a draft length"),
        ("./?view=huge", "view=huge is not one of"),
        ("./?run=story-nothing", "run=story-nothing is not a recorded run"),
        ("./?hide=result,everything", "hide=everything names no control"),
        ("./?run=first&moment=2", "moment is not for a moment's link"),
    ):
        [problem] = problems_of(PLAN.replace(LINK, f'"{link}"'.replace("\\", "\\\\")))
        assert problem.startswith("Line 9, moment 1, “link”: ")
        assert said in problem


@pytest.mark.parametrize(("before", "today"), FORMER.items())
def test_a_plan_that_names_a_page_as_before_opens_the_page_of_today(before: str, today: str) -> None:
    for link in (f"./{before}?seed=3", f"/{before}?seed=3", f"{before}?seed=3"):
        (moment,) = parse_plan(PLAN.replace(LINK, link).encode(), "own").moments
        assert moment.screen.link == f"./{today}?seed=3"


def test_a_hostile_file_gives_one_sentence() -> None:
    for text, said in (
        (b"", "The file is empty"),
        (b"\xff\xfe\x00", "not plain text in UTF-8"),
        (b"title: \x00", "not plain text in UTF-8"),
        (b"x" * (plans.MAX_BYTES + 1), "more than 64,000 bytes"),
        (b"[" * 60_000, "no deeper lists"),
        (b"- " * 30_000, "no deeper lists"),
        (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "no anchors"),
        (b"title: *nothing", "no anchors"),
        (b"title: a: b", "this is not YAML"),
        (b'title: "\\UFFFFFFFF"', "not plain text in UTF-8"),
        (b"just a text", "write fields here: title, minutes, goals, moments"),
        (b"!!python/object/apply:os.system [echo]", "Line 1: a plan has no tags (!)"),
    ):
        [problem] = problems_of(text)
        assert said in problem
        assert len(problem) < 400


CODES = [*range(0x100), 0x200B, 0x2028, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF, 0x1F600]


@pytest.mark.parametrize("text", ["A plan", "See a round.", "One moment", "The third.", "minutes"])
def test_a_character_that_xml_does_not_allow_is_in_no_text_of_a_plan(text: str) -> None:
    """Before: escaped, as in "\\x01", it came into a manifest that no learning system reads, or was a traceback."""
    refused = set()
    for code in CODES:
        try:
            plan = parse_plan(PLAN.replace(text, f'"{text}\\U{code:08x}"', 1).encode(), "own")
        except PlanError as error:
            refused |= {code} if error.problems == ["The file is not plain text in UTF-8."] else set()
        else:
            assert fromstring(manifest(plan))[1][0][0].text == plan.title
    assert {0, 1, 0x1B, 0x7F, 0xD800, 0xFFFE} <= refused
    assert refused & {0x20, 0x41, 0xE9, 0xE000, 0xFEFF, 0x1F600} == set()


def test_a_server_has_its_own_plans_and_those_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "week-3.yaml").write_text(PLAN)
    (tmp_path / "broken.yaml").write_text("title: x")
    (tmp_path / "Not a name.yaml").write_text(PLAN)
    (tmp_path / "ten-minutes.yaml").write_text(PLAN)
    monkeypatch.setenv("SPECVIZ_LESSONS", str(tmp_path))
    found = {plan.name: plan.title for plan in plans.all_plans.__wrapped__()}
    assert list(found) == ["ten-minutes", "fifty-minutes", "week-3"]
    assert found["ten-minutes"] == "Ten minutes"  # the app's own name means the app's own plan
    assert "broken.yaml is left out" in caplog.text


OWN = [plan for plan in plans.all_plans() if plan.name in plans.OWN]
MOMENTS = {(plan.name, moment.title): moment for plan in OWN for moment in plan.moments}
SAID = yaml.safe_load((Path(__file__).parents[1] / "fixtures/moments.yaml").read_text(encoding="utf-8"))
OF_A_RUN = [key for key, moment in MOMENTS.items() if moment.screen.run]


def test_every_moment_with_a_run_is_checked() -> None:
    assert {title for _, title in OF_A_RUN} == SAID.keys()


def test_a_moment_names_the_figures_of_its_run_and_other_braces_stay() -> None:
    """Typed figures were wrong as soon as a run was recorded again, and said nothing of the machine."""
    run = known(MOMENTS["fifty-minutes", "When it pays"].screen.run)
    text = "title: A\nminutes: 1\ngoals: [a]\nmoments:\n- title: B\n  minutes: 1\n  link: ./?run=story-pays\n"
    text += '  question: "{speedup} on {run_machine}, {nothing}, {}?"\n  answer: x\n'
    said = plans.parse_plan(text.encode(), "own").moments[0].question
    assert said == f"{known(speedup(run)):.2f} on {machine_in_words(run.recorded_on.machine)}, {{nothing}}, {{}}?"
    for plan in OWN:
        typed = (plans.FOLDER / f"{plan.name}.yaml").read_text(encoding="utf-8")
        assert not re.search(r"\d\.\d\d times", typed), "a speedup is typed"


def add(own: OwnPlans, number: int, owner: str) -> str:
    file = (plans.FOLDER / "ten-minutes.yaml").read_bytes() + f"\n# {number}\n".encode()
    return own.add(file, linked_names(), owner).name


def test_one_visitor_gives_up_the_oldest_of_their_own_plans_and_nobody_elses() -> None:
    server = OwnPlans(lambda: 0.0)
    teacher = add(server, 0, "teacher")
    own = [add(server, number, "greedy") for number in range(1, MOST_OF_ONE + 2)]
    assert server.find(own[0]) is None
    assert all(server.find(name) for name in [teacher, *own[1:]])


def test_on_a_full_server_a_plan_in_use_stays() -> None:
    now = [0.0]
    server = OwnPlans(lambda: now[0])
    names = [add(server, number, f"visitor {number}") for number in range(MOST)]
    with pytest.raises(InputError, match="no place for another plan"):
        add(server, MOST, "one more")
    now[0] = IN_USE
    assert server.find(names[0])  # its lesson goes on
    add(server, MOST, "one more")
    assert server.find(names[0])
    assert server.find(names[1]) is None
    assert add(server, 2, "anybody") == names[2], "a file that is there needs no place"
