"""The methods on the Learn page: their recorded runs, the map of the family, and the two steps about heads and "
"trees."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.core.rounds import DraftedToken
from specviz.data.lessons import method_facts
from specviz.data.lessons.family import FAMILY, Member
from specviz.data.lessons.method_runs import METHOD_RUNS, branch_round, siblings_of
from specviz.data.lessons.recorded_runs import linked_trace, story_trace
from specviz.data.lessons.steps import STEPS
from specviz.data.lessons.story import Says, Words, facts_of, fill
from specviz.data.measured_methods import FILE, stored_methods
from specviz.ui.learn.family import family_table, figures_of
from tests.support.measured_methods import NAMES, measured, on_kind
from tests.support.tree_rounds import tree_round, tree_trace
from tests.unit.test_lessons import PLAIN, TECHNICAL_WORDS

STORED = pytest.mark.skipif(not FILE.is_file(), reason="no comparison of methods is stored yet")
VOICES: tuple[Words, ...] = ("technical", "plain")


@pytest.mark.parametrize("name", METHOD_RUNS)
class TestRun:
    def test_it_is_what_was_asked_for_and_shows_what_it_must(self, name: str) -> None:
        trace, run = story_trace(name), METHOD_RUNS[name]
        assert run.fits(trace), f"{name}.json is not {run.wanted}: python -m scripts.record_methods"
        assert trace.drafter is not None
        assert trace.drafter.asked_as == run.draft
        assert {**run.changes, "max_new_tokens": run.settings.max_new_tokens}.items() <= {
            field: getattr(trace.settings, field) for field in trace.settings.__dataclass_fields__
        }.items()
        assert trace.autoregressive is not None

    def test_a_link_leads_to_it(self, name: str) -> None:
        assert linked_trace(name) is story_trace(name)


def test_a_name_that_is_no_recorded_run_is_none() -> None:
    assert linked_trace("method-magic") is None
    assert linked_trace("small-model") is None


def test_all_runs_are_on_one_prompt_and_the_greedy_ones_write_the_same_text() -> None:
    runs = [story_trace(name) for name in METHOD_RUNS]
    assert len({run.prompt.text for run in runs}) == 1
    assert len({tuple(run.output.token_ids) for run in runs if run.settings.greedy}) == 1


def test_a_branch_is_a_rejected_guess_whose_sibling_is_accepted() -> None:
    chainlike = tree_round("a-1 n-1 a0 n0 n1 n1", "bonus")
    branch = tree_round("r-1 a-1 n0 n0 r1 a1", "bonus", index=1)
    assert branch_round(tree_trace([chainlike])) is None
    found = branch_round(tree_trace([chainlike, branch]))
    assert found == branch
    pair = siblings_of(branch)
    assert pair is not None
    assert [token.text for token in pair] == ["t0", "t1"]
    assert siblings_of(tree_round("r-1 r-1", "correction")) is None


def says_of(member: Member) -> Iterator[Says]:
    yield from (member.title, member.knows, member.costs, member.used, member.lossless)


@pytest.mark.parametrize("member", FAMILY, ids=lambda member: member.title.technical)
def test_each_member_is_short_and_said_in_both_voices(member: Member) -> None:
    for said in says_of(member):
        assert said.technical
        assert PLAIN.fullmatch(said.plain), said.plain
        assert not TECHNICAL_WORDS.search(said.plain), said.plain
        assert len(said.technical.split()) <= 14


def test_every_method_has_a_row_with_its_run_and_only_the_lossy_ones_have_none() -> None:
    assert [member.name for member in FAMILY if member.name] == list(METHOD_RUNS)
    assert [member.lossless.technical for member in FAMILY] == ["yes"] * len(METHOD_RUNS) + ["no"]
    assert {member.measured for member in FAMILY if member.measured} == set(NAMES)


@pytest.mark.parametrize("words", VOICES)
def test_the_table_has_the_measured_figures_and_a_link_in_each_row(words: Words) -> None:
    html = family_table(measured(), words)
    assert html.count("<tr") == len(FAMILY) + 1
    for name in METHOD_RUNS:
        assert f'href="./?run={name}"' in html
    assert 'href="./proof"' in html
    assert ("2.00 a call, c = 0.10; 1.80×" in html) == (words == "technical")  # wren-eagle
    assert "2.00 words a look" in html or words == "technical"


def test_without_a_stored_comparison_the_table_has_no_figures() -> None:
    html = family_table(None, "technical")
    assert "a call" not in html
    assert html.count(">–<") == len(FAMILY)


def test_a_method_without_a_cost_has_none_in_its_figures() -> None:
    assert figures_of(on_kind(1.5, 0.1, None).best, "technical") == "2.00 a call; 1.50×"


@STORED
def test_the_lesson_on_heads_has_the_figures_of_the_stored_comparison() -> None:
    step = next(step for step in STEPS if step.name == "head")
    stored = stored_methods()
    assert stored is not None
    assert stored.greedy is not None
    said = fill(step.text.technical, facts_of(step.trace))
    for name in ("wren-eagle", "wren-nano"):
        method = stored.greedy.find(name)
        assert method is not None
        at = method.kinds["all"].at(4)
        assert at is not None
        assert f"{at.costs.tokens_per_target_call:.2f}" in said
        assert f"{at.costs.draft_step:.2f}" in said


@STORED
def test_the_lesson_on_trees_names_the_two_siblings_and_a_tree_is_wider_than_a_chain() -> None:
    step = next(step for step in STEPS if step.name == "tree")
    round = branch_round(step.run)
    pair = siblings_of(round) if round else None
    assert round is not None
    assert pair is not None
    facts = facts_of(step.trace)
    said = fill(step.text.technical, facts)
    failed, taken = (token.text.strip() for token in pair)
    assert f"“{failed}” failed, and its sibling “{taken}” was accepted" in said
    assert step.playhead(True) == 3 * round.index + 2
    assert float(facts["tree_per_call"]) > float(facts["chain_per_call"])
    assert float(facts["tree_check"]) > float(facts["chain_check"])


def test_without_a_stored_comparison_the_lessons_have_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_facts, "stored_methods", lambda: None)
    method_facts.method_facts.cache_clear()
    try:
        assert method_facts.method_facts()["eagle_per_call"] == "?"
    finally:
        method_facts.method_facts.cache_clear()


def test_a_drafted_token_of_a_chain_has_no_parent_and_so_no_sibling() -> None:
    assert DraftedToken(1, "a", "accepted").parent is None
    assert siblings_of(story_trace("round").rounds[0]) is None


def test_the_document_for_teachers_names_every_run() -> None:
    text = (Path(__file__).parents[2] / "docs/teaching.md").read_text(encoding="utf-8")
    assert set(METHOD_RUNS) <= set(re.findall(r"`run=([a-z-]+)`", text))


@STORED
def test_the_answer_on_heads_says_what_the_stored_figures_say() -> None:
    facts = method_facts.method_facts()
    assert float(facts["medusa_draft"]) < float(facts["eagle_draft"])  # "the whole draft cost ... instead of ..."
    assert float(facts["medusa_per_call"]) < float(facts["eagle_per_call"])
