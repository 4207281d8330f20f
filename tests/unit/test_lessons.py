"""The lessons and the map of methods as data: complete, in two voices, and true of what is stored."""

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest

from scripts import wanted_runs
from scripts.wanted_runs import RECORDED_RUNS
from specviz.core.judge import NEUTRAL
from specviz.core.languages import set_language
from specviz.core.metrics import count, span
from specviz.core.texts import figures_in, fill
from specviz.data.lessons import facts
from specviz.data.lessons import recorded_runs as runs
from specviz.data.lessons.facts import DRAFT, SWEEP, stopping
from specviz.data.lessons.questions import FaqEntry, answer_facts, faq
from specviz.data.lessons.roofline import published_peaks
from specviz.data.lessons.story import StoryStep, request_of, round_at, steps, watch_link
from specviz.data.links.permalink import RunLink
from specviz.data.prompts.workloads import OWN_TEXT
from specviz.measure.sweep.study import select_kind, studies_of, summarise
from specviz.models.draft_menu import linked_names
from specviz.ui.learn.family import family_table, figures_of
from specviz.ui.learn.learn_page import LearnState, go_to_place
from specviz.ui.learn.roofline import roofline_payload
from tests.support.known import known
from tests.support.measured_methods import on_kind

RARE = {place: getattr(runs, f"{place}_round") for place in ("mixed", "full", "drawn", "branch")}


def test_recorded_runs_and_their_facts_are_what_the_story_needs() -> None:
    assert tuple(RECORDED_RUNS) == runs.STORY_RUNS
    for name, run in RECORDED_RUNS.items():
        assert run.fits(runs.story_trace(name)), f"{name} is not {run.wanted}: python -m scripts.record story"
    trace, said = runs.story_trace("round"), facts.facts_of("round")
    counts = count(trace.rounds)
    assert (said["accepted"], said["drafted"]) == (str(counts.accepted), str(counts.drafted))
    assert said["per_call"] == f"{counts.emitted / counts.rounds:.1f}"


@pytest.mark.parametrize("step", steps(), ids=lambda step: step.name)
def test_a_step_shows_a_place_that_its_run_has_and_its_links_lead_to_it(step: StoryStep) -> None:
    assert 0 <= step.playhead(False) <= step.playhead(True) < len(step.phases) * len(step.shown.rounds)
    assert step.live_playhead < 3 * len(step.run.rounds)
    for place in {step.asks_at[0], step.reveals_at[0]} & RARE.keys():
        assert round_at(step.run, place) == RARE[place](step.run)
    for voice in ("technical", "plain"):
        texts = {fill(getattr(option.text, voice), facts.facts_of(step.trace)) for option in step.question.options}
        assert len(texts) == len(step.question.options) == 3, texts
    state = LearnState()
    assert go_to_place(state, LearnState(lesson=steps().index(step)).link()) == []
    assert steps()[state.lesson] is step
    linked, problems = RunLink.read(watch_link(step.run, 3), context=linked_names())
    assert (linked.request(), linked.step, problems) == (request_of(step.run), 3, [])
    assert linked.preset != OWN_TEXT


@pytest.mark.parametrize("entry", faq().questions, ids=lambda entry: entry.name)
def test_an_answer_has_figures_of_its_source_and_a_link_that_runs_it(entry: FaqEntry) -> None:
    assert bool(figures_in(entry.answer)) == (entry.source != "general")
    assert bool(entry.cites) == (entry.source == "published" or entry.name in ("busy", "paper"))
    address = urlsplit(entry.href)
    assert address.path in ("./", "./same_quality", "./worksheet", "./when_it_helps", "./race")
    asked = parse_qs(address.query)
    assert RunLink.read(asked, context=linked_names())[1] == []
    assert {name: asked.get(name) for name in entry.link} == {name: [value] for name, value in entry.link.items()}


def test_the_leftover_of_a_rejected_token_is_p_minus_q_and_gives_the_overlap() -> None:
    step = next(step for step in steps() if step.name == "sampled")
    lost = known(runs.drawn_round(step.run))
    token, found = lost.drafted[lost.accepted], runs.overlap_of(lost)
    assert token.accept_prob == pytest.approx(known(token.target_prob) / known(token.draft_prob))
    assert known(token.accept_prob) < known(token.u)
    left = {each.id: each.r for each in lost.emitted.residual_top}
    assert token.id not in left
    totals = [(c.p - known(c.q)) / left[c.id] for c in token.candidates if c.id in left]
    assert len(totals) >= 3
    assert totals == pytest.approx([1 - found.beta] * len(totals), rel=1e-4)  # each token gives the same β
    p_others, q_others, both_others = found.others
    assert sum(min(each.p, each.q) for each in found.tokens) + both_others == pytest.approx(found.beta)
    assert 0 < both_others < min(p_others, q_others)
    apart = sum(abs(each.p - each.q) for each in found.tokens) + p_others + q_others - 2 * both_others
    assert apart / 2 == pytest.approx(1 - found.beta)  # β = 1 − TV(p, q)


