"""A recorded run as the target alone made it: one pass for each token, nothing drafted."""

from dataclasses import replace

from specviz.core.rounds import EmittedToken, Round
from specviz.core.trace import Trace


def target_alone(trace: Trace) -> Trace:
    """The plain run that was recorded beside this one, as a run of its own; ValueError where it wrote other tokens."""
    plain = trace.autoregressive
    if plain is None or plain.token_ids != trace.output.token_ids:
        raise ValueError("the run was not recorded beside one of the target alone with the same tokens")
    texts = [text for round in trace.rounds for text in _written(round)]
    passes = zip(plain.token_ids, texts, plain.seconds_per_token, strict=True)
    rounds = [
        Round(index, 0.0, seconds, 0.0, [], EmittedToken("bonus", token_id, text))
        for index, (token_id, text, seconds) in enumerate(passes)
    ]
    return replace(trace, drafter=None, rounds=rounds)


def _written(round: Round) -> list[str]:
    own = [] if round.emitted.kind == "none" else [round.emitted.text]
    return [*(token.shown for token in round.accepted_tokens), *own]
