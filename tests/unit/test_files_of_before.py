"""Files of an earlier version open as they did.

`tests/fixtures/before` holds every recorded run, race, sweep, proof and game of commit 22d8412, and files that its
command line wrote. `files.json` says what that commit read in them. Never make these files again with newer code.
"""

import gzip
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from specviz.core.metrics import count
from specviz.core.trace import Trace, dump_trace, parse_trace
from specviz.core.verdict import verdict_of_run
from specviz.game.game import load_turn
from specviz.measure.proof import rows
from specviz.measure.race import overall_verdict, parse_race, race_csv
from specviz.measure.sweep.table import dump_frame, read_frame
from tests.support.before import BEFORE, holds

FILES: dict[str, Any] = json.loads((BEFORE / "files.json").read_text(encoding="utf-8"))
TRACES = [name for name in FILES if name.startswith(("first", "story-", "cli-")) and "settings" in FILES[name]]
TABLES = [name for name in FILES if name.endswith(".csv")]


def content(name: str) -> bytes:
    return gzip.decompress((BEFORE / f"{name}.gz").read_bytes())


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(value: object) -> Any:
    """A dataclass or a tuple as JSON would give it back."""
    return json.loads(json.dumps(value))


def summary(trace: Trace) -> dict[str, Any]:
    verdict = verdict_of_run(trace)
    return {
        "target": trace.target.name,
        "draft": trace.drafter and trace.drafter.name,
        "settings": asdict(trace.settings),
        "counts": asdict(count(trace.rounds)),
        "rounds": len(trace.rounds),
        "text": digest(trace.output.text),
        "token_ids": digest(json.dumps(trace.output.token_ids)),
        "stopped_by": trace.output.stopped_by,
        "prompt": digest(trace.prompt.text),
        "recorded": sum(bool(token.candidates) for round in trace.rounds for token in round.drafted),
        "seconds": sum(round.seconds for round in trace.rounds),
        "verdict": verdict and [verdict.label, verdict.speedup, verdict.certain],
    }


def expect_summary(trace: Trace, expected: dict[str, Any]) -> None:
    """The same values; a setting that did not exist then may have been added."""
    found = plain(summary(trace))
    added = found["settings"].keys() - expected["settings"].keys()
    found["settings"] = {name: value for name, value in found["settings"].items() if name not in added}
    assert found == expected


def test_there_is_something_of_every_kind() -> None:
    assert len(TRACES) == 9
    assert len(TABLES) == 3
    assert {path.name.removesuffix(".gz") for path in BEFORE.glob("*.gz")} == set(FILES)


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_reads_as_before_and_loses_nothing_when_it_is_saved_again(name: str) -> None:
    trace = parse_trace(content(name))
    expect_summary(trace, FILES[name])
    assert holds(json.loads(dump_trace(trace)), json.loads(content(name)))


def test_a_race_and_its_table_read_as_before() -> None:
    expected = FILES["race.json"]
    laps = parse_race(content("race.json").decode())
    assert [lap.name for lap in laps] == [lap["name"] for lap in expected["laps"]]
    for lap, old in zip(laps, expected["laps"], strict=True):
        expect_summary(lap.speculative, old["speculative"])
        assert digest(json.dumps(lap.plain.output.token_ids)) == old["plain_ids"]
        assert (lap.identical, lap.verdict.label) == (old["identical"], old["label"])
        assert lap.verdict.speedup == pytest.approx(old["speedup"])
    verdict = overall_verdict(laps)
    assert verdict
    label, speedup, interval, certain = expected["verdict"]
    assert (verdict.label, verdict.certain) == (label, certain)
    assert verdict.speedup == pytest.approx(speedup)
    assert verdict.interval == pytest.approx(interval, rel=1e-3)
    header, *rows = race_csv(laps).splitlines()
    assert [column for column in header.split(",") if column in expected["csv"]] == expected["csv"]
    assert len(rows) == expected["csv_rows"]


@pytest.mark.parametrize("name", TABLES)
def test_a_sweeps_table_reads_as_before_and_is_written_with_the_columns_added_since(name: str) -> None:
    rows, expected = read_frame(content(name), name), FILES[name]
    assert len(rows) == expected["rows"]
    old = content(name).decode().splitlines()
    added = "repetition,draft_sampling,verification,tree,node"
    assert dump_frame(rows).splitlines() == [f"{old[0]},{added}", *(f"{line},,sample,token,," for line in old[1:])]


def test_a_proof_reads_as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    file.write_bytes(content("proof.json"))
    monkeypatch.setattr(rows, "PATH", file)
    proof, expected = rows.recorded_proof.__wrapped__(), FILES["proof.json"]
    assert proof
    assert [draws.rule for draws in proof.draws] == expected["rules"]
    assert [len(draws.batches) for draws in proof.draws] == expected["batches"]
    assert len(proof.greedy) == expected["greedy"]
    assert holds(plain(asdict(proof.request)), expected["request"])
    assert proof.machine == expected["machine"]


def test_a_turn_of_the_game_reads_as_before() -> None:
    expected = FILES["play.json"]
    turn = load_turn(json.loads(content("play.json"))["turn"])
    assert turn.round
    assert (digest(turn.text), len(turn.offers)) == (expected["text"], expected["offers"])
    assert plain(asdict(count([turn.round]))) == expected["counts"]
