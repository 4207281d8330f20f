"""The story as data: complete, in two voices, and every figure taken from the run it shows; and the page's methods."""

import json
import re
from dataclasses import replace
from math import log
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest

from scripts import wanted_runs
from scripts.wanted_runs import RECORDED_RUNS
from specviz.core.metrics import count
from specviz.core.names import in_words
from specviz.core.rounds import DraftedToken
from specviz.core.settings import UNSURE_BELOW
from specviz.data.batches import recorded_batches
from specviz.data.lessons import facts
from specviz.data.lessons.facts import facts_in, facts_of
from specviz.data.lessons.family import family
from specviz.data.lessons.overlap import overlap_of
from specviz.data.lessons.pass_shares import pass_shares
from specviz.data.lessons.questions import FaqEntry, answer_facts, faq
from specviz.data.lessons.recorded_runs import (
    METHOD_RUNS,
    STORY_RUNS,
    branch_round,
    drawn_round,
    full_round,
    linked_trace,
    mixed_round,
    siblings_of,
    story_figures,
    story_trace,
    target_alone,
)
from specviz.data.lessons.stopping import DRAFT, stopping
from specviz.data.lessons.stopping import FILE as SWEEP
from specviz.data.lessons.story import Question, Step, quiz, request_of, round_at, steps, watch_link
from specviz.data.measured_methods import FILE, stored_methods
from specviz.data.permalink import request_from_link
from specviz.data.texts import Facts, Says, Words, figures_in, fill
from specviz.measure.proof.recorded import recorded_proof
from specviz.measure.sweep.points import fair_rows, of_kind, pooled
from specviz.models.catalogue import head_names
from specviz.models.pairs import known_names
from specviz.ui.learn.family import family_table, figures_of
from specviz.ui.learn.learn_state import Learning, take
from specviz.ui.learn.questions import asked_questions, href, read_answers
from tests.support.known import known
from tests.support.measured_methods import NAMES, measured, on_kind
from tests.support.tree_rounds import tree_round, tree_trace

ROOT = Path(__file__).parents[2]
PLAIN = re.compile(r"[A-Za-z0-9 .,:;?!’“”-]*")  # no symbols, no Greek, no per cent
TECHNICAL_WORDS = re.compile(r"\b(tokens?|models?|target|passes|γ|α|temperature|distribution)\b")


RARE = {"mixed": mixed_round, "full": full_round, "drawn": drawn_round, "branch": branch_round}  # places


def linked_names() -> list[str]:
    """What a link may name: models and heads."""
    return [*known_names(), *head_names()]


def is_plain(text: str) -> bool:
    return bool(PLAIN.fullmatch(text)) and not TECHNICAL_WORDS.search(text)


def says_of(question: Question) -> list[Says]:
    return [question.text, *(said for option in question.options for said in (option.text, option.meaning))]


def test_recorded_runs_and_their_facts_are_what_the_story_needs() -> None:
    assert tuple(RECORDED_RUNS) == STORY_RUNS
    for name, run in RECORDED_RUNS.items():
        assert run.fits(story_trace(name)), f"story-{name}.json is not {run.wanted}: python -m scripts.record_story"
    trace, facts = story_trace("round"), facts_of("round")
    counts = count(trace.rounds)
    assert facts["accepted"] == str(counts.accepted)
    assert facts["drafted"] == str(counts.drafted)
    assert facts["per_call"] == f"{counts.emitted / counts.rounds:.1f}"
    assert int(facts["drafted"]) == counts.accepted + counts.rejected + counts.discarded


def test_there_are_seventeen_steps_and_a_number_in_a_link_means_what_it_meant_when_there_were_ten() -> None:
    assert len(steps()) == 17
    names = []
    for number in range(1, 11):
        state = Learning()
        assert take(state, {"lesson": str(number)}) == []
        names.append(steps()[state.lesson].name)
    assert " ".join(names) == "slow idea round acceptance rejection bonus same pays no-gain engineer"


