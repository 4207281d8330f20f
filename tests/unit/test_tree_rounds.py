"""A draft that is a tree: what is computed, what a file may hold, and how it is said."""

import json
import re

import pytest

from specviz.cli.output import round_lines
from specviz.core import metrics
from specviz.core.settings import DecodeSettings
from specviz.core.terms import terms_of
from specviz.core.trace import Autoregressive, DraftedToken, EmittedToken, Round, Trace, dump_trace, parse_trace
from specviz.core.verdict import verdict_of_run
from tests.support.both import FATES
from tests.support.fake_traces import run_of
from tests.support.known import known
from tests.support.plain_json import with_value
from tests.support.strategies import refusal


def tree_round(nodes: str, kind: str, index: int = 0, draft: float = 0.0, verify: float = 1.0) -> Round:
    """`nodes` like "r-1 a-1 n0": a fate and a parent each. Token ids count up from 20 times the index."""
    drafted = [
        DraftedToken(20 * index + place, f"t{place}", FATES[node[0]], parent=int(node[1:]))
        for place, node in enumerate(nodes.split())
    ]
    emitted = EmittedToken("none") if kind == "none" else EmittedToken(kind, 20 * index + 19, "own")  # type: ignore[arg-type]
    return Round(index, draft, verify, 0.0, drafted, emitted)


def tree_trace(rounds: list[Round]) -> Trace:
    """The run that these rounds make, greedy; the target alone takes a second a token."""
    written = [token_id for round in rounds for token_id in round.emitted_ids]
    settings = DecodeSettings(max_new_tokens=max(1, len(written)), draft_length=2, tree="2,2")
    return run_of(rounds, Autoregressive([1.0] * len(written), written), settings=settings)


#            place 1        place 2 after node 1
CORRECTED = "r-1 a-1 n0 n0 r1 r1"
WHOLE = "a-1 n-1 r0 a0 n1 n1"
FAILED = "r-1 r-1 n0 n0 n1 n1"
ROUNDS = [
    tree_round(CORRECTED, "correction", 0, draft=1.0, verify=3.0),  # 2 tokens in 4 s
    tree_round(WHOLE, "bonus", 1, draft=1.0, verify=3.0),  # 3 tokens in 4 s
    tree_round(FAILED, "correction", 2, draft=1.0, verify=3.0),  # 1 token in 4 s
    tree_round("a-1 n-1", "bonus", 3, draft=0.5, verify=2.0),  # 2 tokens in 2.5 s: no room for two depths
]
TRACE = tree_trace(ROUNDS)


def test_a_file_of_trees_reads_back_and_one_of_chains_does_not_name_parents() -> None:
    assert parse_trace(dump_trace(TRACE)) == TRACE
    chain = Round(0, 0.0, 1.0, 0.0, [DraftedToken(1, "a", "accepted")], EmittedToken("bonus", 2, "b"))
    assert "parent" not in json.loads(dump_trace(tree_trace([chain])))["rounds"][0]["drafted"][0]
    assert json.loads(dump_trace(TRACE))["rounds"][0]["drafted"][4]["parent"] == 1
    trace = tree_trace([tree_round("r-1 a-1 n0 n0 n1 n1", "none")])
    assert parse_trace(dump_trace(trace)) == trace
    drafted = [DraftedToken(1, "a", "rejected"), DraftedToken(2, "b", "not taken")]
    chain = Round(0, 0.0, 1.0, 0.0, drafted, EmittedToken("correction", 2, "b"))
    assert "statuses out of order" in refusal(lambda: parse_trace(dump_trace(tree_trace([chain]))))


def wrong(where: str, value: object) -> str:
    return json.dumps(with_value(json.loads(dump_trace(TRACE)), where, value))


