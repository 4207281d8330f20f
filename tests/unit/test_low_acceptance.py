"""What the worksheet says of counters with few accepted guesses. Public reports, and counts worked by hand."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.measure.worksheet import advice
from specviz.measure.worksheet.model import WorksheetModel
from specviz.measure.worksheet.serving import Production, outlook, production
from specviz.measure.worksheet.starts import CostsOrigin
from specviz.systems import ServingCounters, read_counters
from tests.support.records import report

MODEL = WorksheetModel(alpha=0.8, draft_length=4, cost_ratio=0.1, verification=1.4, overhead=0.05)


def pasted(text: str, costs: WorksheetModel = MODEL, speedup: float | None = None) -> Production:
    return production(read_counters(text), costs, speedup)


def reported(name: str) -> Production:
    return pasted(report(name).read_text("utf-8"))


def said(found: Production) -> str:
    return f"{advice.headline(found, CostsOrigin('the test'))} {advice.advice(found)}"


def counters(tokens: float, length: float = 4.0, rounds: float = 1000, **more: object) -> Production:
    drafted = {"drafted": length * rounds, "accepted": (tokens - 1) * rounds}
    return production(ServingCounters("vLLM", tokens, length, **(drafted | more)), MODEL, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["18/input.txt", "32/input.txt", "39/collapse.txt"])
def test_hardly_any_accepted_guess_never_pays_and_the_next_step_needs_no_clock(name: str) -> None:
    found = reported(name)
    assert advice.headline(found, CostsOrigin("the test")).startswith(
        f"**{advice.never()}** {found.tokens:.2f} tokens per target call"
    )
    assert advice.untold() not in said(found)
    assert "docs/checklists.md" in advice.advice(found)
    assert Path("docs/checklists.md").is_file()


@pytest.mark.parametrize("tokens", [1.0, 1.004, 1.02, 1.05, 1.06, 1.07])
@pytest.mark.parametrize("length", [1.0, 3.0, 15.0])
def test_the_verdict_gives_the_bound_that_it_is_derived_from(tokens: float, length: float) -> None:
    found = counters(tokens, length)
    text = said(found)
    assert advice.never() in text
    assert found.ceiling == pytest.approx(tokens)
    assert f"the speedup would be at most {tokens:.2f}×" in text


def test_the_bound_is_of_all_calls_not_only_of_those_that_draft() -> None:
    found = counters(2.4, drafting_share=0.02)  # 0.02 · 2.4 + 0.98
    assert found.ceiling == pytest.approx(1.028)
    assert advice.never() in said(found)


BLOCK = report("08/input.txt").read_text("utf-8")


def test_a_block_drafter_is_priced_at_one_step_a_block() -> None:
    found = pasted(f"speculative_algorithm='DFLASH'\n{BLOCK}")
    assert found.model.block
    assert found.model.terms.steps == pytest.approx(0.1 + found.model.verification + 0.05)  # c once, not 15 times
    assert found.model.at(5).steps == pytest.approx(0.1 + found.model.steps(6) + 0.05)
    dearest = max(outlook(found).places, key=lambda each: each.speed)
    assert dearest.speed == pytest.approx(2.37 / 1.02)
    one_each = replace(found.model, block=False)
    assert one_each.terms.steps == pytest.approx(found.model.terms.steps + 14 * 0.1)
    slower = pasted(f"speculative_algorithm='DFLASH'\n{BLOCK}", speedup=0.9)
    assert slower.model.terms.steps == pytest.approx(2.37 / 0.9)


TOTALS = "trtllm_spec_decode_num_draft_tokens_total 1000\ntrtllm_spec_decode_num_accepted_tokens_total {}\n"


@pytest.mark.parametrize("length", [1, 4, 16])
def test_what_comes_from_the_slider_is_never_called_counted(length: int) -> None:
    found = pasted(TOTALS.format(830), replace(MODEL, draft_length=length))
    assert found.counters.calls_assumed
    for each in (found, pasted(TOTALS.format(830), replace(MODEL, draft_length=length), speedup=1.1)):
        text = said(each)
        assert not re.search(r"tokens per target call were counted|\(counted\)", text)
        assert f"γ = {length}, which is from the slider" in text
    rare = pasted(TOTALS.format(2), replace(MODEL, draft_length=length))  # 1 + 16 · 0.002 at the longest
    assert rare.never_pays
    assert not pasted(TOTALS.format(20), replace(MODEL, draft_length=1)).never_pays  # 1.02 at γ = 1, 1.32 at 16
