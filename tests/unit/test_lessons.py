"""The story as data: complete, in two voices, and every figure taken from the run it shows."""

import json
import re
import string
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from specviz.core.metrics import count
from specviz.data.lessons.faq import FaqEntry, answer_facts
from specviz.data.lessons.method_runs import branch_round
from specviz.data.lessons.questions import FAQ
from specviz.data.lessons.quiz import QUIZ
from specviz.data.lessons.recorded_runs import (
    RECORDED_RUNS,
    drawn_round,
    full_round,
    mixed_round,
    story_figures,
    story_trace,
)
from specviz.data.lessons.steps import STEPS
from specviz.data.lessons.story import (
    Facts,
    Question,
    Says,
    Step,
    facts_in,
    facts_of,
    fill,
    request_of,
    round_at,
    watch_link,
)
from specviz.data.permalink import request_from_link
from specviz.measure.proof.recorded import recorded_proof
from specviz.models.catalogue import head_names
from specviz.models.pairs import known_names
from specviz.ui.learn.faq import href
from specviz.ui.learn.state import Learning, take

ROOT = Path(__file__).parents[2]
PLAIN = re.compile(r"[A-Za-z0-9 .,:;?!’“”-]*")  # no symbols, no Greek, no per cent
TECHNICAL_WORDS = re.compile(r"\b(tokens?|models?|target|passes|γ|α|temperature|distribution)\b")


def linked_names() -> list[str]:
    """What a link may name: models and heads."""
    return [*known_names(), *head_names()]


def says_of(question: Question) -> list[Says]:
    return [question.text, *(said for option in question.options for said in (option.text, option.meaning))]


def says_in(step: Step) -> list[Says]:
    return [step.title, step.text, *says_of(step.question)]


def places(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("name", RECORDED_RUNS)
def test_every_recorded_run_is_what_the_story_needs(name: str) -> None:
    trace = story_trace(name)
    assert RECORDED_RUNS[name].fits(trace), (
        f"story-{name}.json is not {RECORDED_RUNS[name].wanted}: python -m scripts.record_story"
    )


def test_there_are_fifteen_steps_with_names_of_their_own() -> None:
    assert len(STEPS) == 15
    assert len({step.name for step in STEPS}) == 15


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (1, "slow"),
        (2, "idea"),
        (3, "round"),
        (4, "acceptance"),
        (5, "rejection"),
        (6, "bonus"),
        (7, "same"),
        (8, "pays"),
        (9, "no-gain"),
        (10, "engineer"),
    ],
)
def test_a_number_in_a_link_means_what_it_meant_in_the_story_of_ten_steps(number: int, name: str) -> None:
    state = Learning()
    assert take(state, {"lesson": str(number)}) == []
    assert STEPS[state.lesson].name == name


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_link_to_a_step_leads_back_to_it(step: Step) -> None:
    state = Learning()
    assert take(state, Learning(lesson=STEPS.index(step)).link()) == []
    assert STEPS[state.lesson] is step


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
class TestStep:
    def test_it_shows_a_place_that_its_run_has(self, step: Step) -> None:
        last = 3 * len(step.run.rounds) - 1
        assert 0 <= step.playhead(False) <= step.playhead(True) <= last
        for place, _ in (step.asks_at, step.reveals_at):
            found = round_at(step.run, place)
            if place == "mixed":
                assert found == mixed_round(step.run)
            if place == "full":
                assert found == full_round(step.run)
            if place == "drawn":
                assert found == drawn_round(step.run)
            if place == "branch":
                assert found == branch_round(step.run)

    def test_it_is_complete_in_both_voices(self, step: Step) -> None:
        for said in says_in(step):
            assert said.technical
            assert said.plain
        assert 30 <= len(fill(step.text.technical, facts_of(step.trace)).split()) <= 90

    def test_plain_words_have_no_symbols_and_no_jargon(self, step: Step) -> None:
        for said in says_in(step):
            plain = fill(said.plain, facts_of(step.trace))
            assert PLAIN.fullmatch(plain), plain
            assert not TECHNICAL_WORDS.search(plain), plain

    def test_every_figure_comes_from_the_run(self, step: Step) -> None:
        for said in says_in(step):
            for template in (said.technical, said.plain):
                named = template.replace("bfloat16", "").replace("float32", "")
                assert not re.search(r"\d", named), template  # figures come from the facts only
                assert places(template) <= set(facts_of(step.trace)), template

    def test_its_options_differ_and_one_is_right(self, step: Step) -> None:
        check_options(step.question, facts_of(step.trace))

    def test_its_run_can_be_asked_for_live(self, step: Step) -> None:
        request, preset = request_of(step.run)
        linked = request_from_link(watch_link(step.run, 3), linked_names())
        assert linked.problems == []
        assert (linked.request, linked.preset, linked.step) == (request, preset, 3)
        assert preset is not None


