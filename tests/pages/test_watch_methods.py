"""Heads, early exit, trees and the ways to draft and verify on the Watch page, by AppTest. Real engine and models."""

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from specviz.data.first_run import first_trace
from specviz.ui.watch.controls import request_of
from tests.support.app_pages import opened, texts, visit
from tests.support.known import known
from tests.support.payloads import trace_in
from tests.support.watch_page import release_slider, stage_of, until_done


def test_the_draft_may_be_a_head_and_a_tree_is_as_deep_as_the_draft_is_long(page: AppTest) -> None:
    page.selectbox(key="draft").set_value("wren-eagle").run()
    assert visit(page).watch.form.current[0].draft == "wren-eagle"
    (tree,) = [box for box in page.selectbox if box.label == "Tree"]
    tree.set_value("4,2,1").run()
    data = until_done(page)
    assert trace_in(data)["settings"]["draft_length"] == 3
    assert page.query_params["draft"] == "wren-eagle"
    assert (page.query_params["tree"], page.query_params["gamma"]) == ("4,2,1", "3")
    assert all(radio.disabled for radio in page.radio if radio.label in ("Draft length schedule", "Verification"))
    release_slider(page, 2)
    until_done(page)
    assert (page.query_params["tree"], page.query_params["gamma"]) == ("4,2", "2")
    assert "Identical: both wrote the same 64 tokens." in texts(page)
    page.button(key="undo").click().run()
    until_done(page)
    assert (page.query_params["tree"], page.query_params["gamma"]) == ("4,2,1", "3")


def test_drafts_of_most_probable_tokens_and_block_verification_are_asked_for(page: AppTest) -> None:
    page.slider(key="temperature").set_value(1.0).run()
    for label, value in (("The draft takes", "argmax"), ("Verification", "block")):
        (radio,) = [radio for radio in page.radio if radio.label == label]
        radio.set_value(value).run()
    until_done(page)
    assert (page.query_params["draft_sampling"], page.query_params["verification"]) == ("argmax", "block")
    settings = visit(page).watch.shown.trace.settings
    assert (settings.draft_sampling, settings.verification) == ("argmax", "block")


def test_a_link_to_a_head_and_a_tree_runs_them_at_once() -> None:
    page = opened(draft="early-exit:2", tree="2,2", gamma="2", tokens="12", view="full")
    until_done(page)
    assert not page.warning
    assert visit(page).watch.shown.trace.drafter.asked_as == "early-exit:2"
    assert page.selectbox(key="draft").value == "early-exit:2"


def test_a_head_of_another_target_is_refused_and_the_sentence_says_why(page: AppTest) -> None:
    page.selectbox(key="draft").set_value("wren-eagle").run()
    until_done(page)
    page.selectbox(key="target").set_value("wren-mini").run()
    assert "wren-eagle drafts from the hidden states of wren-base" in page.error[0].value
    assert not visit(page).watch.run.busy
    assert trace_in(stage_of(page))["rounds"], "the previous run stays on screen"
    page.button(key="undo").click().run()
    until_done(page)
    assert not page.error


def test_a_saved_run_with_a_head_sets_the_controls_and_nothing_else_does() -> None:
    trace = known(first_trace())
    drafter, settings = known(trace.drafter), replace(trace.settings, draft_length=2, tree="2,2")
    eagle = replace(trace, drafter=replace(drafter, kind="eagle", name="wren-eagle"), settings=settings)
    request = known(request_of(eagle))
    assert (request.draft, request.settings) == ("wren-eagle", settings)
    other = replace(trace, drafter=replace(drafter, kind="other", name="an engine"))
    assert request_of(other) is None