WRONG = [
    ("a-1 a-1 n0 n0 n1 n1", "bonus", "accepts drafted.1, which does not follow the accepted path"),
    ("r-1 r-1 r0 n0 n1 n1", "correction", "rejects drafted.2, which does not follow an accepted token"),
    ("r-1 n-1 n0 n0 n1 n1", "correction", "'correction', but not every token at its place is rejected"),
    ("a-1 n-1 n0 n0 n1 n1", "bonus", "emits kind 'bonus' at a place where tokens were drafted"),
    ("a-1 n-1 r0 r0 n1 n1", "bonus", "emits kind 'bonus' at a place where tokens were drafted"),
    ("a-1 n-1 d0 d0 n1 n1", "none", "discards drafted.2: a node of a tree that was not judged"),
    ("r-1 a-1 n0 n0 r1 r1", "none", "rejects drafted.4, which does not follow an accepted token"),
    ("a-1 n2 n-1 n-1", "none", "has drafted.1 before its parent 2"),
    ("r-1 r-1", "bonus", "emits kind 'bonus' at a place where tokens were drafted"),
    ("r-1 r-1 n0", "none", "emits nothing"),
    ("rounds.0.drafted.1.parent", None, "has tokens with a parent and tokens without one"),
    ("rounds.0.drafted.0.parent", None, "has tokens with a parent and tokens without one"),
    ("rounds.0.drafted.5.parent", 5, "before its parent 5"),
    ("rounds.0.drafted.5.parent", -2, "greater than or equal to -1"),
    ("rounds.0.drafted.5.parent", 64, "less than 64"),
    ("rounds.0.drafted.5.id", 4, "a sibling has its id"),
    ("settings.tree", None, "drafts a tree that the setting tree, None, does not allow"),
    ("settings.tree", "1,2", "drafts a tree that the setting tree, 1,2, does not allow"),
    ("rounds.0.drafted.3.parent", 2, "drafts 3 tokens, more than draft_length"),
]


@pytest.mark.parametrize(("what", "how", "says"), WRONG)
def test_a_tree_that_contradicts_itself_is_named(what: str, how: object, says: str) -> None:
    content = wrong(what, how) if "." in what else dump_trace(tree_trace([tree_round(what, str(how))]))
    assert says in refusal(lambda: parse_trace(content))


def test_every_node_and_every_place_counts_once() -> None:
    counts = metrics.count(ROUNDS)
    assert (counts.drafted, counts.accepted, counts.rejected, counts.discarded) == (20, 4, 6, 10)
    assert counts.emitted == 8
    assert [round.discarded for round in ROUNDS] == [2, 3, 4, 1]
    assert ROUNDS[1].emitted_ids == [20, 23, 39]
    places = [(each.position, each.judged, each.accepted) for each in metrics.count_by_position(ROUNDS, 3)]
    assert places == [(1, 4, 3), (2, 2, 1), (3, 0, 0)]
    assert metrics.per_place_rate(ROUNDS) == 4 / 6
    assert metrics.per_place_rate([]) is None


def test_the_costs_and_the_verdict_speak_of_places_and_depths() -> None:
    costs = known(metrics.costs(TRACE))
    assert costs.cost_ratio == 0.5
    assert costs.verification == {7: 3.0}  # that of the last round was timed once: it lies between, 1 2/3 steps
    assert metrics.speedup_at(ROUNDS, costs) == pytest.approx(8 / (14.5 - 1 / 3))
    terms = known(terms_of(TRACE))
    assert terms.alpha == 4 / 6
    assert terms.draft_length == 2
    assert (terms.tokens, terms.drafted, terms.checking) == (2.0, 1.75, pytest.approx(2.75 - 1 / 12))
    assert terms.read == 6.0  # five guesses a round, and the text's last token
    assert terms.speedup == pytest.approx(8 / (14.5 - 1 / 3))
    assert re.findall(r"[\d.]+\d|\d+", known(verdict_of_run(TRACE)).reason)[:4] == ["6", "2.67", "67", "2.00"]


def test_the_command_line_draws_the_judged_guesses_and_their_siblings() -> None:
    assert [line.plain.strip() for line in round_lines(ROUNDS[1])] == [
        "2    ✓t0 ✓t3 +own",
        "├ ✓t0",
        "│ ├ ✗t2",
        "│ └ ✓t3",
        "└ ⋯t1",
        "and 2 more, not taken",
    ]
