"""Sweeps on a tiny pair: what is measured, in which order, what the rows say, and what is not measured twice."""

from contextlib import nullcontext
from dataclasses import fields, replace
from itertools import islice
from typing import Any

import pytest
import torch

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.core.conversation import write_messages
from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.metrics import repetition
from specviz.core.steps import result_of
from specviz.data.prompts.grammars import Grammar
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.measure.sweep import measure as measuring
from specviz.measure.sweep.measure import Models, cell_key, measure, sweep
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt
from specviz.measure.sweep.rows import SweepRow, counted
from specviz.service.handlers.long import sweep_steps
from specviz.service.protocol import JobItem, JobProgress, RunStarted, Sweep, dump_command, parse_command
from tests.support.fake_workshop import FakeWorkshop
from tests.support.pauses import listen_to_runs
from tests.support.tiny_models import TEMPLATE, ending, tiny_model, with_template

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
GREEDY = DecodeSettings(max_new_tokens=20)
SAMPLED = DecodeSettings(max_new_tokens=20, temperature=1.0, seed=2)
PROMPTS = (SweepPrompt("a", "a-1", "w1"), SweepPrompt("b", "b-1", "w4"), SweepPrompt("a", "a-2", "w2"))
PAIR, LOOKUP = SweepPair("target", "draft"), SweepPair("target", PROMPT_LOOKUP)
PLAN = SweepPlan(PROMPTS, (PAIR,), (1, 3), settings=GREEDY)


def load(pair: SweepPair) -> Models:
    return TARGET, DRAFT if pair.draft == "draft" else None


def test_rows_say_what_was_run_and_what_was_measured() -> None:
    said: list[str] = []
    rows = list(sweep(PLAN.cells(), load, progress=said.append))
    assert said == [f"{name}, γ = 1, drafted by draft: {n} of 6" for name, n in [("a-1", 2), ("b-1", 4), ("a-2", 6)]]
    made = {"target": "target", "draft": "draft", "threads": 1, "seed": 0, "temperature": 0.0, "constrained": False}
    for row, cell in zip(rows, PLAN.cells(), strict=True):
        trace = speculative_decode(TARGET, ModelDrafter(DRAFT), cell.prompt.text, cell.settings)
        counts = {name: its for name, its in counted(trace).items() if "seconds" not in name}
        named = {"workload": cell.prompt.workload, "preset": cell.prompt.name, "new_tokens": 20, "identical": True}
        expected = made | counts | named | {"draft_length": cell.settings.draft_length}
        assert {name: getattr(row, name) for name in expected} == expected
        assert row.speedup == pytest.approx(row.autoregressive_seconds / row.speculative_seconds)
        parts = row.draft_seconds + row.verify_seconds + row.overhead_seconds
        assert parts == pytest.approx(row.speculative_seconds)


def test_a_plain_run_is_made_between_the_two_it_is_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[str, int]] = []

    def heard(name: str, *arguments: Any, **options: Any) -> None:
        if arguments[-1].max_new_tokens == 20:  # not a warm-up
            runs.append((name[:4], arguments[-1].draft_length))

    listen_to_runs(monkeypatch, heard)
    one = replace(PLAN, prompts=PROMPTS[:1], draft_lengths=(1, 2, 4))
    rows = list(sweep(one.cells(), load))
    assert runs == [("Spec", 1), ("Auto", 1), ("Spec", 2), ("Spec", 4), ("Auto", 4)]
    assert rows[0].autoregressive_seconds == rows[1].autoregressive_seconds != rows[2].autoregressive_seconds


def test_a_sampled_row_claims_no_identity_and_counts_seconds_a_token() -> None:
    target = ending(tiny_model(seed=1, name="ending"), 3)  # so that the two draws end at different lengths
    cells = replace(PLAN, settings=SAMPLED, temperatures=(1.0,), draft_lengths=(2, 4)).cells()
    rows = list(sweep(cells, lambda pair: (target, DRAFT)))
    assert {row.identical for row in rows} == {None}
    for row, cell in zip(rows, cells, strict=True):
        assert row.plain_tokens == len(autoregressive_decode(target, cell.prompt.text, SAMPLED).output.token_ids)
        a_token = row.autoregressive_seconds / row.plain_tokens, row.speculative_seconds / row.new_tokens
        assert row.speedup == pytest.approx(a_token[0] / a_token[1])
    assert any(row.plain_tokens != row.new_tokens for row in rows), "every pair happened to be of one length"


