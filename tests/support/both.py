"""Tables of cases that the tests of both languages read: what is computed in Python and in JavaScript alike."""

import json
from pathlib import Path
from typing import Any

from specviz.core.rounds import DraftedToken, EmittedToken, Round, Status
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, DrafterInfo, Machine, ModelInfo, Output, Prompt, Trace
from tests.support.fake_traces import run_of

FATES: dict[str, Status] = {"a": "accepted", "r": "rejected", "n": "not taken", "d": "discarded"}
FOLDER = Path(__file__).parents[1] / "fixtures/both"


def table(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def round_from(index: int, guesses: str, own: str, seconds: list[float | None]) -> Round:
    """`guesses` like "ard", or "r-1 a-1 n0" of a tree: fates, and parents; `own`: the kind of the target's token."""
    tree = guesses.split() if "0" in guesses or "1" in guesses else []
    drafted = [
        DraftedToken(place, f"t{place}", FATES[node[0]], parent=int(node[1:]) if tree else None)
        for place, node in enumerate(tree or guesses)
    ]
    emitted = EmittedToken("none") if own == "none" else EmittedToken(own, 99, "x")  # type: ignore[arg-type]
    draft, check, rest = seconds
    return Round(index, draft, check, rest, drafted, emitted)


def run_from(case: dict[str, Any]) -> Trace:
    """The run of a case.

    Its rounds are [guesses, own, draft, check, rest], its times in units of `step` seconds. `plain`: the steps of the
    target alone, or how many there are of one unit each. `times`: how often all of it is repeated. `over`: false while
    the run goes on. `draft`: its kind, null without one. `settings`: those that are not the usual ones.
    """
    step, times = case.get("step", 1), case.get("times", 1)
    rounds = [
        round_from(index, guesses, own, [each and each * step for each in seconds or [1, 4, 0.5]])
        for index, (guesses, own, *seconds) in enumerate(case["rounds"] * times)
    ]
    plain = case.get("plain", [])
    units = (plain if isinstance(plain, list) else [1] * plain) * times
    alone = Autoregressive([unit * step for unit in units], [99] * len(units), alternating=case.get("turns", False))
    written = [token for round in rounds for token in round.emitted_ids]
    kind = case.get("draft", "model")
    return run_of(
        rounds,
        alone if units else None,
        created=case.get("created", "2026-01-01T00:00:00+00:00"),
        recorded_on=Machine(case.get("machine", "a machine"), "", "", 1),
        target=ModelInfo(case.get("target", "target"), 2, "float32", ""),
        settings=DecodeSettings(draft_length=case.get("draft_length", 4), **case.get("settings", {})),
        drafter=DrafterInfo(kind, case.get("name", "draft")) if kind else None,
        prompt=Prompt(case.get("prompt", "Once"), [1], [case.get("prompt", "Once")]),
        output=Output(written, "", "length" if case.get("over", True) else None),
    )
