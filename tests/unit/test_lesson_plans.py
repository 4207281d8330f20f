"""Lesson plans: what a YAML file may hold, and that our own say what their recorded runs hold."""

import re
from itertools import product
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from specviz.cli.main import main
from specviz.core.errors import InputError
from specviz.core.metrics import costs, count, speedup
from specviz.core.names import ORDINALS, machine_in_words
from specviz.core.texts import fill, spell_count
from specviz.core.trace import Round, Trace
from specviz.data.lessons import plans
from specviz.data.lessons.plans import LessonPlan, Moment, PlanError, Screen, parse_plan
from specviz.data.lessons.recorded_runs import story_figures
from specviz.data.links.hidden import hidden_in, written
from specviz.data.links.page_names import FORMER
from specviz.models.draft_menu import linked_names
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


def changed(old: str, new: str) -> bytes:
    assert PLAN.count(old) == 1
    return PLAN.replace(old, new).encode()


def plan_with(old: str, new: str) -> LessonPlan:
    return parse_plan(changed(old, new), "own")


def problems_of(text: bytes) -> list[str]:
    with pytest.raises(PlanError) as refused:
        parse_plan(text, "own")
    return refused.value.problems


def test_a_plan_is_read_with_everything_in_it() -> None:
    screen = Screen.from_link(LINK)
    moment = Moment("One moment", 3, screen, "Which guess fails: the first?", "The third.")
    assert parse_plan(PLAN.encode(), "own") == LessonPlan("A plan", 3, ("See a round.",), (moment,), "own")
    assert (screen.link, screen.page, screen.step, screen.run is not None) == (LINK, "watch", 4, True)
    # YAML's other kinds
    assert (plan_with("A plan", "2026-01-01").title, plan_with("See a round.", "010").goals) == ("2026-01-01", ("010",))
    assert plan_with("The third.", "yes").moments[0].answer == "yes"
    assert plan_with("run=first", "target=someone/else").moments[0].screen.last("target") == "someone/else"
    with pytest.raises(PlanError, match="target=someone/else is not known here"):
        parse_plan(changed("run=first", "target=someone/else"), "own", ["wren-base", "wren-nano"])


def test_all_problems_of_a_file_come_at_once_each_with_its_place(snapshot: SnapshotAssertion) -> None:
    moment = (
        "title: One\n    minutes: 3\n    link: https://example.org/?run=first\n    question:\n    anwser: The third."
    )
    assert problems_of(f"\nminutes: soon\ngoals: See.\nmoments:\n  - {moment}\n  - just a text\n".encode()) == snapshot