@pytest.mark.parametrize("step", steps(), ids=lambda step: step.name)
class TestStep:
    def test_it_shows_a_place_that_its_run_has(self, step: Step) -> None:
        last = len(step.phases) * len(step.shown.rounds) - 1
        assert 0 <= step.playhead(False) <= step.playhead(True) <= last
        assert step.live_playhead < 3 * len(step.run.rounds)
        for place, _ in (step.asks_at, step.reveals_at):
            found = round_at(step.run, place)
            if place in RARE:
                assert found == RARE[place](step.run)

    def test_its_link_leads_back_to_it(self, step: Step) -> None:
        state = Learning()
        assert take(state, Learning(lesson=steps().index(step)).link()) == []
        assert steps()[state.lesson] is step

    def test_its_text_is_of_a_length_to_read_beside_a_picture(self, step: Step) -> None:
        assert 30 <= len(said_in(step).split()) <= 90

    def test_its_options_differ_and_plain_words_have_no_symbols_and_no_jargon(self, step: Step) -> None:
        check_options(step.question, facts_of(step.trace))
        for said in (step.title, step.text, *says_of(step.question)):
            assert is_plain(plain := fill(said.plain, facts_of(step.trace))), plain

    def test_its_run_can_be_asked_for_live(self, step: Step) -> None:
        request, preset = request_of(step.run)
        linked = request_from_link(watch_link(step.run, 3), linked_names())
        assert linked.problems == []
        assert (linked.request, linked.preset, linked.step) == (request, preset, 3)
        assert preset is not None


def check_options(question: Question, facts: Facts) -> None:
    assert len(question.options) == 3
    for voice in ("technical", "plain"):
        texts = {fill(getattr(option.text, voice), facts) for option in question.options}
        assert len(texts) == len(question.options), texts


@pytest.mark.parametrize("name", STORY_RUNS)
def test_the_times_of_the_target_alone_add_up_and_a_check_cheaper_than_a_token_is_called_noise(name: str) -> None:
    facts, tokens = facts_of(name), len(story_trace(name).output.token_ids)
    rounding = 0.05 * tokens + 0.5  # the mean is given to a tenth of a millisecond, the sum to a whole one
    assert float(facts["mean_ms"]) * tokens == pytest.approx(float(facts["alone_ms"]), abs=rounding)
    assert ("noise" in facts["check_note"]) == (float(facts["check_ms"]) < float(facts["mean_ms"]))


def step_named(name: str) -> Step:
    return next(step for step in steps() if step.name == name)


def said_in(step: Step) -> str:
    return fill(step.text.technical, facts_of(step.trace))


@pytest.mark.parametrize("question", quiz(), ids=lambda question: question.text.technical)
def test_a_question_of_the_quiz_has_three_options_and_plain_words(question: Question) -> None:
    check_options(question, {})
    assert all(is_plain(said.plain) for said in says_of(question))


