"""Solutions of the exercises as a student writes them: right ones, and wrong ones by the kind of mistake."""

PICK = """
def pick(row, uniform):
    left = uniform() * sum(row)
    for token, weight in enumerate(row):
        left -= weight
        if left < 0:
            return token
    return max(range(len(row)), key=row.__getitem__)


def leftover(p, q):
    rest = [max(a - b, 0) for a, b in zip(p, q)]
    total = sum(rest)
    return [r / total for r in rest] if total > 0 else p
"""

VERIFY = """
def judge(drafted, q, p, uniform):
    for i, token in enumerate(drafted):
        if uniform() >= min(1.0, p[i][token] / q[i][token]):
            return i, pick(leftover(p[i], q[i]), uniform)
    return len(drafted), pick(p[len(drafted)], uniform)
"""

LOOP_START = """
def speculative_decode(target, draft, prompt, draft_length, new_tokens):
    out = []
    target.read(prompt[:-1])
    draft.read(prompt[:-1])
    while len(out) < new_tokens:
        text = prompt + out
        guesses = [draft.read(text[draft.length:])[-1]]
        while len(guesses) < draft_length:
            guesses.append(draft.read(guesses[-1:])[-1])
        rows = target.read(text[-1:] + guesses)
        kept = 0
        while kept < draft_length and guesses[kept] == rows[kept]:
            kept += 1
        own = rows[kept]
        out += guesses[:kept] + [own]
        size = len(prompt) + len(out) - 1
        target.cut(size)
        draft.cut(min(draft.length, size))
    return out[:new_tokens]
"""

FORMULAS = """
def acceptance_chance(p, q, token):
    return min(1.0, p[token] / q[token])


def expected_tokens(alpha, draft_length):
    return sum(alpha ** power for power in range(draft_length + 1))


def best_draft_length(alpha, cost, check, longest):
    def speed(length):
        return expected_tokens(alpha, length) / (cost * length + check[length]) if length else 1
    return max(range(longest + 1), key=speed)


def prompt_lookup(tokens, longest, draft_length):
    for n in range(longest, 0, -1):
        for start in reversed(range(len(tokens) - n)):
            if tokens[start : start + n] == tokens[-n:]:
                return tokens[start + n :][:draft_length]
    return []


def walk_tree(tokens, parents, best):
    path, here = [], -1
    while True:
        children = [i for i in range(len(tokens)) if parents[i] == here and tokens[i] == best[here + 1]]
        if not children:
            return path, best[here + 1]
        here = children[0]
        path.append(here)
"""

RIGHT = PICK + VERIFY + LOOP_START + FORMULAS


def _verify(old: str, new: str) -> str:
    assert VERIFY.count(old) == 1
    return PICK + VERIFY.replace(old, new)


_CHANCE, _INSTEAD = "min(1.0, p[i][token] / q[i][token])", "pick(leftover(p[i], q[i]), uniform)"
_BONUS = "pick(p[len(drafted)], uniform)"
VERIFIES = {
    "replaced_from_target": _verify(_INSTEAD, "pick(p[i], uniform)"),
    "always_accepted": _verify(_CHANCE, "1.0"),
    "bonus_forgotten": _verify(_BONUS, "None"),
    "bonus_of_last_row": _verify(_BONUS, "pick(p[len(drafted) - 1], uniform)"),
    "replaced_from_next_row": _verify(_INSTEAD, "pick(leftover(p[i + 1], q[i]), uniform)"),
    "most_probable_instead": _verify(_INSTEAD, "max(range(4), key=leftover(p[i], q[i]).__getitem__)"),
    "most_probable_bonus": _verify(_BONUS, "max(range(4), key=p[-1].__getitem__)"),
    "one_number": PICK + VERIFY.replace(":\n", ":\n    u = uniform()\n", 1).replace("if uniform()", "if u"),
    "goes_on": PICK
    + """
def judge(drafted, q, p, uniform):
    accepted, token = 0, None
    for i, x in enumerate(drafted):
        if uniform() < p[i][x] / q[i][x]:
            accepted += 1
        else:
            token = pick(leftover(p[i], q[i]), uniform)
    return accepted, pick(p[-1], uniform) if token is None else token
""",
    "upside_down": _verify(_CHANCE, "q[i][token] / p[i][token]"),
    "accepted_when_equal": _verify(f"uniform() >= {_CHANCE}", "pick(p[i], uniform) != token"),
    "all_or_nothing": _verify(f"uniform() >= {_CHANCE}", "p[i][token] < q[i][token]"),
    "replaced_from_draft": _verify(_INSTEAD, "pick(q[i], uniform)"),
}

# Of the loop: what is replaced in the right one, and by what.
_DRAFTED, _RETURNED = "guesses = [draft.read(text[draft.length:])[-1]]", "return out[:new_tokens]"
_READ, _WRITTEN = "rows = target.read(text[-1:] + guesses)", "out += guesses[:kept] + [own]"
LOOPS = {
    "never_ends": (_WRITTEN, "out += guesses[:kept]"),
    "prompt_returned": (_RETURNED, "return prompt + out[:new_tokens]"),
    "too_long": (_RETURNED, "return out"),
    "too_short": (_RETURNED, "return out[: new_tokens - 1]"),
    "target_not_cut": ("target.cut(size)", "pass"),
    "wrong_guess_kept": ("own = rows[kept]", "own = guesses[kept] if kept < draft_length else rows[kept]"),
    "row_early": ("own = rows[kept]", "own = rows[kept - 1] if kept else rows[0]"),
    "target_reads_again": (_READ, "target.cut(0); rows = target.read(text + guesses)[len(text) - 1 :]"),
    "draft_reads_again": (_DRAFTED, "draft.cut(0); guesses = [draft.read(text)[-1]]"),
    "one_pass_each": (_READ, "rows = [target.read([token])[-1] for token in text[-1:] + guesses]"),
    "draft_not_cut": ("draft.cut(min(draft.length, size))", "pass"),
    "draft_misses_token": (_DRAFTED, "guesses = [draft.read(text[-1:])[-1]]"),
    "bonus_forgotten": (_WRITTEN, "out += guesses[:kept] + ([own] if kept < draft_length else [])"),
}

# Right in another way: the prompt is read whole, in two parts, and the last guess too.
OTHER_LOOP = """
def speculative_decode(target, draft, prompt, draft_length, new_tokens):
    target.read(prompt[:1])
    out = [target.read(prompt[1:])[-1]]
    draft.read(prompt)
    while len(out) < new_tokens:
        guesses = [draft.read((prompt + out)[draft.length :])[-1]]
        for _ in range(draft_length - 1):
            guesses.append(draft.read([guesses[-1]])[-1])
        draft.read([guesses[-1]])
        rows = target.read([out[-1]] + guesses)
        for guess, own in zip(guesses + [None], rows):
            out.append(own)
            if guess != own:
                break
        target.cut(len(prompt) + len(out) - 1)
        draft.cut(min(draft.length, len(prompt) + len(out) - 1))
    return out[:new_tokens]
"""
