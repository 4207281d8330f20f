"""What the stage is given to draw: figures, sentences, times, other draft lengths, and later only what is new."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specviz.core import metrics
from specviz.core.drafters import method_of
from specviz.core.files import ASSETS
from specviz.core.metrics import Costs, count
from specviz.core.replay import DraftGuesses
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import Autoregressive, DraftedToken, EmittedToken, Round, Trace
from specviz.data.first_run import first_draft_guesses, first_trace
from specviz.player.data import SHOWN_PROMPT_TOKENS, SUBSTEPS, stage_data
from specviz.player.narration import Teller, narrate
from specviz.player.payload import StagePayload
from specviz.player.replay import replay_data
from specviz.ui.shared.stage import news, sent_with, split
from specviz.ui.shared.theme import publish_plotly
from tests.support.fake_traces import HOSTILE, cut, fake_trace, translated
from tests.support.html import contrast
from tests.support.known import known
from tests.support.plain_json import is_plain_json


def data_of(trace: Trace, **more: Any) -> dict[str, Any]:
    return stage_data(trace, **{"run_id": "a", "source": "live", "running": False, **more})


def round_of(statuses: str, kind: str = "correction") -> Round:
    """A round from its statuses' initials: a(ccepted), r(ejected), d(iscarded)."""
    words = {"a": "accepted", "r": "rejected", "d": "discarded"}
    drafted = [DraftedToken(i, f"t{i}", words[letter]) for i, letter in enumerate(statuses)]  # type: ignore[arg-type]
    emitted = EmittedToken("none") if kind == "none" else EmittedToken(kind, 99, "x")  # type: ignore[arg-type]
    return Round(0, 0.001, 0.004, 0.0001, drafted, emitted)


@pytest.mark.parametrize(
    ("statuses", "kind", "sentence"),
    [
        ("aard", "correction", "It accepts 2, replaces the third and discards the fourth."),
        ("arddd", "correction", "It accepts 1, replaces the second and discards the last 3."),
        ("aaar", "correction", "It accepts 3 and replaces the fourth."),
        ("rddd", "correction", "It rejects the first, replaces it and discards the other 3."),
        ("rd", "correction", "It rejects the first, replaces it and discards the second."),
        ("r", "correction", "It rejects the token and replaces it."),
        ("aaaa", "bonus", "It accepts all 4 and adds a bonus token."),
        ("aa", "bonus", "It accepts both and adds a bonus token."),
        ("a", "bonus", "It accepts it and adds a bonus token."),
        ("", "bonus", "The target writes one token itself."),
        (
            "aadd",
            "none",
            "It accepts 2. The second ends the text, so the last 2 are discarded.",
        ),
        ("aad", "none", "It accepts 2. The second ends the text, so the last one is discarded."),
        ("aaa", "none", "It accepts 3. The third ends the text."),
        ("a", "none", "It accepts it. The text ends there."),
    ],
)
def test_a_judgement_in_plain_words(statuses: str, kind: str, sentence: str) -> None:
    told = narrate(round_of(statuses, kind), Teller(), draft_length=4, remaining=40, ends=kind == "none")
    assert told[2] == sentence


@pytest.mark.parametrize(
    ("statuses", "remaining", "lookup", "propose", "check"),
    [
        ("aaar", 40, False, "The draft proposes 4 tokens.", "The target checks all 4 in one pass."),
        (
            "ar",
            3,
            False,
            "Only 3 tokens are left: the draft proposes 2.",
            "The target checks both in one pass.",
        ),
        ("", 1, False, "One token is left to write: nothing is drafted.", "The target makes one plain pass."),
        ("", 9, True, "No match in the text so far: nothing is drafted.", "The target makes one plain pass."),
        ("r", 9, True, "A match in the text so far proposes 1 token.", "The target checks it in one pass."),
    ],
)
def test_a_proposal_and_its_check_in_plain_words(
    statuses: str, remaining: int, lookup: bool, propose: str, check: str
) -> None:
    kind = "correction" if statuses else "bonus"
    teller = Teller(method_of("prompt-lookup" if lookup else "model"))
    told = narrate(round_of(statuses, kind), teller, draft_length=4, remaining=remaining, ends=False)
    assert told[:2] == (propose, check)