def test_the_quiz_asks_about_every_main_point_with_the_right_options_in_different_places() -> None:
    asked = " ".join(question.text.technical for question in quiz())
    for topic in ("draft model do", "verification pass yield", "output the same", "γ trade", "slower", "head", "tree"):
        assert topic in asked, topic
    for questions in ([step.question for step in steps()], quiz()):
        rights = [question.right for question in questions]
        assert all(rights.count(place) <= len(rights) // 2 + 1 for place in set(rights))
        assert len(set(rights)) == 3


@pytest.mark.parametrize("entry", faq().questions, ids=lambda entry: entry.name)
class TestAnswer:
    def test_it_has_figures_of_its_source_and_a_link_that_runs_it(self, entry: FaqEntry) -> None:
        assert bool(figures_in(entry.answer.technical)) == (entry.source != "general")
        assert bool(entry.cites) == (entry.source == "published" or entry.name == "busy")
        address = urlsplit(entry.href)
        assert address.path in ("./", "./proof", "./worksheet", "./helps", "./race")
        linked = request_from_link(parse_qs(address.query), linked_names())
        assert linked.problems == []

    def test_it_is_said_in_plain_words_too(self, entry: FaqEntry) -> None:
        facts = facts_in(answer_facts(entry.trace), "plain")
        for said in (entry.question, entry.answer, entry.run_it):
            assert is_plain(plain := fill(said.plain, facts)), plain
            assert len(plain.split()) <= 110 or entry.name == "temperature"


def test_the_answers_on_temperature_and_near_ties_show_what_is_recorded() -> None:
    (entry,) = [entry for entry in faq().questions if entry.name == "temperature"]
    overlap = story_figures().overlap
    shown = fill(entry.answer.technical, answer_facts(entry.trace))
    for share in (overlap.minimum, overlap.most_likely, overlap.product):
        assert f"{100 * share:.0f} %" in shown
    for system in ("vLLM", "SGLang", "llama.cpp", "transformers"):
        assert system in shown
    assert "vanish" not in shown + entry.question.technical
    proof = known(recorded_proof())
    address = urlsplit(href(next(entry for entry in faq().questions if entry.name == "rounding")))
    linked = request_from_link(parse_qs(address.query), linked_names())
    assert (linked.preset, linked.request.prompt) == (proof.near_tie.preset, proof.near_tie.prompt)
    assert linked.request.settings.draft_length == proof.near_tie.draft_length


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
    assert facts.from_to([1.436, 1.444]) == "1.44"
    assert facts.from_to([1.2, 1.5]) == "1.20 to 1.50"
    base = story_figures().draft_lengths[0]
    slow, fast = replace(base, speedups=[1.0, 1.1, 0.9]), replace(base, speedups=[1.5, 1.6, 1.4])
    assert fast.resolved_from(slow)
    assert not replace(base, speedups=[0.9, 1.2, 1.0]).resolved_from(slow)


def test_half_of_the_fall_in_a_batch_is_finished_texts_and_the_lesson_says_both() -> None:
    study, said = recorded_batches(), said_in(step_named("together"))
    length, most = study.draft_lengths[-1], study.batches[-1]
    alone, together = study.at(1, length).speedup.value, study.at(most, length)
    unfilled = log(together.full_speedup.value / together.speedup.value)
    assert 0.4 < unfilled / log(alone / together.speedup.value) < 0.5  # "nearly half of this fall", as a factor
    fall = alone - together.speedup.value
    assert 0.4 < (together.full_speedup.value - together.speedup.value) / fall < 0.5  # and as a difference
    assert together.speedup.high < study.at(1, length).speedup.low  # there is a fall
    for figure in (f"{together.full_speedup.value:.2f} times [", f"{100 * together.empty_places:.0f} % of all"):
        assert figure in said
    assert together.verification.low > study.at(1, length).verification.high  # the other cause


def test_half_of_the_drafts_are_wrong_in_the_run_of_that_answer_and_a_quantised_draft_goes_both_ways() -> None:
    entry = next(entry for entry in faq().questions if entry.name == "right")
    counts = count(story_trace(entry.trace).rounds)
    assert 0.45 < counts.accepted / counts.drafted < 0.55
    kinds = json.loads((ROOT / "benchmarks/results/int8_draft.json").read_text(encoding="utf-8"))["kinds"].values()
    assert {kind["accepted_int8"] < kind["accepted_float32"] for kind in kinds} == {True, False}
    assert all(kind["draft_phase"] > 1 for kind in kinds)  # "its step is cheaper"


def test_a_chosen_run_says_among_how_many_and_what_it_shows() -> None:
    for step in (step_named("pays"), step_named("no-gain")):
        assert f"{story_figures().tried[step.trace]} " in said_in(step)
        assert "tokens a pass among those that" in said_in(step)
    by_tokens = {name: RECORDED_RUNS[name].score(story_trace("pays")) for name in ("pays", "no-gain")}
    per_call = known(count(story_trace("pays").rounds).tokens_per_target_call)
    assert by_tokens == {"pays": per_call, "no-gain": -per_call}  # never by time
    step = step_named("no-gain")
    shown = step.run.rounds[step.playhead(False) // 3]
    assert shown.drafted
    assert shown.accepted == 0


def test_the_lessons_on_chance_and_on_passes_have_the_runs_own_numbers() -> None:
    step = step_named("sampled")
    lost = known(drawn_round(step.run))
    token = lost.drafted[lost.accepted]
    assert token.target_prob is not None
    assert token.draft_prob is not None
    assert token.accept_prob == pytest.approx(token.target_prob / token.draft_prob)
    assert token.u is not None
    assert token.accept_prob < token.u
    said = said_in(step)
    for number in (token.target_prob, token.draft_prob, token.accept_prob, token.u):
        assert f"{number:.2f}" in said
    left = {c.id: c.p - (c.q or 0.0) for c in token.candidates}
    residual = {c.id: c.r for c in lost.emitted.residual_top}
    shown = [(residual[i] / residual[lost.emitted.id], left[i] / left[lost.emitted.id]) for i in residual if i in left]
    assert len(shown) >= 2
    assert all(share == pytest.approx(rest, rel=1e-3) for share, rest in shown)  # the leftover is p - q, scaled
    assert token.id not in residual
    said = said_in(step_named("arithmetic"))
    found = pass_shares()
    exact, fast = found.of("float32", found.most), found.of("bfloat16", found.most)
    for one in (exact, fast):
        assert one.ratio.high < found.most  # "faster than five passes"
        assert f"{one.ratio.value:.2f}" in said
    single = found.of("float32", 1)
    assert f"{100 * single.share('weights'):.0f} % of a pass over one token" in said
    assert f"{100 * single.share('program'):.0f} %" in said
    assert found.of("bfloat16", 1).to_float32.low > 1  # "where the pass over one is slower"
    grows = exact.ms["program"].median / single.ms["program"].median
    assert grows < 1.25 < exact.ratio.low  # "much of a pass does not grow with its tokens"


def test_the_rule_gives_every_token_its_own_probability_with_the_recorded_numbers() -> None:
    step = step_named("lossless")
    lost = known(drawn_round(step.run))
    found, token = overlap_of(lost), lost.drafted[lost.accepted]
    left = {each.id: each.r for each in lost.emitted.residual_top}
    totals = [(c.p - known(c.q)) / left[c.id] for c in token.candidates if c.id in left]
    assert len(totals) >= 3
    assert totals == pytest.approx([1 - found.alpha] * len(totals), rel=1e-4)  # each token gives the same α
    p_others, q_others, both_others = found.others
    common = sum(min(each.p, each.q) for each in found.tokens) + both_others
    assert common == pytest.approx(found.alpha)
    assert 0 < both_others < min(p_others, q_others)
    p, q = ([getattr(each, name) for each in found.tokens] for name in ("p", "q"))
    distance = sum(abs(a - b) for a, b in zip(p, q, strict=True)) + p_others + q_others
    distance = (distance - 2 * both_others) / 2
    assert distance == pytest.approx(1 - found.alpha)  # α = 1 − TV(p, q)
    assert f"here {found.alpha:.2f}" in said_in(step)


def test_the_lesson_on_stopping_says_what_the_sweep_and_the_run_say() -> None:
    found, said = stopping(), said_in(step_named("stop"))
    rows = pd.read_csv(SWEEP)
    rows = rows[(rows["draft"] == DRAFT) & (rows["temperature"] == 0)]
    fair, unsure = fair_rows(rows), of_kind(rows, "confidence")
    for schedule, its in (("fixed", fair), ("confidence", unsure)):  # as When it helps pools them
        point = pooled(its, ["target"]).iloc[0]
        assert found.speedups[schedule].value == pytest.approx(point["speedup"])
        assert found.wasted[schedule] == pytest.approx(1 - point["acceptance_rate"])
        assert f"{found.speedups[schedule].value:.2f} times" in said
    assert found.gain.low > 1  # the stop is faster than a fixed length
    assert found.wasted["confidence"] < found.wasted["fixed"]
    judged = [t for r in story_trace("round").rounds for t in r.drafted if t.status in ("accepted", "rejected")]
    sure = [t for t in judged if known(t.draft_prob) >= UNSURE_BELOW]
    rate = known(count(story_trace("round").rounds).per_judgement_rate)
    assert sum(t.status == "accepted" for t in sure) / len(sure) > rate  # "is a hint"
    study = recorded_batches()
    checks = [study.at(batch, study.draft_lengths[-1]).verification for batch in (1, study.batches[-1])]
    assert checks[0].high < checks[1].low  # "in a large batches longer checks cost more"
    lengths = (study.draft_lengths[-1], study.draft_lengths[0])
    speedups = [study.at(study.batches[-1], length).speedup for length in lengths]
    assert speedups[0].high < speedups[1].low  # the two are told apart
    assert f"drafts of {in_words(lengths[0])} bring {speedups[0].value:.2f} times" in said


def test_the_target_alone_is_one_pass_for_each_token_of_the_same_text() -> None:
    trace = story_trace("round")
    plain, alone = known(trace.autoregressive), target_alone(trace)
    assert [round.emitted_ids for round in alone.rounds] == [[token_id] for token_id in trace.output.token_ids]
    assert "".join(round.emitted.text for round in alone.rounds) == trace.output.text
    assert [round.seconds for round in alone.rounds] == plain.seconds_per_token
    assert {round.added for round in alone.rounds} == {"own"}
    for other in (None, replace(plain, token_ids=plain.token_ids[::-1])):
        with pytest.raises(ValueError, match="not recorded beside"):
            target_alone(replace(trace, autoregressive=other))


def test_the_picture_of_one_pass_is_of_greedy_chains_in_which_it_shows_five_predictions() -> None:
    shown = [step for step in steps() if step.picture == "pass"]
    assert {step.name for step in shown} >= {"acceptance", "bonus"}
    for step in shown:
        round = round_at(step.run, step.reveals_at[0])
        assert step.run.settings.greedy
        assert not round.is_tree
        assert len(round.drafted) == 4
    assert round_at(step_named("bonus").run, "full").emitted.kind == "bonus"


def test_answers_are_read_back() -> None:
    given = {key: len(question.options) - 1 for key, question in asked_questions().items()}
    assert len(given) > 20
    assert read_answers(json.dumps(given)) == given


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        "[" * 100_000,
        '{"quiz-1": 99}',
        '{"quiz-1": -1}',
        '{"quiz-1": true}',
        '{"quiz-1": 1.0}',
        '{"quiz-1": "1"}',
        '{"quiz-1": [1]}',
        '{"quiz-99": 0}',
        '{"lesson": 0}',
    ],
)
def test_what_is_no_answer_is_left_out(text: str) -> None:
    assert read_answers(text) == {}


