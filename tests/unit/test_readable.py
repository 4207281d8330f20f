"""Characters that are cut over several tokens: what people read shows characters, the file has the bytes."""

from hypothesis import given
from hypothesis import strategies as st

from specviz.core.readable import readable, spelled, whole_text
from specviz.core.rounds import DraftedToken, EmittedToken, Round
from specviz.core.trace import Prompt
from specviz.measure.worksheet.exercises import exercises
from tests.support.fake_traces import fake_trace, run_of


def test_the_exercises_show_characters_and_a_run_without_parts_of_them_stays_as_it_is() -> None:
    """A run after “Die K”."""
    drafted = [DraftedToken(1, "⟨C3⟩", "accepted", 0.2, 0.7, 0.5), DraftedToken(3, "⟨A4⟩", "rejected", 0.2, 0.7, 0.5)]
    own = EmittedToken("correction", 2, "⟨B6⟩", 0.7)
    trace = run_of([Round(0, 0.001, 0.004, 0.0, drafted, own)], prompt=Prompt("Die K", [8, 9], ["Die", " K"]))
    assert "‘ö(1/2)’ ‘ä(2/2)’" in exercises(trace)[0].question
    whole = fake_trace(tokens=30)
    assert readable(whole) is whole


@given(st.text().filter(lambda text: "⟨" not in text), st.integers(1, 5))
def test_every_text_reads_as_itself_however_it_is_cut(text: str, size: int) -> None:
    raw = text.encode()
    tokens = [raw[at : at + size] for at in range(0, len(raw), size)]  # each as a tokenizer's display shows it
    cut = ["".join(f"⟨{byte:02X}⟩" if byte > 127 else chr(byte) for byte in token) for token in tokens]
    assert whole_text(cut) == text
    assert len(spelled(cut)) == len(cut)
    assert "⟨" not in "".join(spelled(cut))
