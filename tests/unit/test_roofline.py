"""The lesson about latency and throughput: its published figures, its texts, and what the browser gets of them."""

from specviz.core.judge import NEUTRAL
from specviz.core.languages import set_language
from specviz.core.texts import figures_in
from specviz.data.lessons.roofline import published_peaks, roofline
from specviz.ui.learn.roofline import roofline_payload


def test_a_published_figure_names_its_source_and_is_the_one_that_is_computed_with() -> None:
    peaks = published_peaks()
    for each in (*peaks.machines, *peaks.models):
        assert each.url.startswith("https://"), each.name
        assert "2026" in each.checked, each.name
    for machine in peaks.machines:
        assert f"{machine.teraflops:,g} teraflops" in machine.says
        bandwidths = (f"{machine.terabytes:g} TB/s", f"{1000 * machine.terabytes:,.0f} GB/s")
        assert any(said in machine.says for said in bandwidths), machine.name


def test_the_three_questions_are_answered_with_the_speedup_of_each_setting() -> None:
    assert [asked.name for asked in roofline().questions] == ["batch", "context", "experts"]
    for asked in roofline().questions:
        speedups = {f"speedup_{place}" for place in range(1, len(asked.shows) + 1)}
        assert speedups <= figures_in(asked.answer)


def test_the_browser_gets_the_figures_the_texts_and_the_words_of_the_judge() -> None:
    payload = roofline_payload()
    assert [machine.terabytes for machine in payload["machines"]] == [2.039, 3.35, 4.8, 8.0, 5.3]
    assert payload["models"][1].experts == 8
    assert payload["questions"] == roofline().questions
    assert payload["judged"] == {"neutral": NEUTRAL, "helps": "Helps", "even": "About even", "hurts": "Hurts"}
    assert "modelled" in payload["limits"].lower()


def test_the_verdict_is_in_the_language_of_the_page() -> None:
    set_language("es")
    try:
        judged = roofline_payload()["judged"]
    finally:
        set_language("en")
    assert not {judged["helps"], judged["even"], judged["hurts"]} & {"Helps", "About even", "Hurts"}