STORED = pytest.mark.skipif(not FILE.is_file(), reason="no comparison of methods is stored yet")
VOICES: tuple[Words, ...] = ("technical", "plain")


@pytest.mark.parametrize("name", METHOD_RUNS)
class TestRun:
    def test_it_is_what_was_asked_for_and_shows_what_it_must(self, name: str) -> None:
        trace, run = story_trace(name), wanted_runs.METHOD_RUNS[name]
        assert run.fits(trace), f"{name}.json is not {run.wanted}: python -m scripts.record_methods"
        assert trace.drafter is not None
        assert trace.drafter.asked_as == run.draft
        assert {**run.changes, "max_new_tokens": run.settings.max_new_tokens}.items() <= {
            field: getattr(trace.settings, field) for field in trace.settings.__dataclass_fields__
        }.items()
        assert trace.autoregressive is not None

    def test_a_link_leads_to_it(self, name: str) -> None:
        assert linked_trace(name) is story_trace(name)


def test_a_name_that_is_no_recorded_run_is_none_and_all_runs_are_on_one_prompt() -> None:
    assert tuple(wanted_runs.METHOD_RUNS) == METHOD_RUNS
    assert linked_trace("method-magic") is None
    assert linked_trace("small-model") is None
    runs = [story_trace(name) for name in METHOD_RUNS]
    assert len({run.prompt.text for run in runs}) == 1
    assert len({tuple(run.output.token_ids) for run in runs if run.settings.greedy}) == 1


