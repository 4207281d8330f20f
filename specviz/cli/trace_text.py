"""A trace on the terminal: every round's tokens with their status, the text, the figures and the verdict."""

from typing import TYPE_CHECKING

from specviz.cli.output import number, say, visible
from specviz.core.forward_words import forward_in_words
from specviz.core.metrics import count
from specviz.core.readable import readable
from specviz.core.trace import Round, Trace
from specviz.core.verdict import compare_texts, verdict_of_run, why_no_verdict

if TYPE_CHECKING:
    from rich.text import Text

# Glyph and style: a status is never shown by colour alone.
STYLES = {
    "accepted": ("✓", "blue"),
    "rejected": ("✗", "strike yellow"),
    "discarded": ("⋯", "dim"),
    "correction": ("↻", "bold green"),
    "bonus": ("+", "bold green"),
    "own": ("•", "green"),
}


def print_trace(trace: Trace) -> None:
    """Rounds as coloured tokens, the text, the comparison of both outputs, the figures, the verdict."""
    drafter = f" + {trace.drafter.name}" if trace.drafter else ""
    on = ", ".join(filter(None, (trace.recorded_on.machine, forward_in_words(trace))))
    say(f"{trace.target.name}{drafter}, on {on}")
    say(f"prompt   {visible(trace.prompt.text)}")
    for round in readable(trace).rounds:
        say(round_line(round))
    say(f"\n{trace.prompt.text}{trace.output.text}\n")
    if not trace.rounds:
        return
    counts = count(trace.rounds)
    say(
        f"{counts.emitted} tokens in {counts.rounds} target passes: {counts.drafted} drafted, {counts.accepted} "
        f"accepted, {counts.rejected} rejected, {counts.discarded} discarded; acceptance rate "
        f"{number(counts.acceptance_rate)}, per judgement {number(counts.per_judgement_rate)}"
    )
    say(compare_texts(trace))
    verdict = verdict_of_run(trace)
    if verdict:
        say(f"{verdict.headline} (one run of one text). {verdict.reason}")
    else:
        say(f"No verdict: {why_no_verdict(trace)}.")


def round_line(round: Round) -> "Text":
    """The round's number and its tokens."""
    from rich.text import Text

    chips = [chip(token.status, token.text) for token in round.drafted]
    if round.added != "none":
        chips.append(chip(round.added, round.emitted.text))
    return Text(f"{round.index + 1:5}    ").append_text(Text(" ").join(chips))


def chip(status: str, text: str) -> "Text":
    """One token with its status as glyph and colour."""
    from rich.text import Text

    glyph, style = STYLES[status]
    return Text(f"{glyph}{visible(text)}", style=style)
