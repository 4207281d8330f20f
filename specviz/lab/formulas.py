"""The exercises without chance, each with its right solution and ten usual mistakes.

Distributions are lists of numbers, one for each token; a token is its place in the list.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random

from specviz.core.theory import expected_tokens
from specviz.lab.exercise import Arguments, FormulaExercise

Row = Sequence[float]


def _distribution(random: Random, size: int) -> list[float]:
    """Random numbers with sum 1; some tokens are impossible."""
    weights = [random.random() if random.random() < 0.8 else 0.0 for _ in range(size)]
    weights[random.randrange(size)] += 0.5
    return _normalise(weights)


# The acceptance rule: min(1, p / q)


def acceptance_chance(p: Row, q: Row, token: int) -> float:
    return min(1.0, p[token] / q[token])


ACCEPTANCE: Mapping[str, Callable[..., object]] = {
    "upside_down": lambda p, q, x: min(1.0, q[x] / p[x]) if p[x] else 1.0,
    "not_limited": lambda p, q, x: p[x] / q[x],
    "only_target": lambda p, q, x: p[x],
    "smaller_of_both": lambda p, q, x: min(p[x], q[x]),
    "all_or_nothing": lambda p, q, x: 1.0 if p[x] >= q[x] else 0.0,
    "most_probable_only": lambda p, q, x: 1.0 if p[x] == max(p) else 0.0,
    "larger_of_both": lambda p, q, x: max(1.0, p[x] / q[x]),
    "difference": lambda p, q, x: 1 - abs(p[x] - q[x]),
    "share_of_both": lambda p, q, x: p[x] / (p[x] + q[x]),
    "draft_only": lambda p, q, x: q[x],
}


def _acceptance_cases() -> list[Arguments]:
    random, cases = Random(1), list[Arguments]()
    while len(cases) < 40:
        p, q = _distribution(random, 5), _distribution(random, 5)
        if drafted := [token for token in range(5) if q[token]]:
            cases.append((p, q, random.choice(drafted)))
    return cases


# The leftover distribution: what p has more than q, with sum 1


def leftover(p: Row, q: Row) -> list[float]:
    rest = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
    return _normalise(rest) if sum(rest) else list(p)


def _normalise(weights: Sequence[float]) -> list[float]:
    return [weight / sum(weights) for weight in weights]


LEFTOVER: Mapping[str, Callable[..., object]] = {
    "not_normalised": lambda p, q: [max(0.0, a - b) for a, b in zip(p, q, strict=True)],
    "target_itself": lambda p, q: list(p),
    "draft_itself": lambda p, q: list(q),
    "upside_down": lambda p, q: _normalise([max(0.0, b - a) for a, b in zip(p, q, strict=True)]),
    "negative_kept": lambda p, q: [a - b for a, b in zip(p, q, strict=True)],
    "absolute": lambda p, q: _normalise([abs(a - b) for a, b in zip(p, q, strict=True)]),
    "overlap": lambda p, q: _normalise([min(a, b) for a, b in zip(p, q, strict=True)]),
    "even": lambda p, q: _normalise([float(a > b) for a, b in zip(p, q, strict=True)]),
    "kept_where_larger": lambda p, q: _normalise([a if a > b else 0.0 for a, b in zip(p, q, strict=True)]),
    "equal_forgotten": lambda p, q: _normalise([max(0.0, a - b) for a, b in zip(p, q, strict=True)]),
}


def _leftover_cases() -> list[Arguments]:
    random = Random(2)
    cases: list[Arguments] = [(_distribution(random, 5), _distribution(random, 5)) for _ in range(40)]
    return [*cases, ([0.25, 0.75], [0.25, 0.75])]  # p = q: nothing is ever rejected, but the function must not fail


# Expected tokens per target call: 1 + α + … + α^γ


EXPECTED: Mapping[str, Callable[..., object]] = {
    "bonus_forgotten": lambda a, n: expected_tokens(a, n) - 1,
    "one_power_short": lambda a, n: sum(a**k for k in range(n)),
    "straight_line": lambda a, n: 1 + a * n,
    "accepted_share": lambda a, n: a * n,
    "endless": lambda a, n: 1 / (1 - a) if a < 1 else n + 1,
    "only_whole_drafts": lambda a, n: 1 + n * a**n,
    "last_power": lambda a, n: a**n,
    "all_of_them": lambda a, n: n + 1,
    "share_of_all": lambda a, n: a * (n + 1),
    "one_not_handled": lambda a, n: (1 - a ** (n + 1)) / (1 - a),
}


EXPECTED_CASES: list[Arguments] = [*product((0.0, 0.3, 0.5, 0.8, 0.95, 1.0), (1, 2, 4, 7))]


# The draft length with the highest speedup E(γ) / (γc + v(γ + 1)); 0 where none is above 1


def best_draft_length(alpha: float, cost: float, check: Sequence[float], longest: int) -> int:
    return _best(lambda n: expected_tokens(alpha, n) / (n * cost + check[n]), longest)


def _best(speed: Callable[[int], float], longest: int, least: float = 1.0) -> int:
    """The shortest length of the highest speed; 0 where no length is faster than `least`."""
    speeds = {length: speed(length) for length in range(1, longest + 1)}
    best = max(speeds, key=speeds.__getitem__, default=0)
    return best if speeds and speeds[best] > least else 0


LENGTHS: Mapping[str, Callable[..., object]] = {
    "checks_free": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n) / (n * c + 1), most),
    "drafts_free": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n) / v[n], most),
    "draft_paid_once": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n) / (c + v[n]), most),
    "never_off": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n) / (n * c + v[n]), most, 0.0),
    "one_row_short": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n) / (n * c + v[n - 1]), most),
    "most_tokens": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n), most),
    "bonus_forgotten": lambda a, c, v, most: _best(lambda n: (expected_tokens(a, n) - 1) / (n * c + v[n]), most),
    "slowest": lambda a, c, v, most: _best(lambda n: (n * c + v[n]) / expected_tokens(a, n), most),
    "longest_left_out": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n) / (n * c + v[n]), most - 1),
    "check_for_each_guess": lambda a, c, v, most: _best(lambda n: expected_tokens(a, n) / (n * (c + v[n])), most),
}


def _length_cases() -> list[Arguments]:
    """`check[k]` is the time of checking k + 1 tokens at once, in plain steps: flat, growing, and steep."""
    shapes = [[1 + slope * k for k in range(9)] for slope in (0.0, 0.05, 0.15, 0.4, 0.9)]
    grid = product((0.2, 0.5, 0.8, 0.97), (0.02, 0.1, 0.4), shapes, (4, 8))
    return [(a, c, v, n) for a, c, v, n in grid if not _is_close(a, c, v, n)]


def _is_close(alpha: float, cost: float, check: Sequence[float], longest: int) -> bool:
    """Whether rounding could decide which length is best."""
    speeds = sorted([1.0, *(expected_tokens(alpha, n) / (n * cost + check[n]) for n in range(1, longest + 1))])
    return speeds[-1] - speeds[-2] < 1e-3


# Prompt lookup: what followed the latest earlier occurrence of the text's end, the longest n-gram first


def prompt_lookup(tokens: Sequence[int], longest: int, draft_length: int) -> list[int]:
    return _looked_up(tokens, _sizes(tokens, longest), draft_length)


def _looked_up(
    tokens: Sequence[int], sizes: Sequence[int], draft_length: int, *, first: bool = False, shift: int = 0
) -> list[int]:
    for n in sizes:
        if places := _earlier(tokens, n):
            start = (places[-1] if first else places[0]) + n + shift
            return list(tokens[start : start + draft_length])
    return []


def _sizes(tokens: Sequence[int], longest: int) -> list[int]:
    return list(range(min(longest, len(tokens) - 1), 0, -1))


def _earlier(tokens: Sequence[int], n: int) -> list[int]:
    """Where the last n tokens stand earlier, the latest place first."""
    ending = list(tokens[-n:])
    return [start for start in range(len(tokens) - n - 1, -1, -1) if list(tokens[start : start + n]) == ending]


LOOKUP: Mapping[str, Callable[..., object]] = {
    "first_place": lambda t, n, g: _looked_up(t, _sizes(t, n), g, first=True),
    "shortest_first": lambda t, n, g: _looked_up(t, _sizes(t, n)[::-1], g),
    "only_longest": lambda t, n, g: _looked_up(t, [n] if n < len(t) else [], g),
    "finds_itself": lambda t, n, g: [],
    "ending_too": lambda t, n, g: [*t[-_found(t, n) :], *prompt_lookup(t, n, g)][:g] if _found(t, n) else [],
    "one_late": lambda t, n, g: _looked_up(t, _sizes(t, n), g, shift=1),
    "one_early": lambda t, n, g: _looked_up(t, _sizes(t, n), g, shift=-1),
    "not_cut": lambda t, n, g: _looked_up(t, _sizes(t, n), len(t)),
    "one_too_many": lambda t, n, g: prompt_lookup(t, n, g + 1),
    "one_too_few": lambda t, n, g: prompt_lookup(t, n, g - 1),
}


def _found(tokens: Sequence[int], longest: int) -> int:
    """The length of the n-gram that is found; 0 for none."""
    return next((n for n in _sizes(tokens, longest) if _earlier(tokens, n)), 0)


def _lookup_cases() -> list[Arguments]:
    random = Random(5)
    texts = [[random.randrange(4) for _ in range(random.randrange(1, 30))] for _ in range(60)]
    return [
        ([1], 3, 4),
        ([1, 2, 3], 3, 4),
        *((text, random.choice((1, 2, 3)), random.choice((2, 4, 6))) for text in texts),
    ]


# A greedy walk through a tree of guesses: the accepted guesses by their place, then the target's own token


def walk_tree(
    tokens: Sequence[int], parents: Sequence[int], best: Sequence[int], most: int = 99, eldest: bool = False
) -> tuple[list[int], int]:
    """`parents` are places of guesses, −1 is the text; `best[i + 1]` is the target's token after guess i.

    A usual mistake takes one guess at `most`, or judges only the first child of each, the `eldest`.
    """
    path, node = list[int](), -1
    while len(path) < most:
        children = [i for i, parent in enumerate(parents) if parent == node][: 1 if eldest else None]
        child = next((i for i in children if tokens[i] == best[node + 1]), None)
        if child is None:
            break
        path.append(child)
        node = child
    return path, best[node + 1]


def _any_node(tokens: Sequence[int], parents: Sequence[int], best: Sequence[int]) -> tuple[list[int], int]:
    """As if the guesses were a chain: parents are not looked at."""
    path = list[int]()
    for node in range(len(tokens)):
        if tokens[node] != best[node]:
            break
        path.append(node)
    return path, best[len(path)]


TREE: Mapping[str, Callable[..., object]] = {
    "first_child_only": lambda t, p, b: walk_tree(t, p, b, eldest=True),
    "chain": _any_node,
    "one_step": lambda t, p, b: walk_tree(t, p, b, most=1),
    "own_forgotten": lambda t, p, b: (walk_tree(t, p, b)[0], None),
    "own_of_text": lambda t, p, b: (walk_tree(t, p, b)[0], b[0]),
    "own_of_parent": lambda t, p, b: (walk_tree(t, p, b)[0], b[max([0, *walk_tree(t, p, b)[0][-1:]])]),
    "tokens_not_places": lambda t, p, b: ([t[i] for i in walk_tree(t, p, b)[0]], walk_tree(t, p, b)[1]),
    "rows_not_places": lambda t, p, b: ([i + 1 for i in walk_tree(t, p, b)[0]], walk_tree(t, p, b)[1]),
    "count_not_path": lambda t, p, b: (len(walk_tree(t, p, b)[0]), walk_tree(t, p, b)[1]),
    "nothing_accepted": lambda t, p, b: ([], b[0]),
}


def _tree_cases() -> list[Arguments]:
    random, cases = Random(6), list[Arguments]()
    for _ in range(60):
        size = random.randrange(1, 9)
        parents = [-1, *(random.randrange(-1, i) for i in range(1, size))]
        tokens = list[int]()
        for i, parent in enumerate(parents):  # siblings differ
            used = {tokens[j] for j in range(i) if parents[j] == parent}
            tokens.append(random.choice([token for token in range(9) if token not in used]))
        best = [random.randrange(9) for _ in range(size + 1)]
        for node in range(size):  # most nodes continue with one of their children
            if random.random() < 0.8:
                best[parents[node] + 1] = tokens[node]
        cases.append((tokens, parents, best))
    return cases


FORMULAS = (
    FormulaExercise("acceptance_chance", acceptance_chance, ACCEPTANCE, _acceptance_cases()),
    FormulaExercise("leftover", leftover, LEFTOVER, _leftover_cases()),
    FormulaExercise("expected_tokens", expected_tokens, EXPECTED, EXPECTED_CASES),
    FormulaExercise("best_draft_length", best_draft_length, LENGTHS, _length_cases()),
    FormulaExercise("prompt_lookup", prompt_lookup, LOOKUP, _lookup_cases()),
    FormulaExercise("walk_tree", walk_tree, TREE, _tree_cases()),
)
