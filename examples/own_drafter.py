"""A drafter of your own: it remembers which token followed which, and drafts the pair it has seen most recently.

Run it from the project's folder:

    python -m examples.own_drafter

A drafter needs two things: `info`, which a trace stores, and `begin`, which starts a run. This one has no state outside
one text, so it is its own proposer. `specviz/decoding/drafters/protocol.py` describes what else a drafter can do.
"""

from collections.abc import Sequence
from itertools import pairwise

from specviz import DecodeSettings, autoregressive_decode, load_model, speculative_decode
from specviz.core.metrics import count
from specviz.core.trace import DrafterInfo
from specviz.decoding import Draft, DraftContext, Drafter, Proposer

PROMPT = "Once upon a time, there was a little dog. The little dog was happy. The little dog"


class BigramDrafter(Drafter, Proposer):
    """Drafts the token that followed the last one most recently, then the token that followed that one."""

    info = DrafterInfo("other", "bigram table")

    def begin(self, context: DraftContext) -> Proposer:
        """Nothing to prepare: the table is made from the text in each round."""
        return self

    def propose(self, token_ids: Sequence[int], count: int) -> Draft:
        """At most `count` tokens. They are not drawn at random, so there are no `draft_scores`."""
        next_token = dict(pairwise(token_ids))  # later pairs replace earlier ones
        guesses: list[int] = []
        last = token_ids[-1]
        while len(guesses) < count and last in next_token:
            last = next_token[last]
            guesses.append(last)
        return Draft(guesses, None)


def main() -> None:
    """Decode once with the drafter and once without, and compare."""
    target, settings = load_model("wren-base"), DecodeSettings(max_new_tokens=40, draft_length=3)
    trace = speculative_decode(target, BigramDrafter(), PROMPT, settings)
    plain = autoregressive_decode(target, PROMPT, settings)
    counts = count(trace.rounds)
    print(PROMPT + trace.output.text)
    print(f"drafted {counts.drafted}, accepted {counts.accepted}, rejected {counts.rejected}")
    if counts.acceptance_rate is not None:
        print(f"acceptance rate {counts.acceptance_rate:.0%}")
    print(f"tokens per target call {counts.tokens_per_target_call:.2f}")
    print("same output as the target alone:", trace.output.token_ids == plain.output.token_ids)


if __name__ == "__main__":
    main()
