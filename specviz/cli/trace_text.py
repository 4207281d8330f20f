"""A trace on the terminal: every round's tokens with their status, the text, the figures and the verdict."""

from specviz.cli.output import number, say, visible
from specviz.cli.round_text import round_lines
from specviz.core.forward_words import forward_in_words
from specviz.core.metrics import count
from specviz.core.readable import readable
from specviz.core.trace import Trace
from specviz.core.verdict import compare_texts, verdict_of_run, why_no_verdict


def print_trace(trace: Trace) -> None:
    """Rounds as coloured tokens, the text, the comparison of both outputs, the figures, the verdict."""
    drafter = f" + {trace.drafter.name}" if trace.drafter else ""
    say(f"{trace.target.name}{drafter}, {_origin(trace)}")
    for note in trace.imported.notes if trace.imported else []:
        say(f"note     {note}")
    say(f"prompt   {visible(trace.prompt.text)}")
    for round in readable(trace).rounds:
        for line in round_lines(round):
            say(line)
    say(f"\n{trace.prompt.text}{trace.output.text}\n")
    if not trace.rounds:
        return
    counts = count(trace.rounds)
    unjudged = "not taken" if trace.settings.tree else "discarded"
    say(
        f"{counts.emitted} tokens in {counts.rounds} target passes: {counts.drafted} drafted, {counts.accepted} "
        f"accepted, {counts.rejected} rejected, {counts.discarded} {unjudged}; acceptance rate "
        f"{number(counts.acceptance_rate)}, per judgement {number(counts.per_judgement_rate)}"
    )
    say(compare_texts(trace))
    verdict = verdict_of_run(trace)
    if verdict:
        say(f"{verdict.headline} (one run of one text). {verdict.reason}")
    else:
        say(f"No verdict: {why_no_verdict(trace)}.")


def _origin(trace: Trace) -> str:
    if trace.imported:
        return f"imported from {trace.imported.system}"
    return "on " + ", ".join(filter(None, (trace.recorded_on.machine, forward_in_words(trace))))