def test_the_last_figures_and_times_are_the_runs() -> None:
    trace = fake_trace()
    rounds = data_of(trace)["rounds"]
    counts = metrics.count(trace.rounds)
    assert [len(round["sentences"]) for round in rounds] == [SUBSTEPS] * len(trace.rounds)
    last = rounds[-1]["after"]
    assert last["acceptance"] == pytest.approx(counts.acceptance_rate, abs=1e-6)
    assert last["judgement"] == pytest.approx(counts.per_judgement_rate, abs=1e-6)
    assert last["speedup"] == pytest.approx(metrics.speedup(trace), abs=1e-6)
    assert last["emitted"] == 64
    positions = metrics.by_position(trace.rounds, trace.settings.draft_length)
    assert last["positions"] == [(place.accepted, place.judged) for place in positions]
    trace = fake_trace()
    data = data_of(trace)
    moments = [moment for round in data["rounds"] for moment in round["ms"]]
    assert moments[0] == 0
    assert moments == sorted(moments)
    assert moments[-1] == pytest.approx(sum(round.seconds for round in trace.rounds) * 1000, abs=0.01)
    for round in data["rounds"]:
        for moment, alone in zip(round["ms"][1:], round["alone"], strict=True):
            assert alone == sum(end <= moment + 1e-3 for end in data["plain"])


def test_while_a_run_goes_on_both_lanes_grow() -> None:
    whole = fake_trace()
    going = data_of(cut(whole, 3), running=True)
    written = going["rounds"][2]["after"]["emitted"]
    assert (len(going["plain"]), going["more"], len(going["rounds"])) == (written, True, 3)
    assert going["rounds"] == data_of(whole)["rounds"][:3], "what is shown of a round does not change later"
    behind = data_of(cut(whole, 3, alone=written - 1), running=True)["rounds"]
    assert [round["after"]["speedup"] is None for round in behind] == [False, False, True]
    assert max(behind[2]["alone"]) <= written - 1
    assert data_of(replace(whole, autoregressive=None), running=True)["more"] is False
    data = data_of(cut(fake_trace(), 1, alone=0), running=True)
    assert (data["plain"], data["rounds"][0]["alone"], data["rounds"][0]["after"]["speedup"]) == (None, None, None)
    whole = fake_trace()
    assert whole.autoregressive
    short = Autoregressive(whole.autoregressive.seconds_per_token[:5], whole.autoregressive.token_ids[:5])
    last = data_of(replace(whole, autoregressive=short))["rounds"][-1]
    assert last["alone"][-1] == 5
    assert last["after"]["speedup"], "its median step stands for the rest"


def test_the_badge_and_the_idle_line_say_what_is_going_on() -> None:
    trace = fake_trace()
    assert data_of(trace)["badge"] == "live · this machine"
    assert data_of(trace, source="recorded")["badge"] == "recorded run"
    assert data_of(trace, source="recorded")["measured"] == "measured on a test's machine"
    waiting = data_of(cut(trace, 0), running=True)
    assert (waiting["badge"], waiting["idle"]) == ("waiting…", "Waiting for the first round…")
    assert data_of(cut(trace, 0), running=True, notice="2nd in the queue.")["idle"] == "2nd in the queue."
    trace = fake_trace(tokens=8)
    alone = data_of(replace(trace, drafter=None, rounds=[]))
    assert alone["rounds"] == []
    assert len(alone["plain"]) == 8
    assert alone["idle"] == "No draft model took part in this run."


def test_a_judged_token_keeps_both_models_favourites_where_they_were_recorded() -> None:
    trace = fake_trace(sharpness=1.0)
    assert trace.rounds
    for round in trace.rounds:
        chips = data_of(replace(trace, rounds=[round]))["rounds"][0]["chips"]
        for token, chip in zip(round.drafted, chips, strict=False):
            if token.status == "discarded":
                assert set(chip) == {"text", "status", "q"}  # never judged: what the target thought is not shown
                continue
            assert [row[0] for row in chip["candidates"] if row[3]] == [token.text]
            probabilities = [row[1] for row in chip["candidates"]]
            assert probabilities == sorted(probabilities, reverse=True)
            assert max(probabilities) == pytest.approx(max(c.p for c in token.candidates), abs=1e-6)
            assert max(row[2] for row in chip["candidates"]) == pytest.approx(
                max(c.q or 0 for c in token.candidates), abs=1e-6
            )
    chips = [chip for round in data_of(fake_trace(record=False))["rounds"] for chip in round["chips"]]
    assert all(chip.get("q") is None for chip in chips)
    assert all(chip.get("candidates", []) == [] for chip in chips if chip["status"] in ("accepted", "rejected"))


