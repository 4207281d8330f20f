"""The quiz answers that a browser tab holds: only answers to questions of this page are taken."""

import json

import pytest

from specviz.ui.learn.held import OPTIONS, read_answers


def test_answers_are_read_back() -> None:
    given = {key: options - 1 for key, options in OPTIONS.items()}
    assert read_answers(json.dumps(given)) == given


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        "[" * 100_000,
        '{"quiz-1": 99}',
        '{"quiz-1": -1}',
        '{"quiz-1": true}',
        '{"quiz-1": 1.0}',
        '{"quiz-1": "1"}',
        '{"quiz-1": [1]}',
        '{"quiz-99": 0}',
        '{"lesson": 0}',
    ],
)
def test_what_is_no_answer_is_left_out(text: str) -> None:
    assert read_answers(text) == {}
