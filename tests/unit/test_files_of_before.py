"""Files and links of an earlier version open as they did.

`tests/fixtures/before` holds every recorded run, race, sweep, proof and game of commit 22d8412, files that its command
line wrote, and in `links.json` links to all seven pages, good and bad. `files.json` says what that commit read in the
files; with each link stand the values and the lines that it gave; `links_later.json` has what was added since. Never
make these files again with newer code.
"""

import gzip
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from specviz.core.metrics import count
from specviz.core.trace import Trace, dump_trace, parse_trace
from specviz.core.verdict import verdict_of_run
from specviz.data.links.permalink import RunLink
from specviz.data.prompts.workloads import OWN_TEXT
from specviz.game.game import load_turn, plan_from_link
from specviz.measure.proof import rows
from specviz.measure.race import overall_verdict, parse_race, race_csv
from specviz.measure.sweep.rows import dump_frame, read_frame
from specviz.models.catalogue import known_names
from specviz.ui.learn.learn_page import LearnState, go_to_place
from specviz.ui.race.race_page import RaceEntry
from specviz.ui.same_quality.proof import ProofLink
from specviz.ui.when_it_helps.sweeps import SweepChoice
from specviz.ui.worksheet.controls import WorksheetLink, start_from_link

BEFORE = Path(__file__).parents[1] / "fixtures" / "before"
FILES: dict[str, Any] = json.loads((BEFORE / "files.json").read_text(encoding="utf-8"))
TRACES = [name for name in FILES if name.startswith(("first", "story-", "cli-")) and "settings" in FILES[name]]
TABLES = [name for name in FILES if name.endswith(".csv")]


def holds(new: Any, old: Any) -> bool:
    """Whether everything of `old` is in `new`; a newer version may say more."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and holds(new[key], value) for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(new) == len(old) and all(map(holds, new, old))
    return bool(new == old)


def content(name: str) -> bytes:
    return gzip.decompress((BEFORE / f"{name}.gz").read_bytes())


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(value: object) -> Any:
    """A dataclass or a tuple as JSON would give it back."""
    return json.loads(json.dumps(value))


def summary(trace: Trace) -> dict[str, Any]:
    verdict = verdict_of_run(trace)
    found = {
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
    return dict(plain(found))


def test_there_is_something_of_every_kind() -> None:
    assert len(TRACES) == 9
    assert len(TABLES) == 3
    assert {path.name.removesuffix(".gz") for path in BEFORE.glob("*.gz")} == set(FILES)
    assert {link.page for link in LINKS} == {link.page for link in LINKS if link.problems} == set(READERS)
    assert len(LINKS) > 50


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_reads_as_before_and_loses_nothing_when_it_is_saved_again(name: str) -> None:
    trace = parse_trace(content(name))
    assert holds(summary(trace), FILES[name])
    assert holds(json.loads(dump_trace(trace)), json.loads(content(name)))


def test_a_race_and_its_table_read_as_before() -> None:
    expected = FILES["race.json"]
    laps = parse_race(content("race.json").decode())
    assert [lap.name for lap in laps] == [lap["name"] for lap in expected["laps"]]
    for lap, old in zip(laps, expected["laps"], strict=True):
        assert holds(summary(lap.speculative), old["speculative"])
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
    added = "repetition,draft_sampling,verification,tree,prompt_format,node"
    assert dump_frame(rows).splitlines() == [f"{old[0]},{added}", *(f"{line},,sample,token,,raw," for line in old[1:])]


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


class Link(NamedTuple):
    page: str
    link: dict[str, list[str]]
    fields: dict[str, Any] | None
    problems: list[str]


LINKS = [
    Link(**found)
    for name in ("links.json", "links_later.json")
    for found in json.loads((BEFORE / name).read_text(encoding="utf-8"))
]
COSTS = {"cost": 0.1, "verification": 1.1, "overhead": 0.05, "operations": 0.1}
# what the worksheet holds already
START = WorksheetLink(alpha=0.7, gamma=4, **COSTS, drafted=40, accepted=28, counted_at=4)

Params = dict[str, list[str]]
Read = tuple[dict[str, Any] | None, list[str]]


def watch(params: Params) -> Read:
    linked, problems = RunLink.read(params, context=known_names())
    preset = None if linked.preset == OWN_TEXT else linked.preset
    return {"request": asdict(linked.request()), "step": linked.step, "preset": preset}, problems


def race(params: Params) -> Read:
    entry, problems = RaceEntry.read(params, context=known_names())
    return entry.model_dump() | {"request": asdict(entry.request())}, problems


def helps(params: Params) -> Read:
    choice, problems = SweepChoice.read(params, context=known_names())
    return choice.model_dump(), problems


def proof(params: Params) -> Read:
    wanted, problems = ProofLink.read(params, context=known_names())
    return wanted.model_dump() | {"pieces": asdict(wanted.pieces)}, problems


def worksheet(params: Params) -> Read:
    start, problems = start_from_link(params, START)
    return start and asdict(start), problems


def play(params: Params) -> Read:
    plan, problems = plan_from_link(params)
    return plan.model_dump(), problems


def learn(params: Params) -> Read:
    state = LearnState()
    problems = go_to_place(state, {name: values[-1] for name, values in params.items()})
    return asdict(state), problems


READERS = {each.__name__: each for each in (watch, race, helps, proof, worksheet, play, learn)}
STEP = "step=x is not a step from 0 to 100000: starting at the first."


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.page)
def test_a_link_asks_for_what_it_asked_for_and_what_cannot_be_used_gets_its_line(link: Link) -> None:
    fields, problems = READERS[link.page](link.link)
    assert holds(plain(fields), link.fields)
    expected = [problem for problem in link.problems if link.page != "race" or problem != STEP]
    assert len(problems) == len(expected), "a race has no step: its link ignores it now"
