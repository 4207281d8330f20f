"""Characters that are cut over several tokens: what people read shows characters, the file has the bytes."""

from hypothesis import given
from hypothesis import strategies as st

from specviz.cli.output import round_lines
from specviz.core.readable import readable, spelled, whole_text
from specviz.core.rounds import Candidate, DraftedToken, EmittedToken, ResidualCandidate, Round, Status
from specviz.core.trace import Prompt
from specviz.measure.worksheet.exercises import exercises
from tests.support.fake_traces import fake_trace, run_of

C3, B6, A4, N = 1, 2, 3, 4
TEXTS = {C3: "⟨C3⟩", B6: "⟨B6⟩", A4: "⟨A4⟩", N: "nig"}
TOPS = [Candidate(B6, TEXTS[B6], 0.7, 0.2), Candidate(A4, TEXTS[A4], 0.2, 0.7), Candidate(N, TEXTS[N], 0.1, 0.1)]
RESIDUAL = [ResidualCandidate(B6, TEXTS[B6], 0.9), ResidualCandidate(N, TEXTS[N], 0.1)]


def test_the_command_line_and_the_exercises_show_characters_too() -> None:
    """A run after “Die K”."""
    statuses: list[tuple[int, Status]] = [(C3, "accepted"), (A4, "rejected")]
    drafted = [DraftedToken(id, TEXTS[id], status, 0.2, 0.7, 0.5, candidates=TOPS) for id, status in statuses]
    own = EmittedToken("correction", B6, TEXTS[B6], 0.7, [], RESIDUAL)
    trace = run_of([Round(0, 0.001, 0.004, 0.0, drafted, own)], prompt=Prompt("Die K", [8, 9], ["Die", " K"]))
    assert round_lines(readable(trace).rounds[0])[0].plain.split() == ["1", "✓ö(1/2)", "✗ä(2/2)", "↻ö(2/2)"]
    assert "‘ö(1/2)’ ‘ä(2/2)’" in exercises(trace)[0].question
    whole = fake_trace(tokens=30)
    assert readable(whole) is whole, "a run without parts of characters stays as it is"


@given(st.text().filter(lambda text: "⟨" not in text), st.integers(1, 5))
def test_every_text_reads_as_itself_however_it_is_cut(text: str, size: int) -> None:
    raw = text.encode()
    tokens = [raw[at : at + size] for at in range(0, len(raw), size)]  # each as a tokenizer's display shows it
    cut = ["".join(f"⟨{byte:02X}⟩" if byte > 127 else chr(byte) for byte in token) for token in tokens]
    assert whole_text(cut) == text
    assert len(spelled(cut)) == len(cut)
    assert "⟨" not in "".join(spelled(cut))
