"""The lesson about latency and throughput: its published figures, its texts, and what the browser gets of them."""

import re

from specviz.core.judge import NEUTRAL
from specviz.core.languages import set_language
from specviz.core.texts import figures_in
from specviz.data.lessons.roofline import published_peaks, roofline
from specviz.ui.learn.roofline import roofline_payload


def test_a_published_figure_names_its_source_and_is_the_one_that_is_computed_with() -> None:
    peaks = published_peaks()
    assert all(each.url.startswith("https://") and "2026" in each.checked for each in (*peaks.machines, *peaks.models))
    for machine in peaks.machines:
        assert f"{machine.teraflops:,g} teraflops" in machine.says
        assert {f"{machine.terabytes:g} TB/s", f"{1000 * machine.terabytes:,.0f} GB/s"} & set(
            re.findall(r"[\d.,]+ [TG]B/s", machine.says)
        )


def test_the_three_questions_are_answered_with_the_speedup_of_each_setting() -> None:
    assert [asked.name for asked in roofline().questions] == ["batch", "context", "experts"]
    for asked in roofline().questions:
        speedups = {f"speedup_{place}" for place in range(1, len(asked.shows) + 1)}
        assert speedups <= figures_in(asked.answer)


def test_the_browser_judges_with_the_same_limit_and_in_the_language_of_the_page() -> None:
    for code in ("es", "en"):
        set_language(code)
        judged = roofline_payload()["judged"]
        assert judged["neutral"] == NEUTRAL
        assert ({*judged.values()} >= {"Helps", "About even", "Hurts"}) == (code == "en")