def test_a_branch_is_a_rejected_guess_whose_sibling_is_accepted() -> None:
    chainlike = tree_round("a-1 n-1 a0 n0 n1 n1", "bonus")
    branch = tree_round("r-1 a-1 n0 n0 r1 a1", "bonus", index=1)
    assert branch_round(tree_trace([chainlike])) is None
    found = branch_round(tree_trace([chainlike, branch]))
    assert found == branch
    pair = known(siblings_of(branch))
    assert [token.text for token in pair] == ["t0", "t1"]
    assert siblings_of(tree_round("r-1 r-1", "correction")) is None
    assert DraftedToken(1, "a", "accepted").parent is None
    assert siblings_of(story_trace("round").rounds[0]) is None


def test_every_method_has_a_short_row_with_its_run_and_only_the_lossy_ones_have_none() -> None:
    for member in family().methods:
        for said in (member.title, member.knows, member.costs, member.used, member.lossless):
            assert is_plain(said.plain), said.plain
            assert len(said.technical.split()) <= 14
    assert [member.name for member in family().methods if member.name] == list(METHOD_RUNS)
    *lossless, last = (member.lossless.technical for member in family().methods)
    assert ({*lossless}, last) == ({"yes"}, "no")
    assert {member.measured for member in family().methods if member.measured} == set(NAMES)