def test_a_constrained_row_follows_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    class OnlyWord5:
        def allowed(self, text: Any) -> torch.Tensor:
            return torch.arange(7) == 5

    monkeypatch.setattr(measuring, "make_constraint", lambda *arguments: OnlyWord5())
    prompt = replace(PROMPTS[0], grammar=Grammar("regex", "w5"))
    plan = replace(PLAN, prompts=(prompt,), draft_lengths=(3,), constrain=True)
    free, held = sweep(plan.cells(), load)
    assert (free.constrained, held.constrained) == (False, True)
    assert (held.acceptance_rate, held.identical) == (1.0, True)
    assert free.acceptance_rate != 1.0
    assert free.key != held.key


def test_whatever_changes_a_measurement_changes_its_key() -> None:
    cell = PLAN.cells()[0]
    half, half_draft = (replace(of, info=replace(of.info, dtype="bfloat16")) for of in (TARGET, DRAFT))
    changes: dict[str, Any] = {
        "temperature": 1.0, "max_new_tokens": 5, "draft_length": 5, "seed": 1, "stop_at_eos": False, "top_k": 2,
        "top_p": 0.5, "draft_schedule": "heuristic", "draft_sampling": "argmax", "verification": "block",
        "tree": "dynamic:8", "prompt_format": "chat",
    }  # fmt: skip
    assert changes.keys() == {field.name for field in fields(DecodeSettings)}
    cells = [replace(cell, settings=replace(cell.settings, **{name: its})) for name, its in changes.items()]
    cells += [cell, replace(cell, constrained=True), PLAN.cells()[2]]
    cells += [replace(cell, prompt=replace(cell.prompt, text="w6"))]  # another text under the same name
    keys = [cell_key((TARGET, DRAFT), one) for one in cells]
    keys += [cell_key(models, cell) for models in ((half, DRAFT), (TARGET, half_draft), (DRAFT, DRAFT), (TARGET, None))]
    torch.set_num_threads(2)
    keys += [cell_key(models, cell) for models in ((TARGET, DRAFT), (TARGET, None))]
    assert len(set(keys)) == len(keys)
    row = result_of(measure((TARGET, None), [cell]))[0]
    assert (row.draft, row.key) == (PromptLookupDrafter().info.name, keys[-1]), "a row has the key of its cell"


def test_a_model_whose_name_no_file_of_a_sweep_may_hold_is_refused_before_it_is_measured() -> None:
    long = tiny_model(seed=1, name="x" * 201)
    for models in ((long, DRAFT), (TARGET, long)):
        with pytest.raises(InputError, match=r"^x{201}: it is longer than 200 characters\.$"):
            next(sweep(PLAN.cells(), {PAIR: models}.__getitem__))


def test_a_repeat_that_is_missing_is_measured_again() -> None:
    """Also where half a row of it is in a file: `test_tables_read.py`."""
    cells = replace(PLAN, prompts=PROMPTS[:2], pairs=(LOOKUP,), draft_lengths=(2,), repeats=3).cells()
    known = [row.key for row in islice(sweep(cells, load), 4)]  # of two of three repeats
    for more, missing in ([], ["a-1", "b-1"]), (known[:1], ["b-1"]):
        assert [row.preset for row in sweep(cells, load, [*known, *more])] == missing


# ---- conversations as prompts: the model's own chat template writes them

TALK = (("user", "w4"), ("assistant", "w5"), ("user", "w6"))
CHAT = DecodeSettings(max_new_tokens=8, prompt_format="chat")
RAW = replace(CHAT, prompt_format="raw")