@pytest.mark.parametrize(
    "trace",
    [
        fake_trace(),
        fake_trace(greedy=True),
        fake_trace(lookup=True),
        fake_trace(eos=True),
        translated(fake_trace(greedy=True)),
        fake_trace(hostile=True),
        fake_trace(record=False, plain=False),
        cut(fake_trace(), 0),
    ],
)
def test_the_data_is_plain_json(trace: Trace) -> None:
    data = data_of(trace, link={"target": "wren-base"}, playhead=3)
    assert is_plain_json(data)


def test_both_tokenisations_of_a_draft_with_another_tokenizer_are_sent() -> None:
    trace = translated(fake_trace(greedy=True))
    data = data_of(trace)
    assert data["translated"] is True
    for round, shown in zip(trace.rounds, data["rounds"], strict=True):
        assert shown.get("draft_tokens", []) == round.draft_tokens
        assert all(chip.get("q") is None for chip in shown["chips"])
        judged = [chip for chip in shown["chips"] if chip["status"] in ("accepted", "rejected")]
        assert all([row[0] for row in chip["candidates"] if row[3]] == [chip["text"]] for chip in judged)
    hostile = data_of(translated(fake_trace(greedy=True, hostile=True)))
    assert max(len(text) for round in hostile["rounds"] for text in round.get("draft_tokens", [])) <= 80
    long = replace(trace, rounds=[replace(trace.rounds[0], draft_tokens=["a" * 500])])
    assert len(data_of(long)["rounds"][0]["draft_tokens"][0]) == 80
    data = data_of(fake_trace(greedy=True))
    assert data["translated"] is False
    assert all("draft_tokens" not in round for round in data["rounds"])
    round = replace(round_of("", "bonus"), draft_tokens=["␣wa"])
    told = narrate(round, Teller(), draft_length=4, remaining=30, ends=False)
    assert told[0] == "The draft’s text does not fit the target’s tokens: nothing is proposed."
    told = narrate(round_of("ar"), Teller(), draft_length=4, remaining=30, ends=True)
    assert told[2].endswith("replaces the second. The text ends here.")


def test_long_runs_and_texts_stay_small_and_hostile_ones_stay_text() -> None:
    trace = fake_trace(tokens=256, draft_length=16)
    useless = next(round for round in trace.rounds if round.discarded == 15)
    worst = replace(trace, rounds=[replace(useless, index=i) for i in range(200)])
    assert len(json.dumps(data_of(worst))) < 400_000
    data = data_of(fake_trace(hostile=True))
    texts = {chip["text"] for round in data["rounds"] for chip in round["chips"]}
    assert max(map(len, texts)) == 80
    assert "<script>alert(1)</script>" in texts & set(HOSTILE)
    trace = fake_trace()
    long = replace(trace, prompt=replace(trace.prompt, token_ids=[0] * 500, tokens=["a"] * 500))
    assert data_of(long)["prompt"] == {"hidden": 500 - SHOWN_PROMPT_TOKENS, "tokens": ["a"] * SHOWN_PROMPT_TOKENS}


def test_plotly_is_copied_once_and_whole_where_it_can_be_written(tmp_path: Path) -> None:
    first = known(publish_plotly(tmp_path / "static"))
    assert first.read_text(encoding="utf-8").rstrip().endswith("}));")
    made = first.stat().st_mtime_ns
    assert publish_plotly(tmp_path / "static") == first
    assert first.stat().st_mtime_ns == made
    assert [path.name for path in first.parent.iterdir()] == ["plotly.min.js"]
    in_the_way = tmp_path / "file"
    in_the_way.write_text("a file, not a folder")
    assert publish_plotly(in_the_way) is None


# contrast, by WCAG 2.2


