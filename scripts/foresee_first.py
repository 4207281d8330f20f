"""Keep, beside the recorded run of the first screen, what its draft would have guessed: python -m scripts.foresee_first

Reads assets/traces/first.json (made by `python -m specviz run`) and writes assets/traces/first.foresight.json, so that
the draft length can be dragged before any model has loaded. To be run again whenever the recorded run is made anew.
"""

import torch

from specviz.counterfactual import dump_foresight
from specviz.decoding import make_drafter
from specviz.decoding.foresight import foresee
from specviz.models.loading import load_model
from specviz.trace import read_trace
from specviz.views.recorded import FIRST, FIRST_FORESIGHT


def main() -> None:
    """One pass of the run's own draft."""
    torch.set_num_threads(1)
    trace = read_trace(FIRST)
    assert trace.drafter is not None
    target, draft = load_model(trace.target.name), load_model(trace.drafter.name)
    assert target.info == trace.target, "the recorded run was made with other weights: record it anew first"
    drafter = make_drafter(target, draft, trace.settings)
    foresight = foresee(target, drafter, trace.prompt.token_ids, trace.output.token_ids)
    assert foresight is not None
    FIRST_FORESIGHT.write_text(dump_foresight(foresight) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
