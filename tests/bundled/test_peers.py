"""The ways that the comparison with other systems times do the same work: they write the same text."""

import pytest

from benchmarks.peers import DRAFT, TARGET, Pair, agreement, same_rounds, take_turns, ways_in_python
from specviz import load_model
from tests.support.endpoint_records import Answered, asked_of


def test_every_way_writes_the_same_text_in_the_same_rounds():
    target = load_model(TARGET)
    pair = Pair(target, load_model(DRAFT), tokens=8, draft_length=3)
    turns = [
        take_turns(ways_in_python(pair), target.tokenizer(text).input_ids, repeats=1) for text in ("Once", "def f(")
    ]

    assert {found["same_text"] for found in agreement(turns).values()} == {2}
    assert sum(sum(turn["ours speculative"].counts or ()) for turn in turns) > 0
    assert all(answer.seconds > 0 for turn in turns for answer in turn.values())


STORED = [
    answer for name, batches in asked_of().items() if "draft" in name for batch in batches for answer in batch.good
]
GREEDY = [each for each in STORED if each.file.endswith(("greedy.sse", "cut.sse", "1.sse", "2.sse", "3.sse"))]


@pytest.mark.parametrize("answer", GREEDY, ids=lambda answer: answer.file)
def test_our_rounds_are_those_that_servers_stored(answer: Answered) -> None:
    body = answer.question["body"]
    pair = Pair(load_model(TARGET), load_model(DRAFT), tokens=body["max_tokens"], draft_length=4)
    ids, _, ours = pair.rounds(body["prompt"])
    assert pair.target.tokenizer.decode(ids) == answer.text
    assert sum(drafted == 4 for drafted, _ in ours) >= 2
    assert same_rounds(answer.rounds, ours, draft_length=4)
    if answer.system == "llama.cpp":  # its last drafts are as short as ours
        assert answer.rounds == [each for each in ours if each[0]]