@pytest.mark.parametrize(("scheme", "grounds"), [("light", ["#ffffff"]), ("dark", ["#0f1318", "#0e1117"])])
def test_every_status_is_readable(scheme: str, grounds: list[str]) -> None:
    css = (ASSETS / "stage/stage.css").read_text(encoding="utf-8")
    start = css.index(".stage {") if scheme == "light" else css.index('.stage[data-scheme="dark"]')
    palette = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css[start : css.index("}", start)]))
    for status in ("accepted", "rejected", "corrected"):
        assert contrast(palette[status], palette[f"{status}-ground"]) >= 4.5
        assert all(contrast(palette[status], ground) >= 4.5 for ground in grounds)
    for ground in (*grounds, palette["soft"], palette["line"]):  # discarded tokens are hatched with the line's colour
        assert contrast(palette["mute"], ground) >= 4.5


TRACE = fake_trace()


def payload(trace: Trace, running: bool = True, notice: str | None = None, run_id: str = "live-1") -> StagePayload:
    made = stage_data(trace, run_id=run_id, source="live", running=running, notice=notice)
    made["stream"], made["version"] = "page", 7
    return made


def test_what_is_sent_is_what_is_new() -> None:
    now = payload(cut(TRACE, 3))
    assert news(now, sent_with(now)) is None
    before, now = payload(cut(TRACE, 3)), payload(cut(TRACE, 5))
    found = known(news(now, sent_with(before)))
    assert (found["stream"], found["version"], found["whole"]) == ("page", 7, None)
    growth = known(found["growth"])
    assert (growth["start"], growth["rounds"]) == (3, now["rounds"][3:])
    assert before["plain"] == (now["plain"] or [])[: growth["plain_start"]] or before["plain"] is None
    before, now = payload(TRACE, notice="waiting: place 2"), payload(TRACE, notice="waiting: place 1")
    found = known(news(now, sent_with(before)))
    assert found["growth"]
    assert (found["growth"]["notice"], found["growth"]["rounds"]) == ("waiting: place 1", [])
    now = payload(TRACE, running=False)
    for before in (None, sent_with(payload(TRACE, run_id="first")), sent_with(payload(TRACE))):
        found = known(news(now, before))
        assert (found["whole"], found["growth"]) == (now, None)


def test_a_run_that_has_not_changed_is_the_same_bytes_and_one_that_has_grown_has_another_name() -> None:
    first, again = payload(TRACE), payload(TRACE, notice="waiting: place 1")
    again["version"], again["playhead"], again["gamma"] = 8, 5, 2
    run, before = split(first)
    same, after = split(again)
    assert run == same
    assert len(json.dumps(after)) < 1_500  # a browser that has the run is sent this
    assert before["part"] == after["part"] == json.loads(run)["key"]
    sent = {**after, **json.loads(run)["run"]}
    assert sent.pop("part")
    assert sent == json.loads(json.dumps(again))
    assert split(payload(cut(TRACE, 3)))[1]["part"] != split(payload(cut(TRACE, 4)))[1]["part"]


@pytest.fixture
def first() -> tuple[Trace, DraftGuesses]:
    trace, draft_guesses = first_trace(), first_draft_guesses()
    assert trace is not None
    assert draft_guesses is not None, "python -m scripts.record_first makes it again"
    return trace, draft_guesses


def unfolded(data: dict[str, Any], length: int) -> list[list[tuple[str | None, str]]]:
    """(text, status) of every token of every round, as the stage's script unfolds them."""
    at, rounds = 0, []
    for accepted, rejected, kind, seen, unknown in data["lengths"][str(length)]["rounds"]:
        others = [*seen, *[None] * unknown]
        chips = [(text, "accepted") for text in data["tokens"][at : at + accepted]]
        chips += [(text, "rejected" if i < rejected else "discarded") for i, text in enumerate(others)]
        at += accepted
        if kind != "none":
            chips.append((data["tokens"][at], kind))
            at += 1
        rounds.append(chips)
    return rounds


def test_at_its_own_draft_length_the_recorded_run_is_replayed_token_for_token(
    first: tuple[Trace, DraftGuesses],
) -> None:
    trace, draft_guesses = first
    data = replay_data(trace, draft_guesses, None, running=False)
    drawn = stage_data(trace, run_id="first", source="recorded", running=False)["rounds"]
    told = unfolded(data, trace.settings.draft_length)
    assert told == [[(chip["text"], chip["status"]) for chip in round["chips"]] for round in drawn]
    counts, shown = count(trace.rounds), data["lengths"][str(trace.settings.draft_length)]
    assert [shown[name] for name in ("accepted", "rejected", "discarded")] == [
        counts.accepted,
        counts.rejected,
        counts.discarded,
    ]
    assert shown["per_call"] == round(counts.tokens_per_target_call or 0, 2)


