"""Record what the draft would guess along the first screen's run: python -m scripts.record_first_guesses

Reads assets/traces/first.json (made by `python -m specviz run`) and writes assets/traces/first.draft-guesses.json. With
this file, visitors can change the draft length before any model is loaded. Run it each time the run is recorded.
"""

import torch

from specviz.core.replay import dump_draft_guesses
from specviz.core.trace import read_trace
from specviz.data.first_run import FIRST, FIRST_GUESSES
from specviz.decoding import make_drafter
from specviz.models.loading import load_model


def main() -> None:
    """One pass of the draft model that made the run."""
    torch.set_num_threads(1)
    trace = read_trace(FIRST)
    assert trace.drafter is not None
    target, draft = load_model(trace.target.name), load_model(trace.drafter.name)
    assert target.info == trace.target, "the recorded run was made with other weights: record it again first"
    drafter = make_drafter(target, draft, trace.settings)
    draft_guesses = drafter.guess_along(target, trace.prompt.token_ids, trace.output.token_ids)
    assert draft_guesses is not None
    FIRST_GUESSES.write_text(dump_draft_guesses(draft_guesses) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
