"""What another system did not report: it is drawn as not reported, and no figure is made of it."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from specviz.core import metrics
from specviz.core.errors import InputError
from specviz.core.intervals import speedup_interval
from specviz.core.names import pair_name
from specviz.core.rounds import NOT_REPORTED, known_seconds
from specviz.core.terms import terms_of
from specviz.core.trace import dump_trace, parse_trace
from specviz.core.verdict import explain_no_verdict, verdict_of_run
from specviz.measure.worksheet.starts import start_of_file, start_of_run
from specviz.models.catalogue import changed_weights
from specviz.player.offline import offline_page
from specviz.player.sheet import round_picture
from specviz.systems import RecordOptions, import_run
from tests.support.commands import command_line
from tests.support.drawn import drawn_traces
from tests.support.fake_traces import fake_trace
from tests.support.known import known
from tests.support.plain_json import with_value
from tests.support.records import RECORDS, record

GIVEN = RecordOptions(prompt="Tell a story.", target="wren-base", draft="a head")  # the name of a model that is here
TRACE = import_run(record("vllm-0.29-chat.json"), "vllm", GIVEN)


def test_counts_are_exact_and_no_figure_is_made_without_times() -> None:
    assert metrics.count(TRACE.rounds).acceptance_rate == pytest.approx(7 / 12)
    assert [place.judged for place in metrics.count_by_position(TRACE.rounds, 3)] == [4, 3, 2]
    assert all(state.speculative_seconds is None for state in metrics.running(TRACE))
    assert metrics.speedup(TRACE) is metrics.costs(TRACE) is terms_of(TRACE) is None
    assert speedup_interval(TRACE) is verdict_of_run(TRACE) is None
    assert explain_no_verdict(TRACE)
    plain = replace(fake_trace(tokens=12).autoregressive, alternating=True)  # type: ignore[type-var]
    both = replace(TRACE, autoregressive=plain)
    assert metrics.speedup(both) is metrics.costs(both) is speedup_interval(both) is verdict_of_run(both) is None
    assert explain_no_verdict(both) not in (None, explain_no_verdict(TRACE))


def test_the_stage_and_pages_draw_what_is_unknown_as_unknown() -> None:
    (data,) = drawn_traces(TRACE, source="recorded")
    assert (data["timed"], data["imported"], data["drafter"]) == (False, True, "other")
    assert [chip["text"] for chip in data["rounds"][2]["chips"]] == [" a", NOT_REPORTED, NOT_REPORTED, " cat"]
    assert all(moment == 0 for round in data["rounds"] for moment in round["ms"])
    assert all(round["alone"] is None for round in data["rounds"])
    assert all(round["after"]["speedup"] is None for round in data["rounds"])
    page = offline_page(TRACE)
    assert "0 parameters" not in page
    assert "<dt>Sampling</dt><dd>not reported</dd>" in page
    assert offline_page(replace(fake_trace(tokens=12), drafter=None, rounds=[])), "the target alone"
    assert NOT_REPORTED in round_picture(TRACE, 8)


def test_frames_and_names_leave_out_what_is_not_known() -> None:
    tokens, rounds = TRACE.to_frame(), TRACE.rounds_frame()
    assert rounds["draft_seconds"].isna().all()
    assert rounds["tokens"].tolist() == [1, 4, 2, 1, 4]
    assert tokens["id"].isna().all()
    assert (tokens["text"] == NOT_REPORTED).sum() == 5
    assert isinstance(tokens["id"].dtype, pd.Int64Dtype)
    assert pair_name(TRACE) == "a head → wren-base"
    assert start_of_run(TRACE, "an imported run", "recorded") is None, "it has no costs to start from"
    start = known(start_of_file(TRACE))
    assert (start.label, start.acceptance_only) == ("the opened file: a head → wren-base", True)
    assert (start.drafted, start.accepted, start.model.draft_length) == (12, 7, 3)
    assert start.model.alpha == pytest.approx(7 / 9)
    assert start_of_file(replace(TRACE, rounds=TRACE.rounds[:1])) is None, "nothing was judged"
    assert changed_weights(TRACE) == [], "its weights are not reported, so they do not differ"
    own = known(start_of_file(fake_trace(tokens=24)))
    assert (own.acceptance_only, own.model.cost_ratio > 0) == (False, True)
    with pytest.raises(InputError, match="This run has no times"):
        known_seconds(None)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rounds.0.emitted.id": 5}, "12 tokens, and 1 of them have an id"),
        ({"imported": None}, r"prompt\.token_ids is empty"),
        ({"rounds.1.index": 7, "output.stopped_by": None}, r"rounds\.1 has index 7; output\.stopped_by is missing"),
    ],
    ids=["ids are all reported or none is", "what is not imported needs them", "all contradictions at once"],
)
def test_what_an_imported_trace_cannot_be_is_named(changes: dict[str, object], says: str) -> None:
    written = json.loads(dump_trace(TRACE))
    for where, value in changes.items():
        written = with_value(written, where, value)
    with pytest.raises(InputError, match=says):
        parse_trace(json.dumps(written))


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere.json", "--from", "vllm"],
        [RECORDS / "transformers-5.23.jsonl", "--from", "transformers"],
        [RECORDS / "vllm-0.29-chat.json", "--from", "vllm", "--temperature", "-1"],
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[object]) -> None:
    status, printed, errors = command_line(capsys)("import", *arguments)
    assert (status, printed, errors.count("\n")) == (2, "", 1)


def test_the_command_reads_a_record_and_writes_a_trace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call, out = command_line(capsys), tmp_path / "trace.json"
    status, printed, errors = call("import", RECORDS / "vllm-0.29-chat.json", "--from", "vllm", "-o", out)
    assert (status, errors) == (0, "")
    assert "Qwen/Qwen3-8B + vLLM draft, imported from vLLM" in printed
    assert f"✗{NOT_REPORTED}" in printed
    assert "12 drafted, 7 accepted" in printed
    assert f"wrote {out}" in printed
    status, shown, _ = call("show", out)
    assert (status, shown.splitlines()) == (0, printed.splitlines()[:-1])
    status, printed, _ = call("import", RECORDS / "lmstudio-sdk-1.5.json", "--from", "lmstudio", "--json", "-")
    assert status == 0
    assert parse_trace(printed).target.name == "qwen2.5-3b-instruct"