def check_options(question: Question, facts: Facts) -> None:
    assert sum(option.right for option in question.options) == 1
    assert len(question.options) >= 3
    for voice in ("technical", "plain"):
        texts = {fill(getattr(option.text, voice), facts) for option in question.options}
        assert len(texts) == len(question.options), texts


def test_facts_are_the_runs_own_figures() -> None:
    trace, facts = story_trace("round"), facts_of("round")
    counts = count(trace.rounds)
    assert facts["accepted"] == str(counts.accepted)
    assert facts["drafted"] == str(counts.drafted)
    assert facts["per_call"] == f"{counts.emitted / counts.rounds:.1f}"
    assert int(facts["drafted"]) == counts.accepted + counts.rejected + counts.discarded


def test_the_figures_of_the_target_alone_add_up() -> None:
    assert RECORDED_RUNS
    for name in RECORDED_RUNS:
        facts = facts_of(name)
        tokens = len(story_trace(name).output.token_ids)
        rounding = 0.05 * tokens + 0.5  # the mean is given to a tenth of a millisecond, the sum to a whole one
        assert float(facts["mean_ms"]) * tokens == pytest.approx(float(facts["alone_ms"]), abs=rounding), name


def test_a_check_cheaper_than_a_token_is_called_noise() -> None:
    assert RECORDED_RUNS
    for name in RECORDED_RUNS:
        facts = facts_of(name)
        assert ("noise" in facts["check_note"]) == (float(facts["check_ms"]) < float(facts["mean_ms"])), name


