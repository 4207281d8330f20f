"""The ways that the comparison with other systems times do the same work: they write the same text."""

from benchmarks.peers import DRAFT, TARGET, Pair, agreement, take_turns, ways_in_python
from specviz import load_model


def test_every_way_writes_the_same_text_in_the_same_rounds():
    target = load_model(TARGET)
    pair = Pair(target, load_model(DRAFT), tokens=8, draft_length=3)
    turns = [
        take_turns(ways_in_python(pair), target.tokenizer(text).input_ids, repeats=1) for text in ("Once", "def f(")
    ]

    assert {found["same_text"] for found in agreement(turns).values()} == {2}
    assert sum(sum(turn["ours speculative"].counts or ()) for turn in turns) > 0
    assert all(answer.seconds > 0 for turn in turns for answer in turn.values())
