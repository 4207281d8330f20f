"""Read a saved trace: print its rounds, then its tokens as a pandas data frame.

Run it from the project's folder, with the path of a trace or without one for the recorded run of the first screen:

    python -m examples.read_trace [TRACE.json]

`python -m specviz run ... --json TRACE.json` writes a trace, and so does the download button of the Watch page.
"""

import sys

from specviz import InputError, read_trace
from specviz.core.trace import Trace
from specviz.data.measured.first_run import FIRST


def print_rounds(trace: Trace) -> None:
    """One line a round: what was drafted, how much of it was accepted, and the target's own token."""
    for round in trace.rounds:
        drafted = " ".join(f"{token.text!r}:{token.status}" for token in round.drafted) or "nothing"
        print(f"round {round.index}: drafted {drafted}; then {round.emitted.kind} {round.emitted.text!r}")


def main(path: str) -> None:
    """Print one trace."""
    trace = read_trace(path)
    print(f"{trace.target.name} with {trace.drafter.name if trace.drafter else 'no draft'}: {trace.output.text!r}")
    print_rounds(trace)
    frame = trace.to_frame()
    print(frame.to_string(max_rows=12))
    print(frame["status"].value_counts().to_string())


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else str(FIRST))
    except InputError as error:
        sys.exit(str(error))
