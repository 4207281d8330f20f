"""Both decoders in turns: after each speculative round the target alone writes as many tokens.

Whatever slows the machine for a moment then slows both, so their ratio hardly changes. Each has its own cache.
"""

from collections.abc import Iterator
from itertools import islice

from specviz.core.trace import Round
from specviz.decoding.autoregressive import AutoregressiveRun
from specviz.decoding.speculative import SpeculativeRun


def alternate(speculative: SpeculativeRun, plain: AutoregressiveRun) -> Iterator[Round | tuple[int, float] | None]:
    """Yields each round and each plain step (token id, seconds) as it ends.

    The target alone reads the prompt after the first round, so that this is seen sooner; None between two such passes.
    Two sampled texts may differ in length. At the end the longer one goes on alone.
    """
    steps = plain.steps()
    for round in speculative.rounds():
        yield round
        yield from plain.read_prompt()
        yield from islice(steps, len(round.emitted_ids))
    yield from steps