def test_the_step_without_gain_shows_a_round_in_which_every_guess_is_thrown_away() -> None:
    step = next(step for step in STEPS if step.name == "no-gain")
    shown = step.run.rounds[step.playhead(False) // 3]
    assert shown.drafted
    assert shown.accepted == 0


def test_the_near_tie_question_leads_to_the_example_that_is_shown() -> None:
    proof = recorded_proof()
    assert proof is not None
    address = urlsplit(href(next(entry for entry in FAQ if entry.name == "rounding")))
    linked = request_from_link(parse_qs(address.query), linked_names())
    assert (linked.preset, linked.request.prompt) == (proof.near_tie.preset, proof.near_tie.prompt)
    assert linked.request.settings.draft_length == proof.near_tie.draft_length


def test_the_story_imports_no_page() -> None:
    files = list((ROOT / "specviz/data/lessons").glob("*.py"))
    assert len(files) > 5
    assert all("specviz.ui" not in file.read_text(encoding="utf-8") for file in files)


def test_the_right_options_are_in_different_places() -> None:
    for questions in ([step.question for step in STEPS], QUIZ):
        rights = [question.right for question in questions]
        assert all(rights.count(place) <= len(rights) // 2 + 1 for place in set(rights))
        assert len(set(rights)) == 3


@pytest.mark.parametrize("number", range(len(QUIZ)))
def test_each_of_the_quiz_questions_is_complete(number: int) -> None:
    question = QUIZ[number]
    check_options(question, {})
    for said in says_of(question):
        assert said.technical
        assert places(said.technical) == places(said.plain) == set()
        assert PLAIN.fullmatch(said.plain), said.plain
        assert not TECHNICAL_WORDS.search(said.plain), said.plain


def test_the_quiz_asks_about_every_main_point() -> None:
    asked = " ".join(question.text.technical for question in QUIZ)
    for topic in (
        "draft model do",
        "verification pass yield",
        "output the same",
        "γ trade",
        "slower",
        "head on the target",
        "tree",
    ):
        assert topic in asked, topic


@pytest.mark.parametrize("entry", FAQ, ids=lambda entry: entry.name)
class TestAnswer:
    def test_it_has_figures_of_its_source_and_a_link_that_runs_it(self, entry: FaqEntry) -> None:
        for template in (entry.answer.technical, entry.answer.plain):
            assert places(template) <= set(answer_facts(entry))
            assert not re.search(r"\d", template.replace("bfloat16", "").replace("float32", ""))
        assert bool(places(entry.answer.technical)) == (entry.source != "general")
        assert bool(entry.cites) == (entry.source == "published" or entry.name == "busy")
        address = urlsplit(entry.href)
        assert address.path in ("./", "./proof", "./worksheet", "./helps", "./race")
        linked = request_from_link(parse_qs(address.query), linked_names())
        assert linked.problems == []

    def test_it_is_said_in_plain_words_too(self, entry: FaqEntry) -> None:
        facts = facts_in(answer_facts(entry), "plain")
        for said in (entry.question, entry.answer, entry.run_it):
            plain = fill(said.plain, facts)
            assert PLAIN.fullmatch(plain), plain
            assert not TECHNICAL_WORDS.search(plain), plain
            assert len(plain.split()) <= 110 or entry.name == "temperature"


def test_the_temperature_answer_shows_all_three_chances_and_names_who_uses_them() -> None:
    (entry,) = [entry for entry in FAQ if entry.name == "temperature"]
    overlap = story_figures().overlap
    shown = fill(entry.answer.technical, answer_facts(entry))
    for share in (overlap.minimum, overlap.most_likely, overlap.product):
        assert f"{100 * share:.0f} %" in shown
    for system in ("vLLM", "SGLang", "llama.cpp", "transformers"):
        assert system in shown
    assert "vanish" not in shown + entry.question.technical


def test_the_recorded_figures_support_what_the_answers_claim() -> None:
    figures = story_figures()
    best, longest = max(figures.draft_lengths, key=lambda row: row.speedup), figures.draft_lengths[-1]
    assert longest.resolved_from(best)
    assert longest.speedup < best.speedup
    assert any(not row.resolved_from(best) for row in figures.draft_lengths if row is not best)  # "cannot say which"
    small, *_, big = figures.drafts
    assert big.accepted / big.drafted > small.accepted / small.drafted
    fastest = max(figures.drafts, key=lambda row: row.speedup)
    assert big.resolved_from(fastest)
    greedy, *_, hottest = figures.temperatures
    assert hottest.speedup < greedy.speedup
    assert bool(facts_of("sampled")["hot_note"]) != hottest.resolved_from(greedy)
    assert figures.overlap.product < figures.overlap.most_likely < figures.overlap.minimum
    facts = answer_facts(next(entry for entry in FAQ if entry.name == "busy"))
    assert float(facts["batch_together"]) < float(facts["batch_alone"])


def test_two_settings_are_told_apart_only_by_an_interval_without_one() -> None:
    base = story_figures().draft_lengths[0]
    slow, fast = replace(base, speedups=[1.0, 1.1, 0.9]), replace(base, speedups=[1.5, 1.6, 1.4])
    assert fast.resolved_from(slow)
    assert not replace(base, speedups=[0.9, 1.2, 1.0]).resolved_from(slow)


def test_a_chosen_run_says_among_how_many() -> None:
    for step in STEPS:
        if step.name in ("pays", "no-gain"):
            assert f"{story_figures().tried[step.trace]} " in fill(step.text.technical, facts_of(step.trace))


def test_the_lesson_on_chance_has_the_runs_own_numbers() -> None:
    step = next(step for step in STEPS if step.picture == "dice")
    lost = drawn_round(step.run)
    assert lost is not None
    token = lost.drafted[lost.accepted]
    assert token.target_prob is not None
    assert token.draft_prob is not None
    assert token.accept_prob == pytest.approx(token.target_prob / token.draft_prob)
    assert token.u is not None
    assert token.accept_prob < token.u
    said = fill(step.text.technical, facts_of(step.trace))
    for number in (token.target_prob, token.draft_prob, token.accept_prob, token.u):
        assert f"{number:.2f}" in said
    left = {c.id: c.p - (c.q or 0.0) for c in token.candidates}
    residual = {c.id: c.r for c in lost.emitted.residual_top}
    shown = [(residual[i] / residual[lost.emitted.id], left[i] / left[lost.emitted.id]) for i in residual if i in left]
    assert len(shown) >= 2
    assert all(share == pytest.approx(rest, rel=1e-3) for share, rest in shown)  # the leftover is p - q, scaled
    assert token.id not in residual


def test_the_lesson_on_passes_has_the_measured_times() -> None:
    step = next(step for step in STEPS if step.picture == "weights")
    said = fill(step.text.technical, facts_of(step.trace))
    exact, fast = story_figures().passes
    family = json.loads((ROOT / "benchmarks/results/family.json").read_text(encoding="utf-8"))["pairs"]
    assert (exact.dtype, fast.dtype) == ("float32", "bfloat16")
    for one in (exact, fast):
        assert one.tokens == 5
        assert one.ratio < one.tokens / 2  # far less than five passes
        assert f"{one.ratio:.2f}" in said
        calibrated = [pair["v5"] for pair in family if (pair["target"], pair["draft"]) == ("wren-base", "wren-nano")]
        assert one.ratio in calibrated