def test_the_lesson_on_stopping_pools_the_sweep_as_when_it_helps_does() -> None:
    found, rows = stopping(), pd.read_csv(SWEEP)
    [study] = studies_of(rows[(rows["draft"] == DRAFT) & (rows["temperature"] == 0)])
    for schedule, its in (("fixed", study.fair_rows), ("confidence", select_kind(study.rows, "confidence"))):
        point = summarise(its, ["target"]).iloc[0]
        assert found.speedups[schedule].value == pytest.approx(point["speedup"])
        assert found.wasted[schedule] == its["drafted"].sum() - its["accepted"].sum()


def test_settings_are_told_apart_by_their_paired_prompts_and_answers_count_the_experts_of_a_check() -> None:
    base = runs.story_figures().draft_lengths[0]
    slow, fast = replace(base, speedups=[1.0, 1.1, 0.9]), replace(base, speedups=[1.5, 1.6, 1.4])
    assert fast.resolved_from(slow)
    assert not replace(base, speedups=[0.9, 1.2, 1.0]).resolved_from(slow)
    assert (span((1.436, 1.444)), span((1.2, 1.5), "×")) == ("1.44", "1.20× to 1.50×")
    assert answer_facts("pays")["experts_ratio"] == f"{8 * (1 - (6 / 8) ** 5) / 2:.2f}"  # of 8 experts two, five times


def test_the_target_alone_is_one_pass_for_each_token_of_the_same_text() -> None:
    trace = runs.story_trace("round")
    plain, alone = known(trace.autoregressive), runs.target_alone(trace)
    assert [round.emitted_ids for round in alone.rounds] == [[token_id] for token_id in trace.output.token_ids]
    assert "".join(round.emitted.text for round in alone.rounds) == trace.output.text
    assert [round.seconds for round in alone.rounds] == plain.seconds_per_token
    for other in (None, replace(plain, token_ids=plain.token_ids[::-1])):
        with pytest.raises(ValueError, match="not recorded beside"):
            runs.target_alone(replace(trace, autoregressive=other))


@pytest.mark.parametrize("name", runs.METHOD_RUNS)
def test_a_methods_run_is_what_was_asked_for_and_a_link_leads_to_it(name: str) -> None:
    trace, run = runs.story_trace(name), wanted_runs.METHOD_RUNS[name]
    assert run.fits(trace), f"{name}.json is not {run.wanted}: python -m scripts.record methods"
    assert known(trace.drafter).asked_as == run.draft
    asked = {**run.changes, "max_new_tokens": run.settings.max_new_tokens}
    assert asked == {field: getattr(trace.settings, field) for field in asked}
    assert trace.autoregressive is not None
    assert runs.linked_trace(name) is trace


def test_what_was_not_measured_has_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    assert family_table(None).count(">–<") == 3 * (len(runs.METHOD_RUNS) + 1)
    assert figures_of(on_kind(1.5, 0.1, None).best)[1] == "–"
    monkeypatch.setattr(facts, "stored_methods", lambda: None)
    assert facts.method_facts.__wrapped__()["eagle_per_call"] == "?"


def test_a_published_figure_names_its_source_and_is_the_one_that_is_computed_with() -> None:
    peaks = published_peaks()
    assert all(each.url.startswith("https://") and "2026" in each.checked for each in (*peaks.machines, *peaks.models))
    for machine in peaks.machines:
        speeds = {f"{machine.terabytes:g} TB/s", f"{1000 * machine.terabytes:,.0f} GB/s"}
        assert f"{machine.teraflops:,g} teraflops" in machine.says
        assert speeds & set(re.findall(r"[\d.,]+ [TG]B/s", machine.says))


def test_the_browser_judges_with_the_same_limit_and_in_the_language_of_the_page() -> None:
    for code in ("es", "en"):
        set_language(code)
        judged = roofline_payload()["judged"]
        assert judged["neutral"] == NEUTRAL
        assert ({*judged.values()} >= {"Helps", "About even", "Hurts"}) == (code == "en")