@pytest.mark.parametrize(
    ("template", "text", "settings", "ids"),
    [
        (TEMPLATE, write_messages(TALK), CHAT, [1, 4, 2, 5, 1, 6, 2]),
        (TEMPLATE, "w4", CHAT, [1, 4, 2]),
        (TEMPLATE, "w4", RAW, [4]),
        (TEMPLATE, "[user]\n", CHAT, "The prompt is empty"),
        (None, "w4", CHAT, "talker has no chat template: its prompts must be texts"),
        ("{{ raise_exception('say less') }}", "w4", CHAT, "cannot write these messages: say less"),
    ],
    ids=["messages", "without a role", "raw", "nothing said", "no template", "a template that refuses"],
)
def test_a_text_of_a_chat_is_run_as_its_messages(template: Any, text: str, settings: DecodeSettings, ids: Any) -> None:
    """A run's prompt stays the text, and its ids are the template's."""
    with nullcontext() if isinstance(ids, list) else pytest.raises(InputError, match=ids):
        run = autoregressive_decode(with_template(template), text, settings)
        assert (run.prompt.text, run.prompt.token_ids) == (text, ids)


@pytest.mark.parametrize(
    ("prompt", "settings"),
    [
        (SweepPrompt("own", "talk", write_messages(TALK)), CHAT),
        (SweepPrompt("own", "talk", "x", None, TALK), RAW),
    ],
)
def test_a_chat_is_measured_as_its_messages(prompt: SweepPrompt, settings: DecodeSettings) -> None:
    target = with_template()
    said = repetition(autoregressive_decode(target, write_messages(TALK), CHAT).output.token_ids)
    [cell] = SweepPlan((prompt,), (SweepPair("talker", "draft"),), (2,), settings=settings).cells()
    [row] = result_of(measure((target, DRAFT), [cell]))
    assert (row.identical, row.prompt_format, row.repetition) == (True, settings.prompt_format, said)


# ---- in the engine


def steps_of(command: Sweep, stop_after: int | None = None) -> tuple[list[Any], list[Any]]:
    """What the engine's work yields, and its results; stopped after this many steps."""

    def find(request: Any) -> Any:
        if request.target == "none":
            raise InputError("There is no model of that name.")
        return load(SweepPair(request.target, request.draft))

    events = list(islice(sweep_steps(command, FakeWorkshop(find)), stop_after))
    return events, [event.item for event in events if isinstance(event, JobItem)]


def test_the_engine_says_what_it_measures_next() -> None:
    command = Sweep(1, PLAN)
    assert parse_command(dump_command(command)) == command
    assert command.models == {"target", "draft"}
    assert [each.prompt for each in command.asked] == ["w1", "w4", "w2"]
    events, items = steps_of(command)
    assert len(items) == 6
    assert any(isinstance(event, RunStarted) for event in events)
    assert [event for event in events if isinstance(event, JobProgress)] == [
        JobProgress(1, "measuring", 6, prompt=name, draft="draft", draft_length=1) for name in ("a-1", "b-1", "a-2")
    ]


@pytest.mark.parametrize("stop_after", [1, 130])
def test_a_sweep_that_gave_way_measures_no_cell_twice_and_loses_none(stop_after: int) -> None:
    plan = replace(PLAN, prompts=PROMPTS[:2], pairs=(PAIR, LOOKUP), draft_lengths=(1, 4))
    found: list[Any] = []
    for stop in range(stop_after, 3_000, 50):  # ever later, or it would never get further than the first
        found += steps_of(Sweep(1, plan, done=len(found)), stop)[1] if len(found) < len(plan.cells()) else []
    assert [(row.draft_dtype is None, row.preset, row.draft_length) for row in found] == [
        (cell.pair == LOOKUP, cell.prompt.name, cell.settings.draft_length) for cell in plan.cells()
    ]


def test_what_cannot_be_measured_leaves_a_sentence_and_the_rest_goes_on() -> None:
    held = replace(PROMPTS[0], grammar=Grammar("regex", "w5", opened="w2"))  # and the prompt does not end with that
    pairs = (SweepPair("none", "draft"), PAIR)
    _, items = steps_of(Sweep(1, replace(PLAN, prompts=(held, PROMPTS[1]), pairs=pairs, constrain=True)))
    assert [isinstance(one, SweepRow) for one in items] == [False] * 6 + [True, True, False, False, True, True]
    assert items[0] == "a-1, drafted by draft: There is no model of that name."
    assert "a-1, drafted by draft: With the regular expression, the prompt must end with" in str(items[8])
