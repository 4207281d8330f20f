"""The place of a drawn token: the randomised probability integral transform (Rosenblatt 1952; Brockwell 2007).

All tokens lie side by side on a line from 0 to 1, the most probable first, each as wide as its probability. The place
of a drawn token is a random point of its own piece: u = F(x-) + v p(x), with v uniform. If tokens are drawn from these
probabilities, their places are uniform, whatever the probabilities are. So the places of draws after different
texts can be counted together, and they show errors among tokens that are too rare to be counted one by one.
"""

from torch import Tensor


def place_of(p: Tensor, token_id: int, v: float) -> float:
    """The place of this token, from 0 to 1; 1 for one of probability 0.

    Args:
        p: the exact probabilities that it should be drawn from; (vocabulary,).
        token_id: what was drawn.
        v: a uniform random number.
    """
    own = p[token_id]
    before = p.double()[p > own].sum() + p.double()[:token_id][p[:token_id] == own].sum()
    return min(1.0, float(before) + v * float(own))
