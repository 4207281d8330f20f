"""By drafter: the panel by AppTest with the real engine, and its sentence and figures by hand."""

from dataclasses import replace

import pytest

from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses, Prospect
from specviz.core.trace import DrafterInfo
from specviz.ui.helps.by_draft import best_of, drafts_to_compare, points_of, prospects_figure, reading, tokens_figure
from tests.support.app_pages import alone, texts, until, visit
from tests.support.figures import parts_of


def panel() -> None:
    from specviz.ui.helps.by_draft import show_by_draft
    from specviz.ui.session import session

    show_by_draft(session().by_draft)


def prospect(draft: str, right: bool, cost_ratio: float) -> Prospect:
    output = list(range(20))
    guesses = output if right else [token + 100 for token in output]
    draft_guesses = DraftGuesses(DrafterInfo("model", draft), output, guesses, None, {}, True)
    return Prospect(draft, draft_guesses, Costs(0.01, cost_ratio, {1: 1.0, 17: 1.0}, 0.0), 20, [])


def test_a_draft_that_is_always_right_and_free_is_best_long_and_one_that_never_is_best_short() -> None:
    always, never = points_of(prospect("a", True, 0.0)), points_of(prospect("b", False, 0.1))
    assert best_of(always).draft_length == 9  # 20 tokens in two rounds, and no longer draft does it in one
    assert best_of(always).speedup == pytest.approx(10)
    assert (best_of(never).draft_length, best_of(never).per_call) == (1, 1.0)
    assert best_of(never).speedup < 1
    assert "a would help most: 10.00× at γ = 9 (modelled)" in reading([never, always])
    assert "Not told apart" not in reading([never, always])
    near = [replace(point, draft="near", speedup=0.96 * point.speedup) for point in always]
    assert reading([never, always, near]).endswith("Not told apart from it, because within 5 %: near (9.60×).")
    tried = len(never) + len(always)
    assert f"the best of {tried} combinations of draft and γ, all tried on this one text" in reading([never, always])
    assert "No draft helps on this text: the best, b" in reading([never])
    assert "No draft so far would help on this text: the best, b" in reading([never], complete=False)


def test_each_draft_is_a_line_and_its_best_point_a_star() -> None:
    drafts = [points_of(prospect("a", True, 0.05)), points_of(prospect("b", False, 0.1))]
    calls = [[point.per_call for point in points] for points in drafts]
    assert [line["y"] for line in parts_of(tokens_figure(drafts))] == calls
    parts = parts_of(prospects_figure(drafts))
    stars = [(*part["x"], *part["y"]) for part in parts if part["mode"] == "markers"]
    assert stars == [(best_of(points).draft_length, best_of(points).speedup) for points in drafts]
    lines = [part for part in parts if part["mode"] != "markers"]
    assert len({(line["line"]["dash"], line["marker"]["symbol"]) for line in lines}) == 2, "colour is not alone"


def test_a_name_from_a_file_is_text_in_both_figures() -> None:
    drafts = [points_of(prospect("<b>x</b>%{x}", True, 0.05))]
    for figure in (tokens_figure(drafts), prospects_figure(drafts)):
        assert "&lt;b&gt;" in str(figure)
        assert "<b>" not in str(figure)


def test_the_button_compares_every_bundled_draft_the_eagle_head_and_prompt_lookup() -> None:
    page = alone(panel)
    assert "Press **Compare drafts**" in page.info[0].value
    page.button(key="fs_start").click().run()
    by_draft = visit(page).by_draft
    until(page, lambda: not by_draft.slot.busy)
    assert by_draft.message == ""
    assert [one.draft for one in by_draft.prospects] == drafts_to_compare()
    assert "wren-eagle" in drafts_to_compare()
    assert len({tuple(one.draft_guesses.token_ids) for one in by_draft.prospects}) == 1, "one output for all"
    assert len(page.dataframe[0].value) == len(by_draft.prospects)
    assert "✓" in texts(page)
    assert "✗" in texts(page)
