"""Write speculative decoding yourself. Check this file with: specviz lab check exercises.py

A distribution is a list of probabilities, one for each token; a token is its place in that list. p is the target's
distribution, q the draft's. Only Python is needed. `specviz lab hint NAME` gives a hint.
"""


def acceptance_chance(p, q, token):
    """With which probability is a drafted token accepted?

    p, q: the distributions at this place. token: drawn from q, so q[token] is above 0.
    """
    raise NotImplementedError


def leftover(p, q):
    """From which distribution is the token drawn that replaces a rejected one? Where p and q are equal, give p."""
    raise NotImplementedError


def judge(drafted, q, p, uniform):
    """Judge one draft. Give two things: how many guesses are accepted, and the target's own token after them.

    drafted: the tokens. q: a row for each of them. p: a row for each of them, and one more for the token after all.
    uniform: call it for a random number from 0 to 1. To draw from a row, `pick` below may help.
    """
    raise NotImplementedError


def pick(row, uniform):
    """A token that is drawn from a distribution."""
    left = uniform() * sum(row)
    for token, weight in enumerate(row):
        left -= weight
        if left < 0:
            return token
    return max(range(len(row)), key=row.__getitem__)


def speculative_decode(target, draft, prompt, draft_length, new_tokens):
    """Greedy speculative decoding. Give the list of the new tokens, which must be those of the target alone.

    A model has read(tokens): adds them to its cache, and gives its most probable next token after each of them;
    length: how many tokens are in its cache; cut(length): forgets those after the first so many.
    """
    raise NotImplementedError


def expected_tokens(alpha, draft_length):
    """How many tokens does a round write on average, if each judged guess is accepted with probability alpha?"""
    raise NotImplementedError


def best_draft_length(alpha, cost, check, longest):
    """Which draft length from 1 to longest is fastest? Give 0 where none is faster than plain decoding.

    Times are in plain steps of the target. cost: of one draft step. check[k]: of a pass over k + 1 tokens.
    """
    raise NotImplementedError


def prompt_lookup(tokens, longest, draft_length):
    """Guess by copying: find the last n tokens earlier in the text, and give what followed them there.

    Try n = longest first, then shorter ones down to 1; of several places take the latest. Give at most draft_length
    tokens, and [] where nothing is found.
    """
    raise NotImplementedError


def walk_tree(tokens, parents, best):
    """Accept a path of a tree of guesses, greedily. Give two things: the places of its guesses, and the own token.

    tokens[i] is guess i, parents[i] the place of the guess before it, -1 for the text. best[0] is the target's token
    after the text, best[i + 1] its token after guess i.
    """
    raise NotImplementedError
