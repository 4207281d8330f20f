import pytest

from specviz.core.prompts import MAX_PROMPT_CHARACTERS, prompt_problem


@pytest.mark.parametrize("text", ["Once upon a time", "é", "a\x00b", "{", "日本", " x ", "x" * MAX_PROMPT_CHARACTERS])
def test_a_prompt_with_something_to_read(text: str) -> None:
    assert prompt_problem(text) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n\t\u00a0", "empty"),
        ("\x00\x01\x1b", "control characters"),
        ("\u200b\u202e \ufeff", "control characters"),
        ("once \ud83d upon", "half a character"),
        ("a" * 2**20, "1,048,576 characters, and at most 20,000"),
    ],
)
def test_a_prompt_that_cannot_be_used_gets_one_sentence(text: str, says: str) -> None:
    problem = prompt_problem(text)
    assert problem is not None
    assert says in problem
    assert problem.endswith(".")
    assert "\n" not in problem