def test_every_length_spells_the_same_output_and_unknown_tokens_are_only_discarded_ones(
    first: tuple[Trace, DraftGuesses],
) -> None:
    data = replay_data(*first, None, running=False)
    assert sorted(map(int, data["lengths"])) == list(range(1, MAX_DRAFT_LENGTH + 1))
    unknown = 0
    for length in range(1, MAX_DRAFT_LENGTH + 1):
        chips = [chip for round in unfolded(data, length) for chip in round]
        assert [text for text, status in chips if status in ("accepted", "correction", "bonus", "own")] == data[
            "tokens"
        ]
        assert all(text is not None for text, status in chips if status != "discarded")
        unknown += sum(text is None for text, _ in chips)
    assert unknown > 0, "longer drafts than the run's own go on where no run has been"


def test_it_is_small_plain_json_and_a_rounding_format_is_said(first: tuple[Trace, DraftGuesses]) -> None:
    text = json.dumps(replay_data(*first, None, running=False), allow_nan=False)
    assert len(text) < 20_000
    trace, draft_guesses = first
    assert replay_data(trace, draft_guesses, None, running=False)["exact"] is True
    assert replay_data(trace, replace(draft_guesses, exact=False), None, running=False)["exact"] is False


def test_replayed_speedups_begin_at_the_measured_one_and_without_a_trusted_one_only_the_costs_are_left(
    first: tuple[Trace, DraftGuesses],
) -> None:
    trace, draft_guesses = first
    measured, alone = known(metrics.speedup(trace)), replace(trace, autoregressive=None)
    in_turns = replace(known(trace.autoregressive), alternating=True)
    busy = replace(trace, rounds=[replace(trace.rounds[0], verify_seconds=1.0), *trace.rounds[1:]])
    busy = replace(busy, autoregressive=in_turns)
    step = known(metrics.costs(trace)).step_seconds
    free = Costs(step, 0.0, {1: 1.0, 17: 1.0}, 0.0)  # a round is one step: a replay's speedup is its tokens a call
    for run, costs, times, at_4 in [
        (trace, None, "estimated from this run’s times", measured),
        (trace, free, "estimated from this run’s times and the pair’s calibrated costs", measured),
        (busy, free, "estimated from quiet measurements of this pair", count(trace.rounds).tokens_per_target_call),
        (busy, None, "not known: this machine was busy", None),
        (alone, None, "not known: this run has no times", None),
    ]:
        data = replay_data(run, draft_guesses, costs, running=False)
        assert (data["times"], data["lengths"]["4"]["speedup"]) == (times, at_4 and pytest.approx(at_4, abs=0.005))
    replayed = replay_data(busy, draft_guesses, free, running=False)["lengths"].values()
    assert all(one["speedup"] == one["per_call"] for one in replayed)


def test_where_it_is_impossible_one_line_says_why(first: tuple[Trace, DraftGuesses]) -> None:
    trace, draft_guesses = first

    def why(trace: Trace, draft_guesses: DraftGuesses | None = draft_guesses, running: bool = False) -> str:
        data = replay_data(trace, draft_guesses, None, running)
        assert set(data) == {"why_not"}
        return str(data["why_not"])

    assert "temperature 0" in why(fake_trace())
    assert "after a live run" in why(trace, None)
    assert "once this run is over" in why(trace, None, running=True)
    assert "another tokenizer" in why(translated(fake_trace(greedy=True)), None)
    assert "schedule is heuristic" in why(
        replace(trace, settings=replace(trace.settings, draft_schedule="heuristic")), draft_guesses
    )
    shaped = replace(trace.settings, tree=f"dynamic:{2 * trace.settings.draft_length}")
    assert "What a tree would draft" in why(replace(trace, settings=shaped), draft_guesses)
    other = replace(draft_guesses, token_ids=draft_guesses.token_ids[:-1])
    assert "after a live run" in why(trace, other)
