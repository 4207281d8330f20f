"""What the live page says of a run, beside what the app says of the same run."""

import json
import shutil
import subprocess
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from specviz.core.files import ASSETS
from specviz.core.result import result_of
from specviz.core.trace import Autoregressive, Round, Trace
from specviz.core.verdict import compare_texts
from specviz.data.measured.first_run import first_trace
from tests.support.known import known

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="node runs the page's modules")
HERE = "measured in this browser"
STEP = 0.01023  # seconds; no whole milliseconds, so that the clock does not look coarse
SCRIPT = """
const { resultOf, comparedInWords } = await import(process.argv[1]);
const { readFileSync } = await import("node:fs");
const trace = JSON.parse(readFileSync(0, "utf-8"));
console.log(JSON.stringify([resultOf(trace, true), resultOf(trace, false), comparedInWords(trace)]));
"""


def timed(check: float, guess: float, rest: float = 0.0, kind: str = "model", turns: bool = True) -> Trace:
    """The first run with times in plain steps, the same in every round: then every way to average gives the same."""
    trace = known(first_trace())

    def of(round: Round) -> Round:
        drafted = len(round.drafted)
        seconds = {"verify_seconds": STEP * (1 + (check - 1) * drafted / 4), "draft_seconds": STEP * guess * drafted}
        return replace(round, **seconds, overhead_seconds=STEP * rest)

    plain = known(trace.autoregressive)
    steps = replace(plain, seconds_per_token=[STEP] * len(plain.token_ids), alternating=turns)
    drafter = replace(known(trace.drafter), kind=kind)
    return replace(trace, rounds=[of(round) for round in trace.rounds], autoregressive=steps, drafter=drafter)


def said_by_the_page(trace: Trace) -> tuple[dict[str, Any], dict[str, Any], str]:
    asked = TypeAdapter(Trace).dump_json(trace).decode()
    words = (ASSETS / "live/words.js").as_uri()
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT, words], input=asked, capture_output=True, text=True, check=True
    )
    here, recorded, compared = json.loads(ran.stdout)
    return here, recorded, compared


@pytest.mark.parametrize(
    ("trace", "begins"),
    [
        (timed(1.3, 0.1), "It pays if more than "),
        (timed(2.4, 0.4, 0.1), "It pays if more than "),
        (timed(4.0, 0.6), "It would not pay even if "),
        (timed(1.5, 0.0, kind="prompt-lookup"), "It pays if a pass gives more than "),
        (timed(1.3, 0.1, turns=False), "It pays if more than "),
        (timed(2.2, 0.48, turns=False), "It pays if more than "),
    ],
    ids=["pays", "hurts", "cannot pay", "lookup", "one after the other", "one after the other, even"],
)
def test_the_reason_is_the_one_of_the_app(trace: Trace, begins: str) -> None:
    here, _, _ = said_by_the_page(trace)
    expected = result_of(trace, None, HERE)
    assert expected.reason.startswith(begins)
    assert (here["says"], here["reason"], here["speedup"]) == (expected.says, expected.reason, expected.speedup)
    assert here["interval"] == (expected.interval and [pytest.approx(end) for end in expected.interval])


def test_a_recorded_run_is_never_said_to_be_measured_in_this_browser() -> None:
    trace = known(first_trace())
    here, recorded, _ = said_by_the_page(trace)
    assert HERE in here["reason"]
    assert HERE not in recorded["reason"]
    assert f"One run, recorded on {trace.recorded_on.machine}." in recorded["reason"]


def unlike(trace: Trace, plain: list[int]) -> Trace:
    steps = Autoregressive([STEP] * len(plain), plain, alternating=True)
    return replace(trace, autoregressive=steps)


def test_it_says_whether_both_texts_are_the_same() -> None:
    trace = known(first_trace())
    ids = trace.output.token_ids
    *_, same = said_by_the_page(trace)
    assert same == f"Texts, identical: the target alone wrote the same {len(ids)} tokens."
    assert compare_texts(trace).startswith("Identical")
    *_, other = said_by_the_page(unlike(trace, [*ids[:4], ids[4] + 1, *ids[5:]]))
    assert other.startswith("Texts: they differ first at token 5.")
    *_, shorter = said_by_the_page(unlike(trace, ids[:9]))
    assert shorter.startswith("Texts: the same for 9 tokens,")
    *_, drawn = said_by_the_page(replace(trace, settings=replace(trace.settings, temperature=0.8)))
    assert "two different draws" in drawn
    *_, alone = said_by_the_page(replace(trace, drafter=None))
    assert alone == ""
