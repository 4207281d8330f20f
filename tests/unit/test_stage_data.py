"""What the stage is given to draw: figures, sentences, times, and nothing a browser cannot take."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specviz.core import metrics
from specviz.core.assets import ASSETS
from specviz.core.trace import Autoregressive, DraftedToken, EmittedToken, Round, Trace
from specviz.player.data import SHOWN_PROMPT_TOKENS, SUBSTEPS, stage_data
from specviz.player.narration import Teller, narrate
from specviz.ui.shared.plotly_static import publish_plotly
from tests.support.fake_traces import HOSTILE, cut, fake_trace, translated
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


def test_the_longest_draft_still_has_words() -> None:
    told = narrate(round_of("a" * 15 + "r"), Teller(), draft_length=16, remaining=40, ends=False)
    assert told[2] == "It accepts 15 and replaces the sixteenth."


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
    teller = Teller("prompt-lookup" if lookup else "model")
    told = narrate(round_of(statuses, kind), teller, draft_length=4, remaining=remaining, ends=False)
    assert told[:2] == (propose, check)


def test_a_correction_that_ends_the_text_says_so() -> None:
    told = narrate(round_of("ar"), Teller(), draft_length=4, remaining=30, ends=True)
    assert told[2].endswith("replaces the second. The text ends here.")


def test_every_round_has_three_sentences_and_the_last_figures_are_the_runs() -> None:
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


def test_times_follow_each_other_and_the_target_alone_is_counted_at_each() -> None:
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


def test_before_the_first_plain_step_there_is_no_plain_lane() -> None:
    data = data_of(cut(fake_trace(), 1, alone=0), running=True)
    assert (data["plain"], data["rounds"][0]["alone"], data["rounds"][0]["after"]["speedup"]) == (None, None, None)


def test_a_target_alone_that_ended_earlier_is_not_said_to_have_written_more() -> None:
    whole = fake_trace()
    assert whole.autoregressive
    short = Autoregressive(whole.autoregressive.seconds_per_token[:5], whole.autoregressive.token_ids[:5])
    last = data_of(replace(whole, autoregressive=short))["rounds"][-1]
    assert last["alone"][-1] == 5
    assert last["after"]["speedup"], "its median step stands for the rest"


def test_the_badge_and_the_idle_line_say_what_is_going_on() -> None:
    trace = fake_trace()
    assert data_of(trace)["badge"] == "live · this machine"
    assert data_of(trace, source="recorded")["badge"] == "recorded on a test's machine"
    assert data_of(trace, source="recorded")["measured"] == "measured on a test's machine"
    waiting = data_of(cut(trace, 0), running=True)
    assert (waiting["badge"], waiting["idle"]) == ("waiting…", "Waiting for the first round…")
    assert data_of(cut(trace, 0), running=True, notice="2nd in the queue.")["idle"] == "2nd in the queue."


def test_a_run_of_the_target_alone_has_a_lane_and_no_rounds() -> None:
    trace = fake_trace(tokens=8)
    alone = data_of(replace(trace, drafter=None, rounds=[]))
    assert alone["rounds"] == []
    assert len(alone["plain"]) == 8
    assert alone["idle"] == "No draft model took part in this run."


def test_a_judged_token_keeps_itself_and_both_models_favourites() -> None:
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


def test_a_run_without_recording_is_drawn_all_the_same() -> None:
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


def test_a_draft_that_cannot_be_translated_is_told() -> None:
    round = replace(round_of("", "bonus"), draft_tokens=["␣wa"])
    told = narrate(round, Teller(), draft_length=4, remaining=30, ends=False)
    assert told[0] == "The draft’s text does not fit the target’s tokens: nothing is proposed."


def test_other_runs_are_drawn_as_they_were() -> None:
    data = data_of(fake_trace(greedy=True))
    assert data["translated"] is False
    assert all("draft_tokens" not in round for round in data["rounds"])


def test_a_long_run_with_a_useless_draft_stays_small_enough_to_send() -> None:
    trace = fake_trace(tokens=256, draft_length=16)
    useless = next(round for round in trace.rounds if round.discarded == 15)
    worst = replace(trace, rounds=[replace(useless, index=i) for i in range(200)])
    assert len(json.dumps(data_of(worst))) < 400_000


def test_long_texts_are_cut_and_hostile_ones_stay_text() -> None:
    data = data_of(fake_trace(hostile=True))
    texts = {chip["text"] for round in data["rounds"] for chip in round["chips"]}
    assert max(map(len, texts)) == 80
    assert "<script>alert(1)</script>" in texts & set(HOSTILE)
    trace = fake_trace()
    long = replace(trace, prompt=replace(trace.prompt, token_ids=[0] * 500, tokens=["a"] * 500))
    assert data_of(long)["prompt"] == {"hidden": 500 - SHOWN_PROMPT_TOKENS, "tokens": ["a"] * SHOWN_PROMPT_TOKENS}


def test_plotly_is_copied_once_and_whole(tmp_path: Path) -> None:
    first = publish_plotly(tmp_path / "static")
    assert first is not None
    assert first.read_text(encoding="utf-8").rstrip().endswith("}));")
    made = first.stat().st_mtime_ns
    assert publish_plotly(tmp_path / "static") == first
    assert first.stat().st_mtime_ns == made
    assert [path.name for path in first.parent.iterdir()] == ["plotly.min.js"]


def test_plotly_where_nothing_can_be_written(tmp_path: Path) -> None:
    in_the_way = tmp_path / "static"
    in_the_way.write_text("a file, not a folder")
    assert publish_plotly(in_the_way) is None


# contrast, by WCAG 2.2


def _luminance(colour: str) -> float:
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("scheme", "grounds"), [("light", ["#ffffff"]), ("dark", ["#0f1318", "#0e1117"])])
def test_every_status_is_readable(scheme: str, grounds: list[str]) -> None:
    css = (ASSETS / "stage/stage.css").read_text(encoding="utf-8")
    start = css.index(".stage {") if scheme == "light" else css.index('.stage[data-scheme="dark"]')
    palette = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css[start : css.index("}", start)]))
    for status in ("accepted", "rejected", "corrected"):
        assert _contrast(palette[status], palette[f"{status}-ground"]) >= 4.5
        assert all(_contrast(palette[status], ground) >= 4.5 for ground in grounds)
    for ground in (*grounds, palette["soft"], palette["line"]):  # discarded tokens are hatched with the line's colour
        assert _contrast(palette["mute"], ground) >= 4.5