ELSEWHERE = ("javascript:alert(1)", "//example.org/", "/\\example.org", "//[", "../be_the_draft")
UNFIT = ("./?prompt=two words", "./?prompt=\N{RIGHT-TO-LEFT OVERRIDE}x", "./?run=first#top", "./?prompt=" + "x" * 9_000)
UNFIT += ("./?" + "&".join(f"a{number}=1" for number in range(100)),)
UNKNOWN = ("gamma=99", "view=huge", "run=story-nothing", "hide=result,everything", "run=first&moment=2")
LINKS = (*ELSEWHERE, *UNFIT, *(f"./?{query}" for query in UNKNOWN))
REFUSED: list[tuple[bytes, str]] = [  # a file, and what its first problem says
    (changed("3\ngoals", "2\ngoals"), "The moments take 3 minutes together"),
    (changed("title: A plan", "title: A plan\ntitle: B"), "Line 3: “title” is there twice"),
    (changed("The third.", "x" * 1_001), "Line 11, “answer”: it has 1,001, and 1,000"),
    (changed("The third.", "[a, b]"), "Line 11, “answer”: write a text here"),
    (changed("  - See a round.", "  []"), "Line 5, “goals”: write a list here"),
    ((PLAN + MOMENT * 30).encode(), "and 30 is the most"),
    *((changed(LINK, f'"{link}"'.replace("\\", "\\\\")), "Line 9, “link”: ") for link in LINKS),
    (b"", "The file is empty"),
    *((text, "not plain text in UTF-8") for text in (b"\xff\xfe\x00", b"title: \x00", b'title: "\\UFFFFFFFF"')),
    # before: escaped, as in "\\x01", it came into a manifest that no learning system reads, or was a traceback
    *((b'title: "\\u%s"' % code, "not plain text in UTF-8") for code in b"0001 001b 007f d800 fffe".split()),
    (b"x" * (plans.MAX_BYTES + 1), "more than 64,000 bytes"),
    *((text, "no deeper lists") for text in (b"[" * 60_000, b"- " * 30_000)),
    *((text, "no anchors") for text in (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", b"title: *nothing")),
    (b"title: a: b", "this is not YAML"),
    (b"just a text", "write fields here: title, minutes, goals, moments"),
    (b"!!python/object/apply:os.system [echo]", "Line 1: a plan has no tags (!)"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_plan_of_this_app_or_does_harm_is_refused_in_a_sentence(text: bytes, said: str) -> None:
    first, *_ = problems_of(text)
    assert said in first
    assert len(first) < 400


@pytest.mark.parametrize("text", ["See a round.", "One moment", "The third."])
def test_a_sign_that_xml_does_not_allow_is_in_no_text_of_a_plan(text: str) -> None:
    assert problems_of(changed(text, f'"{text}\\u0001"')) == ["The file is not plain text in UTF-8."]
    assert plan_with("A plan", '"A\\U0001F600"').title == "A😀"  # and other signs are taken


def test_hidden_names_are_read_from_lists_and_written_in_one_order() -> None:
    assert hidden_in([" costs ,result,,<b>,<b>", "texts"]) == ({"result", "texts", "costs"}, ["<b>"])
    assert written(["texts", "menu"]) == "menu,texts"


def test_problems_are_short_and_not_too_many() -> None:
    assert all(len(problem) < 200 for problem in problems_of(f"{'k' * 900}: x\n".encode() * 2))
    *_, last = many = problems_of("\n".join(f"field{i}: x" for i in range(100)).encode())
    assert (len(many), " 74 " in last) == (plans.MAX_PROBLEMS + 1, True)


def test_a_link_to_any_page_is_taken_and_one_that_names_a_page_as_before_opens_the_page_of_today() -> None:
    for link in ("./", "/", "?run=first", "./?run=00ff00ff00ff00ff&gamma=3", "learn?part=quiz", "/race"):
        assert plan_with(LINK, link)
    for (before, today), start in product(FORMER.items(), ("./", "/", "")):
        assert plan_with(LINK, f"{start}{before}?seed=3").moments[0].screen.link == f"./{today}?seed=3"
    assert Screen.from_link("./").link == "./"
    race = Screen.from_link("race?preset=story-1&preset=code-2")
    assert (race.params, race.link) == ({"preset": ["story-1", "code-2"]}, "./race?preset=story-1&preset=code-2")


def test_a_server_has_its_own_plans_and_those_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("week-3", "broken", "Not a name", "ten-minutes"):
        (tmp_path / f"{name}.yaml").write_text("title: x" if name == "broken" else PLAN)
    monkeypatch.setenv("SPECVIZ_LESSONS", str(tmp_path))
    found = {plan.name: plan.title for plan in plans.all_plans.__wrapped__()}
    assert list(found) == ["ten-minutes", "fifty-minutes", "week-3"]
    assert found["ten-minutes"] == "Ten minutes"  # the app's own name means the app's own plan
    assert "broken.yaml is left out" in caplog.text


def test_the_command_says_every_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(PLAN)
    bad.write_text(text := "title: x\nmoments:\n  - a text\n")
    assert main(["lesson", "check", str(good)]) == 0
    assert "A plan: 1 moment, 3 minutes" in capsys.readouterr().out
    assert main(["lesson", "check", str(bad)]) == 2
    *problems, last = capsys.readouterr().err.splitlines()
    assert problems == problems_of(text.encode())
    assert last.startswith("specviz: bad.yaml is no lesson plan yet: 3 problems")
    assert main(["lesson", "check", str(tmp_path / "none.yaml")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err


OWN = [plan for plan in plans.all_plans() if plan.name in plans.OWN]
MOMENTS = {(plan.name, moment.title): moment for plan in OWN for moment in plan.moments}
NUMBERS = re.compile(r"\d+(?:\.\d+)?")
SAID = yaml.safe_load((Path(__file__).parents[1] / "fixtures/moments.yaml").read_text(encoding="utf-8"))
OF_A_RUN = [key for key, moment in MOMENTS.items() if moment.screen.run]
PHASES = {"The draft guesses": 0, "Which guess fails?": 1, "The best round": 1}  # else the result


def figures_of(run: Trace, round: Round) -> dict[str, object]:
    counts, quoted = count(run.rounds), [f"“{known(token.text).strip()}”" for token in round.drafted]
    return {
        **{"run": run, "round": round, "counts": counts, "costs": costs(run), "speed": speedup(run)},
        **{"judged": counts.accepted + counts.rejected, "length": len(round.drafted), "written": round.emits},
        "own": f"“{round.emitted.text.strip()}”",
        "Written": spell_count(len(round.emitted_ids)).capitalize(),
        "all": " and ".join([", ".join(quoted[:-1]), *quoted[-1:]]),
        "accepted": " and ".join(quoted[: round.accepted]),
        "rejected": "".join(quoted[round.accepted : round.accepted + 1]),
        "discarded": " and ".join(quoted[round.accepted + 1 :]),
        "place": ORDINALS[round.accepted],
    }


def text_of(moment: Moment) -> str:
    return " ".join([moment.question, moment.answer, moment.mistakes])


@pytest.mark.parametrize("key", OF_A_RUN, ids=": ".join)
def test_what_a_moment_says_of_its_run_is_true(key: tuple[str, str]) -> None:
    moment = MOMENTS[key]
    assert {title for _, title in OF_A_RUN} == SAID.keys()
    run = known(moment.screen.run)
    round, phase = divmod(moment.screen.step, 3)
    assert phase == PHASES.get(moment.title, 2)
    tried = story_figures().tried.get(dict(moment.screen.settings)["run"].removeprefix("story-"), 0)
    figures, text = figures_of(run, run.rounds[round]) | {"tried": tried}, text_of(moment)
    facts = [fill(said, figures) for said in SAID[moment.title]]
    assert [fact for fact in facts if fact not in text] == []
    assert set(re.findall("“[^”]+”(?:, “[^”]+”)+ and “[^”]+”", text)) <= {figures["all"]}
    assert set(NUMBERS.findall(text)) <= set(NUMBERS.findall(" ".join(facts)))  # none that is not checked


def test_a_moment_names_the_figures_of_its_run_and_other_braces_stay() -> None:
    """Typed figures were wrong as soon as a run was recorded again, and said nothing of the machine."""
    run = known(MOMENTS["fifty-minutes", "When it pays"].screen.run)
    text = PLAN.replace("run=first", "run=story-pays").replace(
        "The third.", "'{speedup} on {run_machine}, {nothing}, {}?'"
    )
    said = parse_plan(text.encode(), "own").moments[0].answer
    assert said == f"{known(speedup(run)):.2f} on {machine_in_words(run.recorded_on.machine)}, {{nothing}}, {{}}?"


@pytest.mark.parametrize("plan", OWN, ids=lambda plan: plan.name)
def test_the_moments_fill_the_minutes_and_say_everything_and_only_those_with_a_run_give_figures(
    plan: LessonPlan,
) -> None:
    assert sum(moment.minutes for moment in plan.moments) == plan.minutes
    assert all(moment.do for moment in plan.moments)
    without = [moment for moment in plan.moments if not moment.screen.run]
    assert [moment.title for moment in without if NUMBERS.search(text_of(moment))] == []
    typed = (plans.FOLDER / f"{plan.name}.yaml").read_text(encoding="utf-8")
    assert not re.search(r"\d\.\d\d times", typed), "a speedup is typed"


def add(own: OwnPlans, number: int, owner: str) -> str:
    return own.add(f"{PLAN}\n# {number}\n".encode(), linked_names(), owner).name


def test_one_visitor_gives_up_the_oldest_of_their_own_plans_and_nobody_elses() -> None:
    server = OwnPlans(lambda: 0.0)
    names = [add(server, 0, "teacher"), *(add(server, number, "greedy") for number in range(1, MOST_OF_ONE + 2))]
    assert [name for name in names if server.find(name) is None] == [names[1]]


def test_on_a_full_server_a_plan_in_use_stays() -> None:
    now = [0.0]
    server = OwnPlans(lambda: now[0])
    names = [add(server, number, f"visitor {number}") for number in range(MOST)]
    with pytest.raises(InputError, match="no place for another plan"):
        add(server, MOST, "one more")
    now[0] = IN_USE
    assert server.find(names[0])  # its lesson goes on
    add(server, MOST, "one more")
    assert [name for name in names if server.find(name) is None] == [names[1]]
    assert add(server, 2, "anybody") == names[2], "a file that is there needs no place"