@pytest.mark.parametrize("words", VOICES)
def test_the_table_has_the_measured_figures_and_a_link_in_each_row(words: Words) -> None:
    html = family_table(measured(), words)
    assert html.count("<tr") == len(METHOD_RUNS) + 2
    for name in METHOD_RUNS:
        assert f'href="./?run={name}"' in html
    assert 'href="./proof"' in html
    eagle = next(row for row in html.split("<tr") if "run=method-eagle" in row)
    cells = re.findall(r'<td role="cell" class="number" data-label="([^"]+)">([^<]+)</td>', eagle)
    titles = [title.in_(words) for title in family().columns[3:6]]
    assert cells == list(zip(titles, ["2.00", "0.10", "1.80"], strict=True)), "one figure a cell"


def test_what_was_not_measured_has_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    html = family_table(None, "technical")
    assert html.count(">–<") == 3 * (len(METHOD_RUNS) + 1)
    assert figures_of(on_kind(1.5, 0.1, None).best) == ("2.00", "–", "1.50")
    monkeypatch.setattr(facts, "stored_methods", lambda: None)
    facts.method_facts.cache_clear()
    try:
        assert facts.method_facts()["eagle_per_call"] == "?"
    finally:
        facts.method_facts.cache_clear()


@STORED
def test_the_lesson_and_the_answer_on_heads_have_the_figures_of_the_stored_comparison() -> None:
    said = said_in(step_named("head"))
    stored = known(stored_methods())
    assert stored.greedy is not None
    for name in ("wren-eagle", "wren-nano"):
        method = known(stored.greedy.find(name))
        at = known(method.kinds["all"].at(4))
        assert f"{at.costs.tokens_per_target_call:.2f}" in said
        on_stories = known(method.kinds["story"].at(4))
        assert f"{on_stories.costs.tokens_per_target_call:.2f}" in said
    training = json.loads((ROOT / "assets/models/wren-eagle/training.json").read_text(encoding="utf-8"))
    assert training["started_from"] == "wren-nano"
    figures = facts.method_facts()
    assert float(figures["medusa_draft"]) < float(figures["eagle_draft"])  # "the whole draft cost ... instead of ..."
    assert float(figures["medusa_per_call"]) < float(figures["eagle_per_call"])


@STORED
def test_the_lesson_on_trees_names_the_two_siblings_and_a_tree_is_wider_than_a_chain() -> None:
    step = step_named("tree")
    round = branch_round(step.run)
    pair = siblings_of(round) if round else None
    assert round is not None
    assert pair is not None
    figures, said = facts_of(step.trace), said_in(step)
    failed, taken = (token.text.strip() for token in pair)
    assert f"“{failed}” failed, and its sibling “{taken}” was accepted" in said
    assert step.playhead(True) == 3 * round.index + 2
    assert float(figures["tree_per_call"]) > float(figures["chain_per_call"])
    assert float(figures["tree_check"]) > float(figures["chain_check"])
    assert float(figures["equal_check"]) == pytest.approx(float(figures["tree_check"]), rel=0.02)  # "about as much"
    for figure in ("equal_per_call", "equal_speedup", "tree_speedup"):
        assert figures[figure] in said
