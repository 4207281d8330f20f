"""A trace file is trusted in nothing: what is right reads back the same, what is wrong is named in one sentence."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from specviz import DecodeSettings, read_trace
from specviz.core import metrics
from specviz.core.rounds import Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round, Status
from specviz.core.terms import terms_of
from specviz.core.trace import FILE, UPLOAD, Autoregressive, Prompt, Trace, dump_trace, parse_trace
from specviz.core.verdict import verdict_of_run
from tests.support.both import round_from
from tests.support.fake_traces import fake_trace, run_of, translated
from tests.support.known import known
from tests.support.plain_json import with_value
from tests.support.strategies import assert_one_sentence
from tests.support.strategies import refusal as sentence_of

Json = dict[str, Any]
TOPS = [Candidate(5, " a", 0.6, 0.4), Candidate(6, " b", 0.2, 0.6)]


def drafted(*statuses: Status) -> list[DraftedToken]:
    return [DraftedToken(5, " a", status, 0.6, 0.4, 1.0, 0.3, TOPS) for status in statuses]


ROUNDS = [
    Round(0, 0.001, 0.004, 0.0001, drafted("accepted", "accepted"), EmittedToken("bonus", 7, "⟨E2⟩", 0.9, TOPS)),
    Round(
        1, 0.001, 0.004, 0.0001, drafted("accepted", "rejected", "discarded"),
        EmittedToken("correction", 6, " b", 0.2, TOPS, [ResidualCandidate(6, " b", 1.0)]),
    ),
    Round(2, 0.001, 0.004, 0.0001, drafted("accepted", "discarded"), EmittedToken("none")),
]  # fmt: skip
MADE = run_of(
    ROUNDS, Autoregressive([0.004, 0.005], [5, 6]), schema=1, prompt=Prompt("x y", [1, 2], ["x", " y"]),
    settings=DecodeSettings(max_new_tokens=8, draft_length=3, temperature=1.0, top_p=0.9),
)  # fmt: skip
VALID: Json = json.loads(dump_trace(MADE))
PLAIN: Json = VALID | {
    "drafter": None,
    "rounds": [],
    "settings": {"max_new_tokens": 2},
    "output": {"token_ids": [5, 6], "text": " a b", "stopped_by": "length"},
}


def changed(where: str, value: object, base: Json = VALID) -> str:
    return json.dumps(with_value(base, where, value))


def tree_trace(rounds: list[Round]) -> Trace:
    """The run that these rounds make, greedy; the target alone takes a second a token."""
    written = [token_id for round in rounds for token_id in round.emitted_ids]
    settings = DecodeSettings(max_new_tokens=max(1, len(written)), draft_length=2, tree="2,2")
    return run_of(rounds, Autoregressive([1.0] * len(written), written), settings=settings)


TREE_ROUNDS = [
    #              place 1        place 2 after node 1
    round_from(0, "r-1 a-1 n0 n0 r1 r1", "correction", [1, 3, 0]),  # 2 tokens in 4 s
    round_from(1, "a-1 n-1 r0 a0 n1 n1", "bonus", [1, 3, 0]),  # 3 tokens in 4 s
    round_from(2, "r-1 r-1 n0 n0 n1 n1", "correction", [1, 3, 0]),  # 1 token in 4 s
    round_from(3, "a-1 n-1", "bonus", [0.5, 2, 0]),  # 2 tokens in 2.5 s: no room for two depths
]


def of_tree(nodes: str, kind: str) -> str:
    return dump_trace(tree_trace([round_from(0, nodes, kind, [0, 1, 0])]))


TREE = tree_trace(TREE_ROUNDS)
TREE_FILE: Json = json.loads(dump_trace(TREE))


def refusal(content: str | bytes) -> str:
    sentence = sentence_of(lambda: parse_trace(content))
    assert_one_sentence(sentence)
    assert not sentence.endswith("..")
    assert len(sentence) < 400
    return sentence


ASKED = {"draft_length": 3, "temperature": 1.0, "draft_sampling": "argmax", "verification": "block"}
SECOND: Json = VALID | {"schema": 2, "settings": VALID["settings"] | ASKED}


STOPPED: Json = json.loads(of_tree("r-1 a-1 n0 n0 n1 n1", "none"))


@pytest.mark.parametrize("trace", [VALID, PLAIN, SECOND, TREE_FILE, STOPPED])
def test_a_written_trace_reads_back_and_writes_the_same(trace: Json) -> None:
    read = parse_trace(json.dumps(trace))
    assert parse_trace(dump_trace(read)) == read
    assert set(json.loads(dump_trace(read))) == set(VALID)
    how = (read.settings.draft_sampling, read.settings.verification, read.settings.tree)
    tree = trace["settings"].get("tree")
    assert how == (("argmax", "block", None) if trace is SECOND else ("sample", "token", tree))
    parents = [token.get("parent") for round in trace["rounds"] for token in round["drafted"]]
    assert ("parent" in dump_trace(read)) == any(each is not None for each in parents) == bool(tree)


def test_later_fields_turns_and_draft_tokens_are_written_only_where_they_are() -> None:
    trace = fake_trace(tokens=24, greedy=True)
    plain, written = known(trace.autoregressive), dump_trace(trace)
    assert not re.search("alternating|disturbed|draft_tokens", written), "as before there were such fields"
    later = [replace(trace, autoregressive=replace(plain, **{name: True})) for name in ("alternating", "disturbed")]
    for taken in (*later, translated(trace)):
        assert dump_trace(taken) != written
        assert parse_trace(dump_trace(taken)) == taken
    assert "autoregressive.alternating" in refusal(changed("autoregressive.alternating", 1))
    assert parse_trace(json.dumps(VALID)).rounds[0].draft_tokens == []


def test_a_file_is_read_from_disk_or_named_and_its_counts_are_those_of_the_statuses(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(VALID), encoding="utf-8")
    assert read_trace(file) == read_trace(str(file)) == parse_trace(json.dumps(VALID))
    for name in ("nowhere.json", ".", "x" * 300):
        assert " cannot be read: " in sentence_of(partial(read_trace, tmp_path / name))
    full, rejected, ended = parse_trace(json.dumps(VALID)).rounds
    assert [(r.accepted, r.rejected, r.discarded) for r in (full, rejected, ended)] == [(2, 0, 0), (1, 1, 1), (1, 0, 1)]
    assert [r.emitted_ids for r in (full, rejected, ended)] == [[5, 5, 7], [5, 6], [5]]
    assert full.seconds == pytest.approx(0.0051)


def test_hostile_text_stays_and_later_fields_are_tolerated() -> None:
    hostile = "<script>alert(1)</script>\x1b[31m\u202e&lt;\x00"
    content = changed("rounds.0.drafted.0.text", hostile)
    trace = parse_trace(content)
    assert trace.rounds[0].drafted[0].text == hostile
    assert parse_trace(dump_trace(trace)).rounds[0].drafted[0].text == hostile
    assert dump_trace(trace).count("\n") == 0  # one line to send, with any tokens
    for added in ("colour", "rounds.0.mood", "rounds.0.drafted.0.rank"):
        assert parse_trace(changed(added, {"deep": [1]})) == parse_trace(json.dumps(VALID))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (changed("prompt.tokens", ["x"]), r"prompt\.tokens and prompt\.token_ids differ in length"),
        (changed("prompt.token_ids", []), r"prompt\.token_ids is empty"),
        (changed("settings.draft_length", 2), r"rounds\.1 drafts 3 tokens, more than draft_length"),
        (changed("rounds.1.drafted.2.status", "accepted"), r"rounds\.1 has statuses out of order"),
        (changed("rounds.1.drafted.2.status", "rejected"), r"rounds\.1 has statuses out of order"),  # two rejected
        (changed("rounds.0.emitted.kind", "none"), r"rounds\.0 emits kind 'none' with id 7"),
        (changed("rounds.2.emitted.id", 3), r"rounds\.2 emits kind 'none' with id 3"),
        (changed("rounds.0.emitted.id", None), r"the rounds emit 6 tokens, and 5 of them have an id"),
        (changed("rounds.0.emitted.kind", "correction"), r"rounds\.0 emits kind 'correction' with 0 rejected"),
        (changed("rounds.1.emitted.kind", "bonus"), r"rounds\.1 emits kind 'bonus' with 1 rejected"),
        (changed("rounds.0.drafted.1.status", "discarded"), r"rounds\.0 discards tokens without a rejection or an end"),
        (changed("rounds.2.drafted", []), r"rounds\.2 emits nothing"),
        (changed("autoregressive.seconds_per_token", [0.1]), r"autoregressive\.seconds_per_token and .* differ"),
        (changed("output.token_ids", [5, 5, 7, 5, 6]), r"output\.token_ids is not what the rounds emit"),
        (changed("rounds.0.emitted.id", 9), r"output\.token_ids is not what the rounds emit"),
        (changed("settings.max_new_tokens", 5), r"output\.token_ids holds 6 tokens, with max_new_tokens 5"),
        (changed("output.stopped_by", None), r"output\.stopped_by is missing"),
        (changed("output.stopped_by", "length"), r"output\.stopped_by is 'length' before max_new_tokens"),
        (changed("autoregressive", None, PLAIN), "a run without a drafter has no rounds"),
        (changed("drafter", None), "a run without a drafter has no rounds"),
        (changed("output.token_ids", [5, 7], PLAIN), r"its output is autoregressive\.token_ids"),
        (changed("rounds.0.drafted", [VALID["rounds"][0]["drafted"][0] | {"status": "not taken"}]), "out of order"),
        (of_tree("a-1 a-1 n0 n0 n1 n1", "bonus"), "accepts drafted.1, which does not follow the accepted path"),
        (of_tree("r-1 r-1 r0 n0 n1 n1", "correction"), "rejects drafted.2, which does not follow an accepted token"),
        (of_tree("r-1 n-1 n0 n0 n1 n1", "correction"), "'correction', but not every token at its place is rejected"),
        (of_tree("a-1 n-1 n0 n0 n1 n1", "bonus"), "emits kind 'bonus' at a place where tokens were drafted"),
        (of_tree("r-1 r-1", "bonus"), "emits kind 'bonus' at a place where tokens were drafted"),
        (of_tree("r-1 r-1 n0", "none"), "emits nothing"),
        (of_tree("a-1 n-1 d0 d0 n1 n1", "none"), "discards drafted.2: a node of a tree that was not judged"),
        (of_tree("r-1 a-1 n0 n0 r1 r1", "none"), "rejects drafted.4, which does not follow an accepted token"),
        (of_tree("a-1 n2 n-1 n-1", "none"), "has drafted.1 before its parent 2"),
        (changed("rounds.0.drafted.1.parent", None, TREE_FILE), "has tokens with a parent and tokens without one"),
        (changed("rounds.0.drafted.0.parent", None, TREE_FILE), "has tokens with a parent and tokens without one"),
        (changed("rounds.0.drafted.5.parent", 5, TREE_FILE), "before its parent 5"),
        (changed("rounds.0.drafted.5.id", 4, TREE_FILE), "a sibling has its id"),
        (changed("settings.tree", None, TREE_FILE), "drafts a tree that the setting tree, None, does not allow"),
        (changed("settings.tree", "1,2", TREE_FILE), "drafts a tree that the setting tree, 1,2, does not allow"),
        (changed("rounds.0.drafted.3.parent", 2, TREE_FILE), "drafts 3 tokens, more than draft_length"),
    ],
)  # fmt: skip
def test_a_trace_that_contradicts_itself_is_refused_by_what_and_where(content: str, says: str) -> None:
    sentence = refusal(content)
    assert sentence.startswith("The file contradicts itself: ")
    assert re.search(says, sentence), sentence


def test_upload_and_files_are_bounded(tmp_path: Path) -> None:
    empty = VALID | {"rounds": [], "output": {"token_ids": [], "text": "", "stopped_by": "eos"}}
    assert "output.token_ids holds 0 tokens" in refusal(json.dumps(empty))
    assert "larger than 32 MB" in refusal(b" " * (FILE.megabytes * 10**6 + 1))
    file = tmp_path / "huge.json"
    with file.open("wb") as sparse:
        sparse.truncate(FILE.megabytes * 10**6 + 1)
    assert "larger than 32 MB" in sentence_of(lambda: read_trace(file))
    file.write_text(json.dumps(VALID) + " " * (FILE.megabytes * 10**6 - len(json.dumps(VALID))))
    assert read_trace(file) == parse_trace(json.dumps(VALID))
    long = dump_trace(run_of([replace(ROUNDS[0], index=index) for index in range(2_001)]))
    assert len(parse_trace(long).rounds) == 2_001
    said = sentence_of(lambda: parse_trace(long, UPLOAD))
    assert "The trace has 2,001 rounds; at most 2,000 can be shown here" in said
    assert "larger than 4 MB" in sentence_of(lambda: parse_trace(b" " * 4_000_001, UPLOAD))
    # A model of single bytes has short ids and pieces: a long prompt is then dense without being hostile.
    prompt = {"text": "a" * 4_000, "token_ids": [7] * 4_000, "tokens": ["a"] * 4_000}
    content = json.dumps(VALID | {"prompt": prompt}, separators=(",", ":"))
    assert len(parse_trace(content, UPLOAD).prompt.token_ids) == 4_000


RANGES: dict[str, list[object]] = {
    "schema": [3, 0, "1", None, "x" * 10_000],
    "rounds.0.overhead_seconds": [-1e-9],
    "rounds.0.draft_seconds": [1e300],
    "autoregressive.seconds_per_token.0": [-0.1],
    "rounds.0.drafted.0.target_prob": [1.2],
    "rounds.0.drafted.0.draft_prob": [-0.1],
    "rounds.0.drafted.0.accept_prob": [float("nan")],
    "rounds.0.drafted.0.u": [2],
    "rounds.0.drafted.0.status": ["maybe"],
    "rounds.0.drafted.0.id": [True, -1],
    "rounds.0.drafted.0.text": ["x" * 2_001],
    "rounds.0.drafted.0.candidates": [[[5, "a", 0.5, 0.1]] * 65],
    "rounds.0.drafted.0.candidates.0": [[5, "a", 0.5], [5, "a", 1.5, 0.1]],
    "rounds.1.emitted.residual_top.0": [[5, "a", 7]],
    "rounds.0.emitted.kind": ["gift"],
    "rounds.0.draft_tokens": [[1], ["a"] * 65, None, ["a" * 2_001]],
    "rounds.0.drafted.0.parent": [-2, 64],
    "rounds.0.drafted": [VALID["rounds"][0]["drafted"][:1] * 65],
    "output.stopped_by": ["boredom"],
    "target.parameters": [-1],
    "target.name": ["x" * 301],
    "recorded_on.threads": [-1],
    "settings.draft_length": [17],
    "settings.draft_sampling": ["beam"],
    "settings.verification": ["wild"],
    "settings.tree": ["2,2"],
}


def of_another_kind(value: Any, where: str = "") -> Iterator[tuple[str, object]]:
    """Each part of a JSON value, with one of another kind."""
    if where and value is not None:
        yield where, 7.5 if isinstance(value, str | list | dict) else "0.1"
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from of_another_kind(part, f"{where}.{name}".lstrip("."))


def test_a_wrong_kind_or_range_and_a_missing_field_are_refused_by_where() -> None:
    kinds = [each for each in of_another_kind(VALID) if each[0] != "schema"]
    assert len(kinds) > 100
    for where, value in [*kinds, *((where, value) for where, values in RANGES.items() for value in values)]:
        named = re.fullmatch(r"The trace is not valid at (\S+): .+", sentence := refusal(changed(where, value)))
        assert named, (where, value, sentence)
        assert where.startswith(named[1]) or named[1].startswith(where)
    for field in VALID:
        assert field in refusal(json.dumps({key: value for key, value in VALID.items() if key != field})), "missing"


def test_counts_costs_and_the_verdict_of_trees_speak_of_places_and_depths() -> None:
    """Every node counts once; what is counted by depth: the tables of `test_both.py`."""
    assert metrics.count(TREE_ROUNDS) == metrics.Counts(4, drafted=20, accepted=4, rejected=6, discarded=10, emitted=8)
    assert [round.discarded for round in TREE_ROUNDS] == [2, 3, 4, 1]
    costs, terms = known(metrics.costs(TREE)), known(terms_of(TREE))
    assert costs.cost_ratio == 0.5
    assert costs.verification == {7: 3.0}  # that of the last round was timed once: it lies between, 1 2/3 steps
    assert (metrics.speedup_at(TREE_ROUNDS, costs), terms.speedup) == pytest.approx((8 / (14.5 - 1 / 3),) * 2)
    assert (terms.alpha, terms.draft_length) == (4 / 6, 2)
    assert (terms.tokens, terms.drafted, terms.checking) == (2.0, 1.75, pytest.approx(2.75 - 1 / 12))
    assert terms.read == 6.0  # five guesses a round, and the text's last token
    assert re.findall(r"[\d.]+\d|\d+", known(verdict_of_run(TREE)).reason)[:4] == ["6", "2.67", "67", "2.00"]
