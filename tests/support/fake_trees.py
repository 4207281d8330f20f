"""Runs of trees without models: true recursive rejection sampling over made-up distributions. The numbers agree."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from specviz.core.settings import DecodeSettings
from specviz.core.trace import DraftedToken, EmittedToken, Output, ResidualCandidate, Round, Status, Trace
from tests.support.fake_traces import HOSTILE, STORY, World, _argmax, _candidates, _normalised, _words, fake_trace

SCRIPT = _words(STORY)
TOKENS = 32


@dataclass
class Node:
    """A guess, and what comes of it."""

    parent: int
    token: int
    depth: int
    q: list[float]  # what it was chosen from
    status: Status = "not taken"
    chance: float | None = None
    u: float | None = None


def fake_tree_trace(
    shape: str = "2,2", *, greedy: bool = False, sharpness: float = 3.0, hostile: bool = False
) -> Trace:
    """A whole run whose drafts are trees of this shape: children a depth."""
    widths = [int(width) for width in shape.split(",")]
    world = World(HOSTILE if hostile else SCRIPT, sharpness, random.Random(1))
    rounds: list[Round] = []
    written: list[int] = []
    while len(written) < TOKENS:
        room = TOKENS - len(written) - 1
        rounds.append(_round(world, len(rounds), len(written) + 9, widths[:room], greedy=greedy))
        written += rounds[-1].emitted_ids
    chain = fake_trace(tokens=TOKENS, hostile=hostile)
    assert chain.autoregressive
    text = "".join(world.vocabulary[i] for i in written)
    temperature = 0.0 if greedy else 1.0
    return replace(
        chain,
        schema=2,
        settings=DecodeSettings(TOKENS, len(widths), temperature, seed=1, tree=shape),
        rounds=rounds,
        autoregressive=replace(
            chain.autoregressive, token_ids=written, seconds_per_token=chain.autoregressive.seconds_per_token[:TOKENS]
        ),
        output=Output(written, text, "length"),
    )


def _round(world: World, index: int, place: int, widths: Sequence[int], *, greedy: bool) -> Round:
    nodes = _grown(world, place, widths, greedy)
    emitted = _judged(world, place, nodes, greedy)
    drafted = [_drafted(world, place, node) for node in nodes]
    noise = world.rng.uniform(0.9, 1.15)
    verify = 3.8e-3 * (1 + 0.09 * len(nodes)) * noise
    return Round(index, 0.36e-3 * len(widths) * noise, verify, 0.15e-3 * noise, drafted, emitted)


def _grown(world: World, place: int, widths: Sequence[int], greedy: bool) -> list[Node]:
    nodes: list[Node] = []
    level = [-1]
    for depth, width in enumerate(widths):
        _, q = world.distributions(place + depth)
        added: list[int] = []
        for parent in level:
            left = q
            for _ in range(width):
                token = _argmax(left) if greedy else world.rng.choices(range(len(left)), left)[0]
                nodes.append(Node(parent, token, depth, q if greedy else left))
                added.append(len(nodes) - 1)
                left = _normalised([0.0 if i == token else value for i, value in enumerate(left)])
        level = added
    return nodes


def _judged(world: World, place: int, nodes: list[Node], greedy: bool) -> EmittedToken:
    """Go down the tree, and return the target's own token at the end."""
    at, depth = -1, 0
    while True:
        p, q = world.distributions(place + depth)
        children = [i for i, node in enumerate(nodes) if node.parent == at]
        rest, taken = _tried(world, nodes, children, p, greedy)
        if taken is None:
            break
        at, depth = taken, depth + 1
    token = _argmax(p) if greedy else world.rng.choices(range(len(rest)), rest)[0]
    known = q if children else None
    candidates = _candidates(world, p, known, token)
    if not children:
        return EmittedToken("bonus", token, world.vocabulary[token], p[token], candidates)
    top = [token] if greedy else sorted(range(len(rest)), key=lambda i: -rest[i])[:5]
    shares = [ResidualCandidate(i, world.vocabulary[i], 1.0 if greedy else rest[i]) for i in top]
    return EmittedToken("correction", token, world.vocabulary[token], p[token], candidates, shares)


def _tried(
    world: World, nodes: list[Node], children: list[int], p: list[float], greedy: bool
) -> tuple[list[float], int | None]:
    """Each child in turn: what is left of p, and the one that is accepted."""
    rest = p
    for child in children:
        node = nodes[child]
        node.chance = float(_argmax(p) == node.token) if greedy else min(1.0, rest[node.token] / node.q[node.token])
        node.u = None if greedy else world.rng.random()
        if node.chance == 1 if node.u is None else node.u < node.chance:
            node.status = "accepted"
            return rest, child
        node.status = "rejected"
        if not greedy:
            rest = _normalised([max(0.0, a - b) for a, b in zip(rest, node.q, strict=True)])
    return rest, None


def _drafted(world: World, place: int, node: Node) -> DraftedToken:
    p, _ = world.distributions(place + node.depth)
    numbers = (p[node.token], node.q[node.token], node.chance, node.u)
    candidates = _candidates(world, p, node.q, node.token)
    text = world.vocabulary[node.token]
    return DraftedToken(node.token, text, node.status, *numbers, candidates, parent=node.parent)
