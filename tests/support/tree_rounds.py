"""Rounds whose drafts are trees, from a few letters, and a run of them."""

from collections.abc import Sequence

from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, DraftedToken, EmittedToken, Round, Status, Trace
from tests.support.fake_traces import run_of

FATES: dict[str, Status] = {"a": "accepted", "r": "rejected", "n": "not taken", "d": "discarded"}


def tree_round(nodes: str, kind: str, index: int = 0, draft: float = 0.0, verify: float = 1.0) -> Round:
    """`nodes` like "r-1 a-1 n0": a fate and a parent each. Token ids count up from 20 times the index.

    `kind` is "correction", "bonus" or "none".
    """
    drafted = [
        DraftedToken(20 * index + place, f"t{place}", FATES[node[0]], parent=int(node[1:]))
        for place, node in enumerate(nodes.split())
    ]
    emitted = EmittedToken("none") if kind == "none" else EmittedToken(kind, 20 * index + 19, "own")  # type: ignore[arg-type]
    return Round(index, draft, verify, 0.0, drafted, emitted)


def tree_trace(rounds: Sequence[Round], tree: str = "2,2", draft_length: int = 2) -> Trace:
    """The run that these rounds make, greedy; the target alone takes a second a token."""
    written = [token_id for round in rounds for token_id in round.emitted_ids]
    settings = DecodeSettings(max_new_tokens=max(1, len(written)), draft_length=draft_length, tree=tree)
    return run_of(rounds, Autoregressive([1.0] * len(written), written), settings=settings)
