"""Characters that are cut over several tokens: what people read shows characters, the file has the bytes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from specviz.cli.output import round_lines
from specviz.core.readable import merged, readable, spelled
from specviz.core.rounds import Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round
from specviz.core.trace import Prompt, Trace
from specviz.measure.worksheet.exercises import exercises
from specviz.player.data import tokens_of
from tests.support.fake_traces import fake_trace, run_of

C3, B6, A4, N = 1, 2, 3, 4
TEXTS = {C3: "⟨C3⟩", B6: "⟨B6⟩", A4: "⟨A4⟩", N: "nig"}
TOPS = [Candidate(B6, TEXTS[B6], 0.7, 0.2), Candidate(A4, TEXTS[A4], 0.2, 0.7), Candidate(N, TEXTS[N], 0.1, 0.1)]
RESIDUAL = [ResidualCandidate(B6, TEXTS[B6], 0.9), ResidualCandidate(N, TEXTS[N], 0.1)]


def trace_of(*rounds: tuple[list[tuple[int, Any]], tuple[Any, int]]) -> Trace:
    """A run after “Die K”, of these rounds: drafted tokens with their status, and the target's own token."""
    made = []
    for index, (tokens, (kind, own)) in enumerate(rounds):
        drafted = [DraftedToken(id, TEXTS[id], status, 0.2, 0.7, 0.5, candidates=TOPS) for id, status in tokens]
        emitted = EmittedToken(kind, own, TEXTS[own], 0.7, [], RESIDUAL)
        made.append(Round(index, 0.001, 0.004, 0.0, drafted, emitted))
    return run_of(made, prompt=Prompt("Die K", [8, 9], ["Die", " K"]))


def shown(trace: Trace, round: int = 0) -> list[str]:
    return [token["text"] for token in tokens_of(readable(trace).rounds[round])]


def test_a_run_without_parts_of_characters_stays_as_it_is() -> None:
    trace = fake_trace(tokens=30)
    assert readable(trace) is trace


def test_the_command_line_and_the_exercises_show_characters_too() -> None:
    trace = trace_of(([(C3, "accepted"), (A4, "rejected")], ("correction", B6)))
    assert round_lines(readable(trace).rounds[0])[0].plain.split() == ["1", "✓ö(1/2)", "✗ä(2/2)", "↻ö(2/2)"]
    assert "‘ö(1/2)’ ‘ä(2/2)’" in exercises(trace)[0].question


def _cut(text: str, size: int) -> list[str]:
    """The text's bytes in tokens of so many bytes, each as a tokenizer's display shows it."""
    raw = text.encode()
    tokens = [raw[at : at + size] for at in range(0, len(raw), size)]
    return ["".join(f"⟨{byte:02X}⟩" if byte > 127 else chr(byte) for byte in token) for token in tokens]


@given(st.text().filter(lambda text: "⟨" not in text), st.integers(1, 5))
def test_every_text_reads_as_itself_however_it_is_cut(text: str, size: int) -> None:
    cut = _cut(text, size)
    assert "".join(merged(cut)) == text
    assert len(spelled(cut)) == len(cut)
    assert "⟨" not in "".join(spelled(cut))
